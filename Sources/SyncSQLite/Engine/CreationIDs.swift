import GRDB
import SyncCore
import SyncStore

/// The new rows whose creation ID the service keeps, in a member of the record or as the ID of the row.
///
/// A pulled record with such an ID is the same row. An older copy of the store, or a request that timed out, may have
/// created it.
struct CreationIDs {
    private let engine: SQLiteEngineStore
    private let table: TrackedTable
    private let db: Database
    private let markerField: String?
    private let rows: NewRows

    /// Nil if the service keeps no creation IDs, or no rows are new.
    init?(_ engine: SQLiteEngineStore, _ table: TrackedTable, _ db: Database) throws {
        markerField = engine.registration.markerField
        guard markerField != nil || engine.registration.makesIDs else { return nil }
        self.engine = engine
        self.table = table
        self.db = db
        rows = engine.memory.newRows(of: table.number)
        if rows.byCreationID == nil { try Self.read(into: rows, engine, table, nil, db) }
        if rows.byCreationID?.isEmpty != false { return nil }
    }

    /// Reads creation IDs from the outbox.
    ///
    /// - Parameter key: Nil for all new rows.
    static func read(
        into rows: NewRows, _ engine: SQLiteEngineStore, _ table: TrackedTable, _ key: DatabaseValue?, _ db: Database
    ) throws {
        let registration = engine.registration
        let found = try db.rowsCached(
            sql: "SELECT birth, k FROM sync_change WHERE e = ? AND kind = 'create' AND birth IS NOT NULL"
                + (key == nil ? "" : " AND k = ?"),
            arguments: StatementArguments([table.number.databaseValue] + [key].compactMap(\.self)))
        var byCreationID = rows.byCreationID ?? [:]
        rows.byCreationID = nil
        for row in found {
            let creationID = try row.decode(String.self, atIndex: 0)
            byCreationID[
                registration.markerField == nil ? CreationID(creationID).text(of: registration.idLength) : creationID] =
                row[1]
        }
        rows.byCreationID = byCreationID
    }

    /// Gives a new row the key of the pulled row that has its creation ID.
    ///
    /// - Parameter key: The key of the pulled row in the engine's tables.
    /// - Returns: The key of the new row afterwards; nil if no new row matches.
    func matchNewRow(_ row: PulledPage.Record, _ key: DatabaseValue) throws -> DatabaseValue? {
        guard let name = name(of: row), let own = rows.byCreationID?[name], let id = table.key.rowKey(row.id),
            try isNew(own)
        else { return nil }
        guard !own.isExactly(key) else { return key }
        // The answer to a request in flight tells what became of it.
        let isOnItsWay = try db.finds(
            sql: "SELECT 1 FROM sync_request WHERE e = ? AND k = ? AND attempts = 0 AND taken IS NULL",
            arguments: [table.number, own])
        guard !isOnItsWay, try table.isStored(own, in: db) else { return nil }
        let replacement = KeyReplacement(engine, table, db)
        return try table.isStored(key, in: db) ? replacement.unite(own, with: key) : replacement.rekey(own, to: id)
    }

    private func isNew(_ key: DatabaseValue) throws -> Bool {
        try db.finds(
            sql: "SELECT 1 FROM sync_change WHERE e = ? AND k = ? AND kind = 'create' AND birth IS NOT NULL",
            arguments: [table.number, key])
    }

    private func name(of row: PulledPage.Record) -> String? {
        guard let markerField else { return if case .string(let id) = row.id { id } else { nil } }
        guard case .string(let name)? = row.record?[markerField] else { return nil }
        return creationID(name)
    }

    /// Returns a creation ID without the suffix of a later attempt, as in `birth-2`.
    private func creationID(_ name: String) -> String {
        guard let dash = name.lastIndex(of: "-"), name[name.index(after: dash)...].allSatisfy(\.isNumber) else {
            return name
        }
        return String(name[..<dash])
    }
}
