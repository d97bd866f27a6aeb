import Foundation
package import SyncCore

/// A row in memory that a condition can be evaluated for.
package protocol PredicateRow {
    /// Returns the value of an attribute; `null` for a temporary key.
    func predicateValue(of attribute: String) throws -> StoredValue
    /// Returns the temporary key in an attribute; `null` if the attribute has none.
    func temporaryKey(of attribute: String) throws -> StoredValue
    /// Returns the destination rows of a relationship; at most one if it is to-one.
    func predicateTargets(of relationship: String) throws -> [Self]
}

extension PredicateRow {
    /// Returns `null`, for rows without temporary keys.
    package func temporaryKey(of attribute: String) -> StoredValue { .null }

    /// Returns the rows at the end of consecutive relationships.
    fileprivate func rows(by hops: [CompiledRelationship]) throws -> [Self] {
        try hops.reduce([self]) { rows, hop in try rows.flatMap { try $0.predicateTargets(of: hop.name) } }
    }
}

extension PredicatePath.Quantifier {
    /// Returns whether as many rows as the quantifier requires pass a test.
    fileprivate func holds<Row>(of rows: [Row], _ test: (Row) throws -> Bool) rethrows -> Bool {
        switch self {
        case .any: try rows.contains(where: test)
        case .all: try rows.allSatisfy(test)
        case .none: try !rows.contains(where: test)
        }
    }
}

// MARK: - Evaluation

extension ResolvedPredicate {
    /// Returns whether the condition holds for a row. The row must be of the entity that the condition was resolved
    /// for.
    package func holds(for row: some PredicateRow) throws -> Bool {
        switch self {
        case .constant(let value): value
        case .and(let parts): try parts.allSatisfy { try $0.holds(for: row) }
        case .or(let parts): try parts.contains { try $0.holds(for: row) }
        case .not(let inner): try !inner.holds(for: row)
        case .comparison(let comparison): try comparison.holds(for: row)
        case .calculation(let calculation): try calculation.holds(for: row)
        case .related(let quantifier, let hops, let inner):
            try quantifier.holds(of: row.rows(by: hops)) { try inner.holds(for: $0) }
        }
    }
}

extension ResolvedComparison {
    fileprivate func holds<Row: PredicateRow>(for row: Row) throws -> Bool {
        guard let many else { return try holdsForOne(row) }
        return try many.quantifier.holds(of: row.rows(by: many.hops), holdsForOne)
    }

    /// Returns whether the value passes the test. If a to-one relationship on the path references no row, the value is
    /// nil.
    private func holdsForOne<Row: PredicateRow>(_ row: Row) throws -> Bool {
        let owner = try row.rows(by: hops).first
        switch subject {
        case .attribute(let attribute, _):
            let value = try owner?.predicateValue(of: attribute.name) ?? .null
            let key = try owner?.temporaryKey(of: attribute.name).constant
            return try holds(value.constant, isNull: value.isNull, temporaryKey: key)
        case .member(let attribute, _, let keys, _):
            let document = try owner?.predicateValue(of: attribute.name).json
            let member = keys.reduce(document) { json, key in json?[key] } ?? .null
            return try holds(member.constant, isNull: member == .null)
        case .count(let relationship):
            let count = try owner?.predicateTargets(of: relationship.name).count ?? 0
            return try holds(.integer(Int64(count)), isNull: false)
        case .targets(let relationship):
            return try holds(nil, isNull: owner?.predicateTargets(of: relationship.name).isEmpty ?? true)
        case .target(let relationship, let key):
            let target = try owner?.predicateTargets(of: relationship.name).first
            let value = try key.flatMap { key in try target?.predicateValue(of: key.attribute.name) }
            let temporaryKey = try key.flatMap { key in try target?.temporaryKey(of: key.attribute.name).constant }
            return try holds(value?.constant, isNull: target == nil, temporaryKey: temporaryKey)
        }
    }

    /// - Parameter temporaryKey: The temporary key in the attribute. It is read as nil, but equals itself.
    private func holds(
        _ stored: PredicateConstant?, isNull: Bool, temporaryKey: PredicateConstant? = nil
    ) throws -> Bool {
        if let temporaryKey, !ignoresCase {
            switch test {
            case .equal(temporaryKey): return true
            case .notEqual(temporaryKey): return false
            case .isIn(let constants, _) where constants.contains(temporaryKey): return true
            default: break
            }
        }
        switch test {
        case .isNull: return isNull
        case .isNotNull: return !isNull
        case .never: return false
        case .notEqual(let constant): return stored.map(folded) != constant
        case .isIn(_, orNull: true) where isNull: return true
        default: return try stored.map { try holds(folded($0)) } ?? false
        }
    }

    private func folded(_ value: PredicateConstant) -> PredicateConstant {
        if case .matches = test { return value }
        return ignoresCase ? value.folded : value
    }

    private func holds(_ value: PredicateConstant) throws -> Bool {
        switch test {
        case .isNull, .isNotNull, .never, .notEqual: false
        case .equal(let constant): value == constant
        case .isIn(let constants, _): constants.contains(value)
        case .less(let bound): ordered(value).isBefore(bound)
        case .lessOrEqual(let bound): isUpTo(bound, value)
        case .greater(let bound): bound.isBefore(ordered(value))
        case .greaterOrEqual(let bound): isFrom(bound, value)
        case .between(let first, let last): isFrom(first, value) && isUpTo(last, value)
        case .contains, .beginsWith, .endsWith, .like, .matches: try holds(text: value)
        }
    }

    // MARK: Order

    private func isUpTo(_ bound: PredicateConstant, _ value: PredicateConstant) -> Bool {
        ordered(value) == bound || ordered(value).isBefore(bound)
    }

    private func isFrom(_ bound: PredicateConstant, _ value: PredicateConstant) -> Bool {
        ordered(value) == bound || bound.isBefore(ordered(value))
    }

    /// Returns the value in the form of a bound. The bound of an integer is an exact number.
    private func ordered(_ value: PredicateConstant) -> PredicateConstant {
        if case .integer(let integer) = value, let number = ExactNumber(String(integer)) {
            .exact(number)
        } else {
            value
        }
    }

    // MARK: Text

    /// Tests a string. Parts of strings are compared by their bytes.
    private func holds(text value: PredicateConstant) throws -> Bool {
        guard case .text(let text) = value else { return false }
        let bytes = Data(text.utf8)
        return switch test {
        case .contains(let part): part.isEmpty || bytes.range(of: Data(part.utf8)) != nil
        case .beginsWith(let part): bytes.starts(with: part.utf8)
        case .endsWith(let part): bytes.reversed().starts(with: part.utf8.reversed())
        case .like(let pattern): WildcardPattern(pattern).matches(text)
        case .matches(let expression): try expression.matches(text)
        default: false
        }
    }
}

// MARK: - Calculations

extension ResolvedCalculation {
    fileprivate func holds(for row: some PredicateRow) throws -> Bool {
        test.holds(try left.value(for: row), try right.value(for: row))
    }
}

extension ResolvedCalculation.Term {
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

    /// Returns the result of the operation; nil for a division by zero, and for NaN, which SQLite stores as NULL.
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

// MARK: - Values

extension StoredValue {
    /// The value in its comparable form; nil for null, and for a decimal or date that cannot be stored.
    fileprivate var constant: PredicateConstant? {
        switch self {
        case .null: nil
        case .integer(let value): .integer(value)
        case .double(let value): .double(value)
        case .decimal(let value): ExactNumber("\(value)").map(PredicateConstant.exact)
        case .boolean(let value): .boolean(value)
        case .string(let text), .url(let text): .text(text)
        case .date(let value): value.milliseconds.map(PredicateConstant.instant)
        case .uuid(let value): .text(value.uuidString)
        case .binary(let value): .bytes(value)
        case .json(let value): .text(String(decoding: CanonicalJSON.bytes(value), as: UTF8.self))
        }
    }
}

extension JSONValue {
    /// A scalar in its comparable form, with a number as an exact number; nil for null, arrays and objects.
    fileprivate var constant: PredicateConstant? {
        switch self {
        case .bool(let value): .boolean(value)
        case .number(let text): ExactNumber(text).map(PredicateConstant.exact)
        case .string(let text): .text(text)
        case .null, .array, .object: nil
        }
    }
}
