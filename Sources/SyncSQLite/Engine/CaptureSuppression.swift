import GRDB

/// A mode of the engine's writes, which triggers check. Each mode is a row of `sync_capture_off` that is never committed.
enum CaptureSuppression: String {
    /// The engine writes, so triggers record no edits.
    case writing
    /// The engine deletes rows, and the service does not cascade deletions.
    case cascading
    /// The engine deletes rows, so triggers log the lists of deleted rows.
    case deleting

    /// The SQL condition, for triggers, that this mode is set.
    var isSet: String { "EXISTS (SELECT 1 FROM \"sync_capture_off\" WHERE \"mode\" = '\(rawValue)')" }

    func set(in db: Database) throws {
        try db.executeCached(sql: "INSERT INTO sync_capture_off VALUES ('\(rawValue)') ON CONFLICT DO NOTHING")
    }

    func clear(in db: Database) throws {
        try db.executeCached(sql: "DELETE FROM sync_capture_off WHERE mode = '\(rawValue)'")
    }

    func isSet(in db: Database) throws -> Bool {
        guard try db.tableExists("sync_capture_off", in: "main") else { return false }
        return try db.finds(sql: "SELECT 1 FROM sync_capture_off WHERE mode = '\(rawValue)'", arguments: [])
    }

    static func isAnySet(in db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM sync_capture_off)") ?? false
    }

    static func clearAll(in db: Database) throws { try db.executeCached(sql: "DELETE FROM sync_capture_off") }
}
