import SyncCore

/// The rows that late references wait for, as far as they are stored by now.
struct ArrivedRows {
    private var rows: [LateReference: StoredRow] = [:]

    init(_ references: [LateReference], _ store: any StoreSession, _ model: CompiledModel) throws {
        for (id, references) in Dictionary(grouping: references, by: \.targetEntity) {
            let entity = model.entities[id]
            let keys = Array(Set(references.map(\.target)))
            let found = Dictionary(
                zip(keys, try store.rows(withKeys: keys, of: entity)), uniquingKeysWith: { $1 })
            for reference in references {
                guard let key = found[reference.target] ?? nil else { continue }
                rows[reference] = StoredRow(table: entity.table, key: key)
            }
        }
    }

    /// The row with the key, whatever its entity; nil if there is none.
    subscript(reference: LateReference) -> StoredRow? { rows[reference] }

    var all: some Sequence<StoredRow> { rows.values }
}
