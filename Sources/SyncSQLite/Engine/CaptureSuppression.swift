import GRDB

/// What the engine is at while it writes, as triggers see it: lines of `sync_mute`, which no other connection ever sees.
enum CaptureSuppression: Int {
    /// Anything: nothing of it is an edit.
    case writing = 1
    /// It deletes rows, and services do not delete along what these take along.
    case cascading
    /// It deletes rows: their lists go into the log.
    case deleting

    /// Whether it is, in a trigger.
    var isSet: String { "EXISTS (SELECT 1 FROM \"sync_mute\" WHERE \"n\" = \(rawValue))" }

    func set(in db: Database) throws {
        try db.executeCached(sql: "INSERT INTO sync_mute VALUES (\(rawValue)) ON CONFLICT DO NOTHING")
    }

    func clear(in db: Database) throws {
        try db.executeCached(sql: "DELETE FROM sync_mute WHERE n = \(rawValue)")
    }
}
