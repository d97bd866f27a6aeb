import GRDB

/// What the engine does while it writes. Each case is a row of `sync_mute` that is never committed and that triggers
/// read.
enum CaptureSuppression: Int {
    /// The engine writes. No write is recorded as an edit.
    case writing = 1
    /// The engine deletes rows, and the service does not cascade the deletions.
    case cascading
    /// The engine deletes rows. The lists of deleted rows are logged.
    case deleting

    /// The condition, in a trigger, that this case is set.
    var isSet: String { "EXISTS (SELECT 1 FROM \"sync_mute\" WHERE \"n\" = \(rawValue))" }

    func set(in db: Database) throws {
        try db.executeCached(sql: "INSERT INTO sync_mute VALUES (\(rawValue)) ON CONFLICT DO NOTHING")
    }

    func clear(in db: Database) throws {
        try db.executeCached(sql: "DELETE FROM sync_mute WHERE n = \(rawValue)")
    }
}
