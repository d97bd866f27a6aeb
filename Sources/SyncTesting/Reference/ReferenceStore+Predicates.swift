import SyncCore

extension ReferenceStore {
    /// Whether a condition holds for a row.
    func matches(_ id: ReferenceRow.ID, _ predicate: RecordPredicate) throws -> Bool {
        try matches(id, predicate.checked())
    }

    private func matches(_ id: ReferenceRow.ID, _ node: PredicateNode) throws -> Bool {
        switch node {
        case .constant(let value): return value
        case .and(let nodes): return try nodes.allSatisfy { try matches(id, $0) }
        case .or(let nodes): return try nodes.contains { try matches(id, $0) }
        case .not(let node): return try !matches(id, node)
        case .comparison(let comparison): return try matches(id, comparison)
        case .invalid(let error, _): throw error
        }
    }

    private func matches(_ id: ReferenceRow.ID, _ comparison: PredicateComparison) throws -> Bool {
        let path = comparison.path
        guard path.components.count == 1, !path.isCount, path.quantifier == nil,
            let value = rows[id]?.values[path.components[0]], case .integer? = Optional(value)
        else {
            return try nilMatches(comparison)
        }
        guard case .integer(let number) = value, case .number(let text) = comparison.literal,
            let other = Int64(text)
        else { throw SyncError(.invalidPredicate, "not known to the reference store") }
        switch comparison.operator.rawValue {
        case "==": return number == other
        case "!=": return number != other
        case "<": return number < other
        case "<=": return number <= other
        case ">": return number > other
        case ">=": return number >= other
        default: throw SyncError(.invalidPredicate, "not known to the reference store")
        }
    }

    private func nilMatches(_ comparison: PredicateComparison) throws -> Bool {
        comparison.operator.rawValue == "!="
    }
}
