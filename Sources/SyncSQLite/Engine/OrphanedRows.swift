import GRDB
import SyncCore
import SyncStore

/// Applies delete rules after a connection with foreign keys off, such as the `sqlite3` shell, deleted rows. The
/// resulting changes are local edits.
///
/// It also resets edited foreign keys that reference a row that does not exist.
struct OrphanedRows {
    static let resolution = ConflictOutcome(winner: .remote, reason: .danglingReference)

    private let engine: SQLiteEngineStore
    private let db: Database

    init(_ engine: SQLiteEngineStore, _ db: Database) { (self.engine, self.db) = (engine, db) }

    func removeDanglingReferences() throws {
        while try deleteOrphansOnce() {}
        try EngineLedger(db).deleteUnsent()
        for table in engine.tables {
            for column in table.columns where column.isOptional { try unlink(column, of: table) }
        }
    }

    /// Applies the delete rules once, to rows that reference a deleted row. Only pending deletions and deletions of
    /// unsent rows can have left such rows.
    ///
    /// - Returns: Whether rows were changed. Their deletion may have left other orphans.
    private func deleteOrphansOnce() throws -> Bool {
        let numbers = try EngineLedger(db).entitiesWithDeletions()
        guard !numbers.isEmpty else { return false }
        var count = 0
        for table in engine.tables where numbers.contains(table.number) {
            for (link, names) in engine.references(to: table) { count += try deleteOrphans(link, names, of: table) }
        }
        return count > 0
    }

    private func deleteOrphans(_ link: CompiledAssociation, _ names: LinkTable, of table: TrackedTable) throws -> Int {
        // A deleted row with a surrogate key is recorded by its name, which foreign keys do not contain.
        let deleted = table.key.isSurrogate ? "" : "\(EngineLedger.isDeletedKey(names.mine, of: table)) AND "
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
        let (name, keyColumn, own) = (table.table.name.quoted, table.table.keyColumn.quoted, column.name.quoted)
        for (key, value) in try EngineLedger(db).danglingReferences(of: table, column, destination) {
            let base = try EngineLedger(db).storedBase(of: column, key, table, destination)
            try ConflictLog(db).add(
                table, key, field: column.name, base: base ?? .null, local: value, remote: .null, Self.resolution)
            try db.executeCached(
                sql: "UPDATE \(name) SET \(own) = ? WHERE \(keyColumn) = ?", arguments: [base, key])
        }
    }
}
