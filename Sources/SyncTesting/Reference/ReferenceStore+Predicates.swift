import SyncCore

extension ReferenceStore {
    /// Whether a condition on the rows of an entity holds for one of them.
    func matches(_ id: ReferenceRow.ID, _ predicate: RecordPredicate, of entity: CompiledEntity) throws -> Bool {
        try predicate.resolved(on: entity, in: model.compiled).holds(for: ConditionRow(store: self, id: id))
    }

    /// A row as conditions see it.
    private struct ConditionRow: PredicateRow {
        let store: ReferenceStore
        let id: ReferenceRow.ID

        func predicateValue(of attribute: String) -> StoredValue { store.rows[id]?.values[attribute] ?? .null }

        func predicateTargets(of relationship: String) -> [ConditionRow] {
            guard let found = store.rows[id]?.entity.relationship(named: relationship) else { return [] }
            return store.targets(of: id, found).map { ConditionRow(store: store, id: $0) }
        }
    }
}
