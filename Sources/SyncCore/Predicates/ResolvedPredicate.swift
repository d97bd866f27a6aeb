/// A condition on the rows of one entity, its names found in the model and its values brought to their types.
///
/// This is what stores compile and what can be asked of rows in memory, so that both mean the same. Every part is true
/// or false for every row.
package indirect enum ResolvedPredicate: Sendable {
    case constant(Bool)
    case and([ResolvedPredicate])
    case or([ResolvedPredicate])
    case not(ResolvedPredicate)
    case comparison(ResolvedComparison)
    case calculation(ResolvedCalculation)
    /// Of the rows that relationships lead to: at least one meets a condition, every one, or none.
    case related(PredicatePath.Quantifier, [CompiledRelationship], ResolvedPredicate)

    /// How many levels of connectives it has; none for a comparison.
    package var nesting: Int {
        switch self {
        case .constant, .comparison, .calculation: 0
        case .related(_, _, let inner): inner.nesting + 1
        case .not(let inner): inner.nesting + 1
        case .and(let parts), .or(let parts): (parts.map(\.nesting).max() ?? 0) + 1
        }
    }
}

/// One comparison: of which rows, what of them, and with what.
package struct ResolvedComparison: Sendable {
    /// Of which of many rows the test must hold.
    package struct Many: Sendable {
        package let quantifier: PredicatePath.Quantifier
        /// The relationships that lead to the rows, the last one to-many.
        package let hops: [CompiledRelationship]
    }

    package struct Key: Sendable {
        package let attribute: SyncModel.Attribute
        package let slot: Int
    }

    /// What is compared, at the end of the to-one relationships.
    package enum Subject: Sendable {
        case attribute(SyncModel.Attribute, slot: Int)
        /// The key of the row a to-one relationship leads to. To be nil is to lead to no row; the key is nil if that is
        /// all that is asked.
        case target(CompiledRelationship, key: Key?)
        /// Whether a to-many relationship leads to rows: compared with nil only.
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

    /// Nil if the row itself is compared.
    package let many: Many?
    /// The to-one relationships from there to what is compared.
    package let hops: [CompiledRelationship]
    package let subject: Subject
    package let test: Test
    /// Whether texts compare without case; those of the test are folded, but for regular expressions.
    package let ignoresCase: Bool
}

extension ResolvedComparison.Subject {
    /// The type of the values compared.
    package var type: AttributeType {
        switch self {
        case .attribute(let attribute, _): attribute.type
        case .target(_, let key): key?.attribute.type ?? .integer
        case .targets, .count: .integer
        }
    }
}
