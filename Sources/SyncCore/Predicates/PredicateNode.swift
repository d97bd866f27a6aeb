/// The tree of a condition: the closed set of what there is.
package indirect enum PredicateNode: Sendable, Hashable {
    case constant(Bool)
    /// At least two conditions, none of them an `and`.
    case and([PredicateNode])
    /// At least two conditions, none of them an `or`.
    case or([PredicateNode])
    case not(PredicateNode)
    case comparison(PredicateComparison)
    case calculation(PredicateCalculation)
    case related(PredicateRelated)
    /// What could not be read, with its text; thrown when the condition is used.
    case invalid(SyncError, text: String)

    /// How many levels of connectives it has; none for a comparison.
    package var nesting: Int {
        switch self {
        case .constant, .comparison, .invalid: 0
        case .not(let node): node.nesting + 1
        case .related(let related): related.condition.nesting + 1
        case .calculation(let calculation): max(calculation.left.nesting, calculation.right.nesting)
        case .and(let nodes), .or(let nodes): (nodes.map(\.nesting).max() ?? 0) + 1
        }
    }

    var firstError: SyncError? {
        switch self {
        case .constant, .comparison, .calculation: nil
        case .related(let related): related.condition.firstError
        case .invalid(let error, _): error
        case .not(let node): node.firstError
        case .and(let nodes), .or(let nodes): nodes.lazy.compactMap(\.firstError).first
        }
    }

    static func all(of nodes: [PredicateNode]) -> PredicateNode {
        let flat = nodes.flatMap { node in
            if case .and(let inner) = node { inner } else { [node] }
        }
        return flat.count == 1 ? flat[0] : .and(flat)
    }

    static func any(of nodes: [PredicateNode]) -> PredicateNode {
        let flat = nodes.flatMap { node in
            if case .or(let inner) = node { inner } else { [node] }
        }
        return flat.count == 1 ? flat[0] : .or(flat)
    }
}
