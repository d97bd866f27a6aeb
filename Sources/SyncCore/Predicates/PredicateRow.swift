/// A row that a condition can be asked of in memory.
package protocol PredicateRow {
    /// The value of an attribute, `null` for a key that is local.
    func predicateValue(of attribute: String) throws -> StoredValue
    /// The rows a relationship leads to; at most one if it is to-one.
    func predicateTargets(of relationship: String) throws -> [Self]
}
