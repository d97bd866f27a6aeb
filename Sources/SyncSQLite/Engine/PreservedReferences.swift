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

    /// - Parameters:
    ///   - owners: The table of the rows that stay.
    ///   - targets: The table of the rows that are removed.
    init(_ engine: SQLiteEngineStore, _ owners: TrackedTable, to targets: TrackedTable, _ db: Database) {
        self.engine = engine
        self.owners = owners
        self.targets = targets
        self.db = db
    }

    func preserve() throws {
        for column in owners.columns where column.destination == targets.entity.table {
            guard case .toOne(let id) = column.field, let relationship = column.relationship else { continue }
            try revert(column)
            try insertPending(
                for: engine.model.compiled[id].second.entity, relationship, target: "r.\(column.name.quoted)",
                position: "0")
        }
        for joinTable in owners.joinTables where joinTable.destination == targets.entity.table {
            let link = engine.model.compiled[joinTable.link]
            guard let relationship = link.side(joinTable.end).relationship?.name else { continue }
            try revert(joinTable)
            try insertPending(
                for: link.side(joinTable.end.other).entity, relationship, target: "p.\(joinTable.table.other)",
                position: joinTable.table.position.map { "ifnull(p.\($0), 0)" } ?? "0",
                from:
                    "JOIN \(joinTable.table.table) AS p ON p.\(joinTable.table.mine) = r.\(owners.table.keyColumn.quoted)"
            )
        }
    }

    // MARK: Edits

    /// Resets edited foreign keys to removed rows to their base values, and logs the edits. The value becomes NULL if
    /// the row with that key is not stored.
    private func revert(_ column: TrackedTable.Column) throws {
        let (name, own) = (owners.table.name.quoted, column.name.quoted)
        let (key, target) = ("r.\(owners.table.keyColumn.quoted)", "t.\(targets.table.keyColumn.quoted)")
        let destination = targets.table.name.quoted
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT b.k, b.value, r.\(own), b.value IS NULL OR EXISTS (SELECT 1 FROM \(destination) AS t WHERE \(target) = +b.value)
                FROM sync_base AS b JOIN \(name) AS r ON \(key) = +b.k JOIN \(destination) AS t ON \(target) = r.\(own)
                WHERE b.e = ? AND b.domain = ?\(owners.isOwn("r"))\(targets.isOwn("t"))
                """, arguments: [owners.number, column.name])
        for row in rows {
            let base = row[1] as DatabaseValue
            try log(row[0], column.name, base: base, local: row[2], remote: base)
            try owners.setBase(nil, of: column.name, row[0], in: db)
            let former = try row.decode(Bool.self, atIndex: 3) || !column.isOptional ? base : .null
            try db.execute(
                sql: "UPDATE OR IGNORE \(name) AS r SET \(own) = ? WHERE \(key) = ?", arguments: [former, row[0]])
        }
    }

    private func revert(_ joinTable: TrackedTable.JoinTable) throws {
        let names = joinTable.table
        let edits = try Row.fetchAll(
            db,
            sql: """
                SELECT l.owner, l.other, l.op FROM sync_link AS l
                JOIN sync_change AS c ON c.e = ? AND c.k = l.owner AND c.kind = 'update'
                JOIN \(targets.table.name.quoted) AS t ON t.\(targets.table.keyColumn.quoted) = +l.other
                WHERE l.link = ?\(targets.isOwn("t"))
                """, arguments: [owners.number, joinTable.name])
        for (owner, edits) in Dictionary(grouping: edits, by: { ($0[0] as DatabaseValue).exact }) {
            let local = try LinkedRowList(joinTable).others(of: owner.value, in: db)
            for edit in edits {
                let pair: StatementArguments = [owner.value, edit[1] as DatabaseValue]
                try db.execute(
                    sql: edit[2] as Int > 0
                        ? "DELETE FROM \(names.table) WHERE \(names.mine) = ? AND \(names.other) = ?"
                        : "INSERT OR IGNORE INTO \(names.table) (\(names.mine), \(names.other)) VALUES (?, ?)",
                    arguments: pair)
                try db.execute(
                    sql: "DELETE FROM sync_link WHERE owner = ? AND other = ? AND link = ?",
                    arguments: pair + [joinTable.name])
            }
            let remote = LinkedRowList.text(try LinkedRowList(joinTable).others(of: owner.value, in: db))
            try log(owner.value, joinTable.field, base: .null, local: LinkedRowList.text(local), remote: remote)
        }
    }

    private func log(
        _ key: DatabaseValue, _ field: String, base: DatabaseValue, local: DatabaseValue, remote: DatabaseValue
    ) throws {
        try ConflictLog(db).add(
            owners, key, field: field, base: base, local: local, remote: remote, OrphanedRows.resolution)
    }

    // MARK: Pending references

    /// Inserts pending references for links to known rows, as if the service had sent the links.
    private func insertPending(
        for destination: Int, _ relationship: String, target: String, position: String, from join: String = ""
    ) throws {
        let (key, entity) = ("r.\(owners.table.keyColumn.quoted)", owners.entity.name.literal)
        let kind = owners.table.hasEntityColumn ? "ifnull(r.\(TableLayout.entityColumn.quoted), \(entity))" : entity
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT \(key), \(kind), n.k, \(position) FROM \(owners.table.name.quoted) AS r \(join)
                JOIN sync_known AS n ON n.e = \(targets.number) AND n.k = +\(target) WHERE true\(owners.isOwn("r"))
                """)
        guard !rows.isEmpty else { return }
        for row in rows {
            guard let id = try targets.key.recordKey(row[2], in: db) else { continue }
            try db.execute(
                sql: """
                    INSERT INTO sync_pending (owner_entity, owner_key, relationship, position, target_entity, target_key)
                    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                    """,
                arguments: [
                    try row.decode(String.self, atIndex: 1), row[0] as DatabaseValue, relationship,
                    try row.decode(Int64.self, atIndex: 3),
                    engine.model.compiled.entities[destination].name, RowKey(id, targets.key.type).databaseValue,
                ])
            try db.execute(
                sql: "UPDATE sync_known SET whole = 0 WHERE e = ? AND k = ? AND whole = 1",
                arguments: [owners.number, row[0]])
        }
        try owners.pullAll(in: db)
    }
}
