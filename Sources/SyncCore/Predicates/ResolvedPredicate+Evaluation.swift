import Foundation

extension ResolvedPredicate {
    /// Whether the condition holds for a row, which must be of the entity it was resolved for.
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

    /// Where a to-one relationship on the way leads nowhere, everything beyond is nil.
    private func holdsForOne<Row: PredicateRow>(_ row: Row) throws -> Bool {
        let owner = try row.rows(by: hops).first
        switch subject {
        case .attribute(let attribute, _):
            let value = try owner?.predicateValue(of: attribute.name) ?? .null
            return try holds(value.constant, isNull: value.isNull)
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

    /// Bounds of integers are numbers of any size.
    private func ordered(_ value: PredicateConstant) -> PredicateConstant {
        if case .integer(let integer) = value, let number = ExactNumber(String(integer)) {
            .exact(number)
        } else {
            value
        }
    }

    // MARK: Text

    /// Parts of texts are compared by their bytes.
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
