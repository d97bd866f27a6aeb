import GRDB
import SyncCore

// A row that an earlier page inserted is new until the run ends: a record that gives it as a sub-entity makes it one.
extension SyncTransaction {
    mutating func refineEntities() throws {
        guard run != nil else { return }
        for tree in model.trees where columns[tree.id].entity != nil {
            for node in plan.rows[tree.id].nodes.indices where plan.rows[tree.id].nodes[node].firstVersion >= 0 {
                try advance()
                try refineEntity(of: node, tree.id)
            }
        }
    }

    private func refineEntity(of node: Int, _ tree: Int) throws {
        let wanted = model.entities[Int(plan.rows[tree].nodes[node].entity)]
        let key = plan.rows[tree].nodes[node].key
        let row =
            columns[tree].hasHiddenKey
            ? try storedRow(ofKey: key, wanted) : RowKey(key, pool).map { StoredRow(tree: tree, key: $0) }
        guard wanted.keySlot != nil, let row, try marks(of: row).contains(.inserted),
            let found = try identity(of: row), found.entity != wanted.id,
            model.entity(wanted.id, isKindOf: found.entity)
        else { return }
        let added = wanted.slots.filter { !model.entities[found.entity].slots.contains($0) }
        guard added.allSatisfy({ !lacksValue($0, of: node, tree) }) else { return }
        let names = [TableLayout.entityColumn] + added.map { layout.tables[row.tree].columns[$0] }
        let defaults = added.map { slot in
            let attribute = model.trees[row.tree].attributes[slot]
            return ColumnValue.databaseValue(attribute.defaultValue ?? .null, as: attribute.type)
        }
        try db.execute(
            sql: """
                UPDATE \(columns[row.tree].table) SET \(names.map { "\($0.quoted) = ?" }.joined(separator: ", "))
                WHERE \(columns[row.tree].keyColumn) = ?
                """,
            arguments: StatementArguments([wanted.name.databaseValue] + defaults + [row.key.databaseValue]))
    }
}
