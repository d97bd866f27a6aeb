import SyncCore

extension ReferenceStore {
    /// The message of an error about a condition that is not evaluated here.
    static let unknownCondition = "not known to the reference store"

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
            let value = rows[id]?.values[path.components[0]], case .number(let text) = comparison.literal,
            let other = Int64(text), value.isNull || value.int != nil
        else { throw SyncError(.invalidPredicate, Self.unknownCondition) }
        guard let number = value.int else { return comparison.operator == .notEqual }
        switch comparison.operator.rawValue {
        case "==": return number == other
        case "!=": return number != other
        case "<": return number < other
        case "<=": return number <= other
        case ">": return number > other
        case ">=": return number >= other
        default: throw SyncError(.invalidPredicate, Self.unknownCondition)
        }
    }
}
