import GRDB
import SyncStore

// Rows that are missing in the store without a captured deletion. The keys of the entries must be correct: see
// `SurrogateKeyRepair`.
extension TrackedTable {
    /// Records missing rows as deleted. If the entity was only imported, deletes their entries instead.
    func auditMissing(in db: Database) throws {
        if try isWatched(in: db) { try EngineLedger(db).insertMissing(self) } else { try deleteMissing(in: db) }
    }

    /// Deletes the entries of rows that are not stored and not recorded as deleted, except in the conflict log.
    ///
    /// The deletion of these rows is not sent. The next pull gets all rows, and inserts the rows that the service has.
    ///
    /// - Returns: Whether there were such rows.
    @discardableResult
    func deleteMissing(in db: Database) throws -> Bool {
        guard try EngineLedger(db).deleteMissing(self) else { return false }
        try EngineLedger(db).clearCursor(of: self)
        return true
    }

    /// Returns the number of stored rows of the entity.
    func count(in db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table.name.quoted) AS r WHERE true\(isOwn("r"))") ?? 0
    }

    /// Returns whether the entity has triggers. An entity that was only imported has none.
    func isWatched(in db: Database) throws -> Bool {
        try !EngineLedger(db).triggerChecksums(of: number).isEmpty
    }

    /// Returns the SQL condition that no row with the key of an entry is stored.
    ///
    /// - Parameter row: The table or alias of the entry.
    func isMissing(_ row: String) -> String {
        """
        NOT EXISTS (
          SELECT 1 FROM \(table.name.quoted) AS r WHERE r.\(table.keyColumn.quoted) = +\(row).k\(isOwn("r")))
        """
    }
}
