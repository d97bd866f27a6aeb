import Foundation

/// A comparison of two calculated values, its names found and its types known.
package struct ResolvedCalculation: Sendable {
    /// A value that is worked out for a row. It is nil where a part of it is, where it is a whole number without room in
    /// 64 bits, and where it is divided by zero.
    package indirect enum Term: Sendable {
        /// An attribute at the end of to-one relationships.
        case attribute([CompiledRelationship], SyncModel.Attribute, slot: Int)
        case count([CompiledRelationship], CompiledRelationship)
        case constant(PredicateConstant)
        case integer(Term, PredicateTerm.Operation, Term)
        case double(Term, PredicateTerm.Operation, Term)
        /// A whole number as a floating-point one.
        case asDouble(Term)
    }

    /// Both are of one type.
    package enum Test: Sendable {
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    }

    package let left: Term
    package let test: Test
    package let right: Term
    package let type: AttributeType
}

extension ResolvedCalculation.Test {
    /// Nil for an operator that is none of two values.
    init?(_ op: PredicateOperator) {
        switch op {
        case .equal: self = .equal
        case .notEqual: self = .notEqual
        case .less: self = .less
        case .lessOrEqual: self = .lessOrEqual
        case .greater: self = .greater
        case .greaterOrEqual: self = .greaterOrEqual
        default: return nil
        }
    }

    /// Nil equals nil, and is in no order.
    func holds(_ left: PredicateConstant?, _ right: PredicateConstant?) -> Bool {
        switch self {
        case .equal: return left == right
        case .notEqual: return left != right
        case .less, .lessOrEqual, .greater, .greaterOrEqual: break
        }
        guard let left, let right else { return false }
        return switch self {
        case .less: left.isBefore(right)
        case .lessOrEqual: left == right || left.isBefore(right)
        case .greater: right.isBefore(left)
        case .greaterOrEqual: left == right || right.isBefore(left)
        case .equal, .notEqual: false
        }
    }
}

extension ResolvedCalculation {
    func holds(for row: some PredicateRow) throws -> Bool {
        test.holds(try left.value(for: row), try right.value(for: row))
    }

    var followsLinks: Bool { left.followsLinks || right.followsLinks }
}

extension ResolvedCalculation.Term {
    var followsLinks: Bool {
        switch self {
        case .attribute(let hops, _, _): !hops.isEmpty
        case .count: true
        case .constant: false
        case .asDouble(let term): term.followsLinks
        case .integer(let left, _, let right), .double(let left, _, let right): left.followsLinks || right.followsLinks
        }
    }

    fileprivate func value<Row: PredicateRow>(for row: Row) throws -> PredicateConstant? {
        switch self {
        case .constant(let value): return value
        case .attribute(let hops, let attribute, _):
            return try row.rows(by: hops).first?.predicateValue(of: attribute.name).constant
        case .count(let hops, let last):
            guard let owner = try row.rows(by: hops).first else { return .integer(0) }
            return .integer(Int64(try owner.predicateTargets(of: last.name).count))
        case .asDouble(let term):
            guard case .integer(let number)? = try term.value(for: row) else { return nil }
            return .double(Double(number))
        case .integer(let left, let operation, let right):
            guard case .integer(let left)? = try left.value(for: row),
                case .integer(let right)? = try right.value(for: row)
            else { return nil }
            return operation.result(left, right).map(PredicateConstant.integer)
        case .double(let left, let operation, let right):
            guard case .double(let left)? = try left.value(for: row),
                case .double(let right)? = try right.value(for: row)
            else { return nil }
            return operation.result(left, right).map(PredicateConstant.double)
        }
    }
}

extension PredicateTerm.Operation {
    fileprivate func result(_ left: Int64, _ right: Int64) -> Int64? {
        let (value, overflows): (Int64, Bool)
        switch self {
        case .plus: (value, overflows) = left.addingReportingOverflow(right)
        case .minus: (value, overflows) = left.subtractingReportingOverflow(right)
        case .times: (value, overflows) = left.multipliedReportingOverflow(by: right)
        case .dividedBy: (value, overflows) = right == 0 ? (0, true) : left.dividedReportingOverflow(by: right)
        case .remainder:
            if right == 0 { return nil }
            return right == -1 ? 0 : left % right
        }
        return overflows ? nil : value
    }

    /// What is no number is nil, as it is in a column.
    fileprivate func result(_ left: Double, _ right: Double) -> Double? {
        let value: Double
        switch self {
        case .plus: value = left + right
        case .minus: value = left - right
        case .times: value = left * right
        case .dividedBy:
            if right == 0 { return nil }
            value = left / right
        case .remainder: return nil
        }
        return value.isNaN ? nil : value == 0 ? 0 : value
    }
}
