import Foundation

/// A condition on the rows of one entity, with resolved names and typed values.
///
/// A store compiles the condition to SQL. ``holds(for:)`` evaluates it for a row in memory, with the same result. Each
/// part is either true or false for a row, and never unknown as in SQL.
package indirect enum ResolvedPredicate: Sendable {
    case constant(Bool)
    case and([ResolvedPredicate])
    case or([ResolvedPredicate])
    case not(ResolvedPredicate)
    case comparison(ResolvedComparison)
    case calculation(ResolvedCalculation)
    /// A condition on the rows at the end of relationships. The quantifier states how many of the rows must satisfy the
    /// condition.
    case related(PredicatePath.Quantifier, [CompiledRelationship], ResolvedPredicate)

    /// The number of nested levels; 0 for a comparison.
    package var nesting: Int {
        switch self {
        case .constant, .comparison, .calculation: 0
        case .related(_, _, let inner): inner.nesting + 1
        case .not(let inner): inner.nesting + 1
        case .and(let parts), .or(let parts): (parts.map(\.nesting).max() ?? 0) + 1
        }
    }
}

/// A comparison with resolved names: a quantifier, a path, and a test of the value at the end of the path.
package struct ResolvedComparison: Sendable {
    /// The rows at the end of a to-many relationship, and how many of them must pass the test.
    package struct Many: Sendable {
        package let quantifier: PredicatePath.Quantifier
        /// The relationships that lead to the rows. The last one is to-many.
        package let hops: [CompiledRelationship]
    }

    package struct Key: Sendable {
        package let attribute: SyncModel.Attribute
        package let slot: Int
    }

    /// The value to compare. It is a value of the row at the end of ``hops``.
    package enum Subject: Sendable {
        case attribute(SyncModel.Attribute, slot: Int)
        /// A member of the JSON in an attribute. It is nil if it is absent or null. A member of another type than
        /// `type` differs from every value.
        case member(SyncModel.Attribute, slot: Int, keys: [String], type: AttributeType)
        /// The primary key of the row that a to-one relationship references; nil if it references none. The second
        /// associated value is nil if the comparison only tests for nil.
        case target(CompiledRelationship, key: Key?)
        /// A to-many relationship, which can only be compared with nil. The relationship equals nil if it has no rows.
        case targets(CompiledRelationship)
        case count(CompiledRelationship)
    }

    package enum Test: Sendable {
        case isNull
        case isNotNull
        /// False for every row, such as an order comparison with nil.
        case never
        case equal(PredicateConstant)
        case notEqual(PredicateConstant)
        case isIn([PredicateConstant], orNull: Bool)
        case less(PredicateConstant)
        case lessOrEqual(PredicateConstant)
        case greater(PredicateConstant)
        case greaterOrEqual(PredicateConstant)
        case between(PredicateConstant, PredicateConstant)
        case contains(String)
        case beginsWith(String)
        case endsWith(String)
        case like(String)
        case matches(RegularExpression)
    }

    /// The related rows whose values are compared; nil if the value of the row itself is compared.
    package let many: Many?
    /// The to-one relationships from these rows, or from the row itself, to the row with the compared value.
    package let hops: [CompiledRelationship]
    package let subject: Subject
    package let test: Test
    /// Whether the comparison ignores case. The strings of the test are folded, except regular expressions.
    package let ignoresCase: Bool
}

extension ResolvedComparison.Subject {
    /// The type of the compared values; integer for a count, and for a relationship that is only compared with nil.
    package var type: AttributeType {
        switch self {
        case .attribute(let attribute, _): attribute.type
        case .member(_, _, _, let type): type
        case .target(_, let key): key?.attribute.type ?? .integer
        case .targets, .count: .integer
        }
    }
}

/// A row in memory that a condition can be evaluated for.
package protocol PredicateRow {
    /// Returns the value of an attribute; `null` for a temporary key.
    func predicateValue(of attribute: String) throws -> StoredValue
    /// Returns the destination rows of a relationship; at most one if it is to-one.
    func predicateTargets(of relationship: String) throws -> [Self]
}

extension PredicateRow {
    /// Returns the rows at the end of consecutive relationships.
    func rows(by hops: [CompiledRelationship]) throws -> [Self] {
        try hops.reduce([self]) { rows, hop in try rows.flatMap { try $0.predicateTargets(of: hop.name) } }
    }
}

extension PredicatePath.Quantifier {
    /// Returns whether as many rows as the quantifier requires pass a test.
    func holds<Row>(of rows: [Row], _ test: (Row) throws -> Bool) rethrows -> Bool {
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
    func holds<Row: PredicateRow>(for row: Row) throws -> Bool {
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
            return try holds(value.constant, isNull: value.isNull)
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
            return try holds(value?.constant, isNull: target == nil)
        }
    }

    private func holds(_ stored: PredicateConstant?, isNull: Bool) throws -> Bool {
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

// MARK: - Links

extension ResolvedPredicate {
    /// Whether the condition uses anything but attributes of the row itself.
    package var followsLinks: Bool {
        switch self {
        case .constant: false
        case .not(let node): node.followsLinks
        case .and(let nodes), .or(let nodes): nodes.contains(where: \.followsLinks)
        case .comparison(let comparison): comparison.followsLinks
        case .calculation(let calculation): calculation.followsLinks
        case .related: true
        }
    }
}

extension ResolvedComparison {
    fileprivate var followsLinks: Bool {
        switch subject {
        case .attribute, .member: many != nil || !hops.isEmpty
        case .target, .targets, .count: true
        }
    }
}
