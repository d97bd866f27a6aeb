import GRDB

/// A mode of the engine's writes, which triggers check. Each mode is a row of `sync_mute` that is never committed.
enum CaptureSuppression: Int {
    /// The engine writes, so triggers record no edits.
    case writing = 1
    /// The engine deletes rows, and the service does not cascade deletions.
    case cascading
    /// The engine deletes rows, so triggers log the lists of deleted rows.
    case deleting

    /// The SQL condition, for triggers, that this mode is set.
    var isSet: String { "EXISTS (SELECT 1 FROM \"sync_mute\" WHERE \"n\" = \(rawValue))" }

    func set(in db: Database) throws {
        try db.executeCached(sql: "INSERT INTO sync_mute VALUES (\(rawValue)) ON CONFLICT DO NOTHING")
    }

    func clear(in db: Database) throws {
        try db.executeCached(sql: "DELETE FROM sync_mute WHERE n = \(rawValue)")
    }

    static func isAnySet(in db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM sync_mute)") ?? false
    }

    static func clearAll(in db: Database) throws { try db.executeCached(sql: "DELETE FROM sync_mute") }
}
