/// A comparison of two values that are worked out for each row: `a + b > #c`.
package struct PredicateCalculation: Sendable, Hashable {
    let left: PredicateTerm
    let `operator`: PredicateOperator
    let right: PredicateTerm
    let place: PredicatePlace
}
