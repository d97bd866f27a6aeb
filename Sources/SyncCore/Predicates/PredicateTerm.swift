/// What a calculation is made of: `age * 2`, `#company.size - 1`.
package indirect enum PredicateTerm: Sendable, Hashable {
    /// The five operations; between whole numbers a division has no rest.
    package enum Operation: String, Sendable, Hashable {
        case plus = "+"
        case minus = "-"
        case times = "*"
        case dividedBy = "/"
        case remainder = "MOD"

        /// How tightly it binds.
        package var rank: Int { [.plus, .minus].contains(self) ? 0 : 1 }
    }

    /// An attribute, or the number of rows that a relationship leads to; through to-one relationships.
    case path(PredicatePath, PredicatePlace)
    case literal(PredicateLiteral, PredicatePlace)
    case calculated(PredicateTerm, Operation, PredicateTerm, PredicatePlace)

    /// How many operations are nested in each other.
    var nesting: Int {
        switch self {
        case .path, .literal: 0
        case .calculated(let left, _, let right, _): max(left.nesting, right.nesting) + 1
        }
    }
}
