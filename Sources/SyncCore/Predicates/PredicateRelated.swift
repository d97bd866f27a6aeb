/// A condition on the rows that a relationship leads to, all of whose parts are about the same row: `ANY notes (stars >
/// 2 AND text CONTAINS 'x')`.
package struct PredicateRelated: Sendable, Hashable {
    let path: PredicatePath
    let condition: PredicateNode
    let place: PredicatePlace
}
