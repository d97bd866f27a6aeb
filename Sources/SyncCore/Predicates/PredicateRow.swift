/// A row that a condition can be asked of in memory.
package protocol PredicateRow {
    /// The value of an attribute, `null` for a key that is local.
    func predicateValue(of attribute: String) throws -> StoredValue
    /// The rows a relationship leads to; at most one if it is to-one.
    func predicateTargets(of relationship: String) throws -> [Self]
}

extension PredicateRow {
    /// The rows that relationships lead to, one after the other.
    func rows(by hops: [CompiledRelationship]) throws -> [Self] {
        try hops.reduce([self]) { rows, hop in try rows.flatMap { try $0.predicateTargets(of: hop.name) } }
    }
}

extension PredicatePath.Quantifier {
    /// Whether as many rows as it says pass a test.
    func holds<Row>(of rows: [Row], _ test: (Row) throws -> Bool) rethrows -> Bool {
        switch self {
        case .any: try rows.contains(where: test)
        case .all: try rows.allSatisfy(test)
        case .none: try !rows.contains(where: test)
        }
    }
}
