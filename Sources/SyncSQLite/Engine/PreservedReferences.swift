import GRDB
import SyncCore
import SyncStore

/// Preserves links from rows that stay to rows that are removed and that the next pull inserts again.
///
/// The links become pending references, which the next pull resolves, so that unlinking is not an edit. If a link was
/// edited, the edit is lost and logged.
struct PreservedReferences {
    private let engine: SQLiteEngineStore
    private let owners: TrackedTable
    private let targets: TrackedTable
    private let db: Database
    private var ledger: EngineLedger { EngineLedger(db) }

    /// - Parameters:
    ///   - owners: The table of the rows that stay.
    ///   - targets: The table of the rows that are removed.
    init(_ engine: SQLiteEngineStore, _ owners: TrackedTable, to targets: TrackedTable, _ db: Database) {
        (self.engine, self.owners, self.targets, self.db) = (engine, owners, targets, db)
    }

    func preserve() throws {
        for column in owners.columns where column.destination == targets.entity.table {
            guard case .toOne(let id) = column.field, let relationship = column.relationship else { continue }
            try revert(column)
            try insertPending(
                for: engine.model.compiled[id].second.entity, relationship, target: "r.\(column.sql)", position: "0")
        }
        for joinTable in owners.joinTables where joinTable.destination == targets.entity.table {
            let link = engine.model.compiled[joinTable.link]
            guard let relationship = link.side(joinTable.end).relationship?.name else { continue }
            try revert(joinTable)
            try insertPending(
                for: link.side(joinTable.end.other).entity, relationship, target: "p.\(joinTable.table.other)",
                position: joinTable.table.position.map { "ifnull(p.\($0), 0)" } ?? "0",
                from:
                    "JOIN \(joinTable.table.table) AS p ON p.\(joinTable.table.mine) = r.\(owners.keySQL)"
            )
        }
    }

    // MARK: Edits

    /// Resets edited foreign keys to removed rows to their base values, and logs the edits. The value becomes NULL if
    /// the row with that key is not stored.
    private func revert(_ column: TrackedTable.Column) throws {
        let (name, own, key) = (owners.sql, column.sql, owners.keySQL)
        let rows = try ledger.editedReferences(of: owners, column, to: targets)
        for row in rows {
            let base = row[1] as DatabaseValue
            try log(row[0], column.name, base: base, local: row[2], remote: base)
            try ledger.setBase(nil, of: column.name, row[0], owners)
            let former = try row.decode(Bool.self, atIndex: 3) || !column.isOptional ? base : .null
            try db.run("UPDATE OR IGNORE \(name) SET \(own) = ? WHERE \(key) = ?", former, row[0])
        }
    }

    private func revert(_ joinTable: TrackedTable.JoinTable) throws {
        let names = joinTable.table
        let edits = try ledger.editedLinks(of: owners, joinTable, to: targets)
        for (owner, edits) in Dictionary(grouping: edits, by: \.owner.exact) {
            let local = try LinkedRowList(joinTable).others(of: owner.value, in: db)
            for edit in edits {
                try db.run(
                    edit.isAdded
                        ? "DELETE FROM \(names.table) WHERE \(names.mine) = ? AND \(names.other) = ?"
                        : "INSERT OR IGNORE INTO \(names.table) (\(names.mine), \(names.other)) VALUES (?, ?)",
                    owner.value, edit.other)
                try ledger.deleteJoinEdit(edit.other, of: owner.value, joinTable)
            }
            let remote = LinkedRowList.text(try LinkedRowList(joinTable).others(of: owner.value, in: db))
            try log(owner.value, joinTable.field, base: .null, local: LinkedRowList.text(local), remote: remote)
        }
    }

    private func log(
        _ key: DatabaseValue, _ field: String, base: DatabaseValue, local: DatabaseValue, remote: DatabaseValue
    ) throws {
        try ConflictLog(db).add(owners, key, field: field, base: base, local: local, remote: remote, .danglingReference)
    }

    // MARK: Pending references

    /// Inserts pending references for links to known rows, as if the service had sent the links.
    private func insertPending(
        for destination: Int, _ relationship: String, target: String, position: String, from join: String = ""
    ) throws {
        let entity = owners.entity.name.literal
        let kind = owners.table.hasEntityColumn ? "ifnull(r.\(TableLayout.entityColumn.quoted), \(entity))" : entity
        let rows = try ledger.knownTargets(
            of: owners, in: targets, kind: kind, target: target, position: position, join: join)
        guard !rows.isEmpty else { return }
        for row in rows {
            guard let id = try targets.key.recordKey(row[2], in: db) else { continue }
            try db.run(
                """
                INSERT INTO sync_pending (owner_entity, owner_key, relationship, position, target_entity, target_key)
                VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """, try row.decode(String.self, atIndex: 1), row[0] as DatabaseValue, relationship,
                try row.decode(Int64.self, atIndex: 3), engine.model.compiled.entities[destination].name,
                RowKey(id, targets.key.type).databaseValue)
            try ledger.recheck(row[0], owners)
        }
        try ledger.clearCursor(of: owners)
    }
}
