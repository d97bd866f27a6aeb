import GRDB
package import SyncCore
package import SyncStore

// Inserts, updates and deletes, with one prepared statement each. Foreign keys are deferred, so any order of tables is right.
extension SQLiteSession {
    package func insert(_ nodes: [NodeID], _ table: SyncTable) throws {
        let columns = columns(table.id)
        let inserted = columns.inserted
        let insertion = try BulkInsertion(
            into: layout[table.id].name, names: inserted.map { columns.names[$0] }, parameters: inserted.map { $0 + 1 },
            width: columns.names.count, rowCount: nodes.count, in: db)
        let values = NodeBinding(table, self)
        var counter = StepCounter(steps)
        try insertion.insert(nodes.count) { row, statement, offset in
            try counter.advance()
            values.bindRow(of: nodes[row], to: statement, offset)
        } failed: { row, error in
            StoreFailure.naming(values.name(of: nodes[row]), in: error)
        }
        try counter.finish()
    }

    package func update(_ nodes: [NodeID], _ table: SyncTable) throws {
        let columns = columns(table.id)
        let changed = table.met.changed
        let values = NodeBinding(table, self)
        var updates: [[UInt64]: (columns: [TableColumn], statement: RawStatement)] = [:]
        var counter = StepCounter(steps)
        for node in nodes {
            try counter.advance()
            let mask = changed.mask(of: node)
            let update: (columns: [TableColumn], statement: RawStatement)
            if let known = updates[mask] {
                update = known
            } else {
                let written = changed.columns(mask).map(table.column)
                let names = written.map { "\(columns.name(of: $0)) = ?" }.joined(separator: ", ")
                update = (
                    written,
                    try RawStatement(db, "UPDATE \(columns.table) SET \(names) WHERE \(columns.keyColumn) = ?")
                )
                updates[mask] = update
            }
            for (index, column) in update.columns.enumerated() {
                values.bind(column, of: node, to: update.statement, at: index + 1)
            }
            values.bindKey(of: node, to: update.statement, at: update.columns.count + 1)
            do { try update.statement.execute() } catch { throw StoreFailure.naming(values.name(of: node), in: error) }
        }
        try counter.finish()
    }

    package func refine(_ rows: [(key: RowKey, entity: CompiledEntity, added: [Int])], in table: TableID) throws {
        let columns = columns(table)
        for (key, entity, added) in rows {
            let names = [TableLayout.entityColumn] + added.map { layout[table].columns[$0] }
            let defaults = added.map { slot in
                let attribute = model[table].attributes[slot]
                return ColumnValue.databaseValue(attribute.defaultValue ?? .null, as: attribute.type)
            }
            try db.execute(
                sql: """
                    UPDATE \(columns.table) SET \(names.map { "\($0.quoted) = ?" }.joined(separator: ", "))
                    WHERE \(columns.keyColumn) = ?
                    """,
                arguments: StatementArguments([entity.name.databaseValue] + defaults + [key.databaseValue]))
        }
    }

    package func delete(_ rows: [StoredRow]) throws {
        for row in rows {
            let columns = columns(row.table)
            let statement = try statements.statement("DELETE FROM \(columns.table) WHERE \(columns.keyColumn) = ?")
            statement.bind(row.key, at: 1)
            do {
                try statement.execute()
            } catch {
                throw StoreFailure.naming("\(row.key.recordKey(nil)) of \(layout[row.table].name)", in: error)
            }
        }
    }
}
