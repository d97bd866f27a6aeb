import Foundation

/// A resolved comparison of two calculated values.
package struct ResolvedCalculation: Sendable {
    /// A value that is calculated for each row. It is nil if an operand is nil, on integer overflow, on division by
    /// zero, and if the result is not a number.
    package indirect enum Term: Sendable {
        /// An attribute of the row at the end of to-one relationships.
        case attribute([CompiledRelationship], SyncModel.Attribute, slot: Int)
        case count([CompiledRelationship], CompiledRelationship)
        case constant(PredicateConstant)
        case integer(Term, PredicateTerm.Operation, Term)
        case double(Term, PredicateTerm.Operation, Term)
        /// An integer converted to a floating-point number.
        case asDouble(Term)
    }

    /// A test of two values of the same type.
    package enum Test: Sendable {
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    }

    package let left: Term
    package let test: Test
    package let right: Term
    package let type: AttributeType
}

extension ResolvedCalculation.Test {
    /// Creates the test of an equality or order operator; nil for any other operator, such as `IN`.
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

    /// Tests two values. Nil equals nil, and an order comparison with nil is false.
    package func holds(_ left: PredicateConstant?, _ right: PredicateConstant?) -> Bool {
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
}

/// A decimal number of any length. It is parsed from text and compared without rounding.
package struct ExactNumber: Sendable, Hashable {
    /// The power of ten: the value is `0.` followed by the digits, times ten to this power.
    private let exponent: Int
    /// The digits as bytes 0 to 9, without zeros at either end; empty for zero.
    private let digits: [UInt8]
    private let isNegative: Bool

    private static let largestExponent = 1_000_000

    /// Parses `-12`, `7.50` or `1e3`; nil for any other text, and for an exponent beyond ±1,000,000.
    package init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        let sign = rest.first
        if sign == .minus || sign == .plus { rest.removeFirst() }
        let whole = rest.prefix { $0.isDigit }
        rest = rest.dropFirst(whole.count)
        var fraction: ArraySlice<UInt8> = []
        if rest.first == .point {
            fraction = rest.dropFirst().prefix { $0.isDigit }
            if fraction.isEmpty { return nil }
            rest = rest.dropFirst(fraction.count + 1)
        }
        var power = 0
        if let mark = rest.popFirst() {
            guard mark | .caseBit == UInt8(ascii: "e"), let parsed = Int(String(decoding: rest, as: UTF8.self)),
                abs(parsed) <= Self.largestExponent
            else { return nil }
            power = parsed
        }
        if whole.isEmpty { return nil }
        let all = (whole + fraction).map { $0 - .digit0 }
        let leading = all.prefix { $0 == 0 }.count
        digits = Array(all[leading...].reversed().drop { $0 == 0 }.reversed())
        exponent = digits.isEmpty ? 0 : whole.count - leading + power
        isNegative = sign == .minus && !digits.isEmpty
    }

    package var isWhole: Bool { digits.count <= exponent || digits.isEmpty }

    /// The shortest text without an exponent: `7.5`; nil if it could have more than a thousand digits.
    package var text: String? {
        guard abs(exponent) + digits.count <= 1000 else { return nil }
        let whole = digits.prefix(max(0, exponent)) + Array(repeating: 0, count: max(0, exponent - digits.count))
        let fraction = Array(repeating: 0, count: max(0, -exponent)) + digits.dropFirst(max(0, exponent))
        let text = String(decoding: (whole.isEmpty ? [0] : whole).map { $0 + .digit0 }, as: UTF8.self)
        let decimals = String(decoding: fraction.map { $0 + .digit0 }, as: UTF8.self)
        return (isNegative ? "-" : "") + text + (digits.isEmpty || decimals.isEmpty ? "" : "." + decimals)
    }

    /// The value as an integer; nil if it has a fraction or exceeds 64 bits.
    package var integer: Int64? { isWhole && exponent <= 19 ? text.flatMap { Int64($0) } : nil }

    /// The value rounded down; nil if it exceeds 64 bits.
    package var floor: Int64? {
        if isWhole { return integer }
        guard exponent <= 19 else { return nil }
        let whole = Int64(
            String(decoding: [UInt8.digit0] + digits.prefix(max(0, exponent)).map { $0 + .digit0 }, as: UTF8.self))
        guard let whole else { return nil }
        return isNegative ? -whole - 1 : whole
    }

    package var isBelowZero: Bool { isNegative }
}

extension ExactNumber: Comparable {
    package static func < (left: ExactNumber, right: ExactNumber) -> Bool {
        if left.isNegative != right.isNegative { return left.isNegative }
        return left.isNegative ? right.isSmaller(than: left) : left.isSmaller(than: right)
    }

    /// Returns whether the absolute value is less than that of another number.
    private func isSmaller(than other: ExactNumber) -> Bool {
        if digits.isEmpty || other.digits.isEmpty { return digits.isEmpty && !other.digits.isEmpty }
        if exponent != other.exponent { return exponent < other.exponent }
        return digits.lexicographicallyPrecedes(other.digits)
    }
}

// MARK: - PredicateResolver+Calculations

extension PredicateResolver {
    /// Resolves a comparison of calculated values.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` for values that cannot be calculated or compared.
    func resolved(_ calculation: PredicateCalculation) throws -> ResolvedCalculation {
        let types = (try type(of: calculation.left), try type(of: calculation.right))
        // A literal has the type of the other side.
        guard let known = types.0 ?? types.1 else {
            throw calculation.location.error("both sides of the comparison are constants", entity: root.name)
        }
        let (first, second) = (
            types.0 ?? calculation.left.literalType(beside: known),
            types.1 ?? calculation.right.literalType(beside: known)
        )
        let isMixed = Set([first, second]) == [.integer, .double]
        guard isMixed || first == second else {
            throw calculation.location.error(
                "values of type \(first.rawValue) and \(second.rawValue) cannot be compared", entity: root.name)
        }
        let type = isMixed ? .double : first
        guard Self.areComparable(type) else {
            throw calculation.location.error(
                "values of type \(type.rawValue) cannot be compared with each other", entity: root.name)
        }
        guard let test = ResolvedCalculation.Test(calculation.operator) else {
            throw calculation.location.error(
                "\(calculation.operator.rawValue) requires a path on the left and a constant on the right",
                entity: root.name)
        }
        return ResolvedCalculation(
            left: try resolved(calculation.left, as: type), test: test,
            right: try resolved(calculation.right, as: type),
            type: type)
    }

    /// Returns whether SQL can compare stored values of a type with each other. Decimals, for example, are stored as
    /// text.
    private static func areComparable(_ type: AttributeType) -> Bool {
        switch type {
        case .integer, .double, .boolean, .string, .date, .uuid, .url: true
        case .decimal, .binary, .json, .transformable: false
        }
    }

    // MARK: Types

    /// Returns the type of a term; nil for a literal, which has the type of the other operand.
    private func type(of term: PredicateTerm) throws -> AttributeType? {
        switch term {
        case .literal: nil
        case .path(let path, let location): try found(path, at: location).type
        case .calculated(let left, let operation, let right, let location):
            try type(of: operation, left, right, at: location)
        }
    }

    private func type(
        of operation: PredicateTerm.Operation, _ left: PredicateTerm, _ right: PredicateTerm,
        at location: PredicateSourceLocation
    ) throws -> AttributeType {
        let types = try [left, right].map { try self.type(of: $0) ?? $0.literalType(beside: .integer) }
        for found in types where found != .integer && found != .double {
            throw location.error(
                "'\(operation.rawValue)' requires integers or doubles, not \(found.rawValue)",
                entity: root.name)
        }
        let result: AttributeType = types.contains(.double) ? .double : .integer
        guard operation != .remainder || result == .integer else {
            throw location.error("MOD requires integers", entity: root.name)
        }
        return result
    }

    /// Resolves a path to a term, and returns the term with its type.
    private func found(
        _ path: PredicatePath, at location: PredicateSourceLocation
    ) throws -> (term: ResolvedCalculation.Term, type: AttributeType) {
        if let quantifier = path.quantifier {
            throw location.error("\(quantifier.rawValue) cannot be used in a calculation", entity: root.name)
        }
        let route = try ResolvedPredicatePath(path, from: root, in: model, at: location)
        if let hop = route.hops.first(where: \.isToMany) {
            throw location.error(
                "'\(hop.name)' is a to-many relationship and cannot be used in a calculation", entity: root.name)
        }
        switch route.end {
        case .attribute(let slot):
            let owner = route.hops.last.map { model.entities[$0.destination] } ?? root
            let attribute = model[owner.table].attributes[slot]
            return (.attribute(route.hops, attribute, slot: slot), attribute.type)
        case .count(let last): return (.count(route.hops, last), .integer)
        case .member:
            throw location.error(
                "'\(route.name)' is a member of JSON and can only be compared with a constant", entity: root.name)
        case .relationship(let last):
            throw location.error(
                "'\(last.name)' is a relationship; name an attribute of its destination", entity: root.name)
        }
    }

    // MARK: Terms

    /// Resolves a term as a value of a type. The type is that of the term, or double for an integer term.
    private func resolved(_ term: PredicateTerm, as type: AttributeType) throws -> ResolvedCalculation.Term {
        switch term {
        case .literal(let literal, let location):
            guard literal != .null else {
                throw location.error("nil cannot be used in a calculation", entity: root.name)
            }
            guard let constant = literal.constant(as: type) else {
                throw location.error("\(literal.kind) is not a value of type \(type.rawValue)", entity: root.name)
            }
            return .constant(constant)
        case .path(let path, let location):
            let (term, own) = try found(path, at: location)
            return own == type ? term : .asDouble(term)
        case .calculated(let left, let operation, let right, let location):
            let own = try self.type(of: operation, left, right, at: location)
            let (left, right) = (try resolved(left, as: own), try resolved(right, as: own))
            let term: ResolvedCalculation.Term =
                own == .integer ? .integer(left, operation, right) : .double(left, operation, right)
            return own == type ? term : .asDouble(term)
        }
    }

    // MARK: Related rows

    func resolved(_ related: PredicateExists) throws -> ResolvedPredicate {
        let quantifier = related.path.quantifier ?? .any
        let route = try ResolvedPredicatePath(related.path, from: root, in: model, at: related.location)
        guard case .relationship(let last) = route.end else {
            throw related.location.error(
                "\(quantifier.rawValue) (…) requires a relationship, and '\(route.name)' is not one", entity: root.name)
        }
        let inner = PredicateResolver(model: model, root: model.entities[last.destination])
        return .related(quantifier, route.hops + [last], try inner.resolved(related.condition))
    }
}

extension PredicateTerm {
    /// Returns the type of a literal next to a value of a type: that type. Next to an integer, a number that is not a
    /// 64-bit integer is a double.
    fileprivate func literalType(beside type: AttributeType) -> AttributeType {
        guard type == .integer, case .literal(.number(let text), _) = self, Int64(text) == nil else { return type }
        return .double
    }
}
