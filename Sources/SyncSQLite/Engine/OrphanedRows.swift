import GRDB
import SyncCore
import SyncStore

/// Applies delete rules after a connection with foreign keys off, such as the `sqlite3` shell, deleted rows. The
/// resulting changes are local edits.
///
/// It also resets edited foreign keys that reference a row that does not exist.
struct OrphanedRows {
    static let resolution = ConflictOutcome(winner: .remote, reason: SyncConflict.Reason.danglingReference.rawValue)

    private let engine: SQLiteEngineStore
    private let db: Database

    init(_ engine: SQLiteEngineStore, _ db: Database) { (self.engine, self.db) = (engine, db) }

    func removeDanglingReferences() throws {
        while try deleteOrphansOnce() {}
        try db.executeCached(sql: "DELETE FROM sync_unsent")
        for table in engine.tables {
            for column in table.columns where column.isOptional { try unlink(column, of: table) }
        }
    }

    /// Applies the delete rules once, to rows that reference a deleted row. Only pending deletions and deletions of
    /// unsent rows can have left such rows.
    ///
    /// - Returns: Whether rows were changed. Their deletion may have left other orphans.
    private func deleteOrphansOnce() throws -> Bool {
        let numbers = try Set(
            Int.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT e FROM sync_change WHERE kind = 'delete' AND state = 'ready' UNION SELECT e FROM sync_unsent
                        """)))
        guard !numbers.isEmpty else { return false }
        var count = 0
        for table in engine.tables where numbers.contains(table.number) {
            for (link, names) in engine.references(to: table) { count += try deleteOrphans(link, names, of: table) }
        }
        return count > 0
    }

    private func deleteOrphans(_ link: CompiledAssociation, _ names: LinkTable, of table: TrackedTable) throws -> Int {
        // A deleted row with a surrogate key is recorded by its name, which foreign keys do not contain.
        let deleted =
            table.key.isSurrogate
            ? ""
            : """
            \(names.mine) IN (SELECT k FROM sync_change WHERE e = \(table.number) AND kind = 'delete' AND state = 'ready'
              UNION ALL SELECT k FROM sync_unsent WHERE e = \(table.number)) AND\u{20}
            """
        let orphans =
            deleted + "\(names.mine) NOT IN (SELECT \(table.table.keyColumn.quoted) FROM \(table.table.name.quoted))"
        let goes =
            link.storage != .foreignKey || link.second.relationship?.deleteRule == .cascade || link.isKeyPart
        try db.executeCached(
            sql: goes
                ? "DELETE FROM \(names.table) WHERE \(orphans)"
                : "UPDATE OR IGNORE \(names.table) SET \(names.mine) = NULL WHERE \(orphans)")
        return db.changesCount
    }

    /// Resets dangling foreign keys to their base value, or to NULL if the row with that key is not stored. Logs the
    /// dangling value.
    private func unlink(_ column: TrackedTable.Column, of table: TrackedTable) throws {
        guard let destination = column.destination.map({ engine.stack.layout[$0] }) else { return }
        let (name, key, own) = (table.table.name.quoted, table.table.keyColumn.quoted, column.name.quoted)
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT r.\(key), r.\(own) FROM sync_change AS c CROSS JOIN \(name) AS r ON r.\(key) = c.k
                    WHERE c.e = \(table.number) AND c.kind <> 'delete'\(table.isOwn("r")) AND r.\(own) IS NOT NULL
                      AND r.\(own) NOT IN (SELECT \(destination.keyColumn.quoted) FROM \(destination.name.quoted))
                    """))
        for row in rows {
            let base = try DatabaseValue.fetchOne(
                db,
                sql: """
                    SELECT value FROM sync_base WHERE e = ? AND k = ? AND domain = ? AND value IN (
                      SELECT \(destination.keyColumn.quoted) FROM \(destination.name.quoted))
                    """, arguments: [table.number, row[0], column.name])
            try ConflictLog(db).add(
                table, row[0], field: column.name, base: base ?? .null, local: row[1], remote: .null, Self.resolution)
            try db.executeCached(
                sql: "UPDATE \(name) SET \(own) = ? WHERE \(key) = ?", arguments: [base, row[0]])
        }
    }
}
