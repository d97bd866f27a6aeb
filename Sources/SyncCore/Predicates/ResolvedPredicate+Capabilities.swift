import Foundation

extension ResolvedPredicate {
    /// Returns an equivalent condition for the rows of a store with limits. Nothing in the store equals a constant that
    /// the store cannot keep, so the condition has no such constants. Numbers and dates in order comparisons stay.
    package func keeping(_ capabilities: StoreCapabilities) -> ResolvedPredicate {
        if capabilities.areUnlimited { return self }
        return switch self {
        case .constant, .calculation: self
        case .and(let parts): .and(parts.map { $0.keeping(capabilities) })
        case .or(let parts): .or(parts.map { $0.keeping(capabilities) })
        case .not(let inner): .not(inner.keeping(capabilities))
        case .related(let quantifier, let hops, let inner): .related(quantifier, hops, inner.keeping(capabilities))
        case .comparison(let comparison): comparison.keeping(capabilities)
        }
    }
}

extension ResolvedComparison {
    fileprivate func keeping(_ capabilities: StoreCapabilities) -> ResolvedPredicate {
        guard let limit = subject.limit(capabilities) else { return .comparison(self) }
        if case .notEqual(let constant) = test, !limit.admits(constant) { return differingFromAll }
        return .comparison(with(test.keeping(limit)))
    }

    private func with(_ test: Test) -> ResolvedComparison {
        ResolvedComparison(many: many, hops: hops, subject: subject, test: test, ignoresCase: ignoresCase)
    }

    /// The comparison with a constant that differs from all values, also from nil.
    private var differingFromAll: ResolvedPredicate {
        let tests: [ResolvedPredicate] = [.comparison(with(.isNull)), .comparison(with(.isNotNull))]
        return switch many?.quantifier {
        case .any?: .or(tests)
        case PredicatePath.Quantifier.none?: .and(tests)
        case .all?, nil: .constant(true)
        }
    }
}

extension ResolvedComparison.Subject {
    /// Returns the limit of the compared values; nil if there is none. It has no length, because a store can compare
    /// its keys with a longer constant.
    fileprivate func limit(_ capabilities: StoreCapabilities) -> ValueLimit? {
        switch self {
        case .attribute(let attribute, _): capabilities.limit(of: attribute.type, isKey: false)
        case .target(_, let key?): capabilities.limit(of: key.attribute.type, isKey: false)
        // The strings in JSON are limited, and the numbers are not.
        case .member(_, _, _, let type): type == .string ? capabilities.limit(of: .string, isKey: false) : nil
        case .count, .targets, .target(_, nil): nil
        }
    }
}

extension ResolvedComparison.Test {
    fileprivate func keeping(_ limit: ValueLimit) -> ResolvedComparison.Test {
        switch self {
        case .equal(let constant): return limit.admits(constant) ? self : .never
        case .isIn(let constants, let orNull):
            let kept = constants.filter(limit.admits)
            guard kept.isEmpty else { return .isIn(kept, orNull: orNull) }
            return orNull ? .isNull : .never
        case .contains(let text), .beginsWith(let text), .endsWith(let text), .like(let text):
            return limit.prefixBeforeNUL(of: text) == nil ? self : .never
        case .less(let bound), .lessOrEqual(let bound):
            return limit.lastBefore(bound).map { .lessOrEqual($0) } ?? self
        case .greater(let bound), .greaterOrEqual(let bound):
            return limit.lastBefore(bound).map { .greater($0) } ?? self
        case .between(let lower, let upper):
            return .between(limit.firstAfter(lower) ?? lower, limit.lastBefore(upper) ?? upper)
        // A regular expression with U+0000 can match a text without it.
        case .isNull, .isNotNull, .never, .notEqual, .matches: return self
        }
    }
}

extension ValueLimit {
    fileprivate func admits(_ constant: PredicateConstant) -> Bool {
        switch constant {
        case .integer(let value): admits(StoredValue.integer(value))
        case .double(let value): admits(StoredValue.double(value))
        case .exact(let number): number.text.map { admits($0) } ?? false
        case .instant(let milliseconds): admits(StoredValue.date(Date(milliseconds: milliseconds)))
        case .text(let text): admits(text)
        case .boolean, .bytes: true
        }
    }

    /// Returns the greatest text of the store that is less than a bound with U+0000; nil for any other bound.
    fileprivate func lastBefore(_ bound: PredicateConstant) -> PredicateConstant? {
        guard case .text(let text) = bound else { return nil }
        return prefixBeforeNUL(of: text).map(PredicateConstant.text)
    }

    /// Returns the least text of the store that is greater than a bound with U+0000; nil for any other bound.
    fileprivate func firstAfter(_ bound: PredicateConstant) -> PredicateConstant? {
        guard case .text(let text)? = lastBefore(bound) else { return nil }
        return .text(text + "\u{1}")
    }
}
