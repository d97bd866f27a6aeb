import GRDB

/// The tables and triggers of fingerprints, which earlier versions made in a store. They are of no use any more.
enum RetiredTables {
    static let names = ["sync_fingerprints", "sync_fingerprint", "sync_fingerprint_seal", "sync_written"]

    /// Drops what a store has of them, the triggers first: those write to the tables.
    static func drop(in db: Database) throws {
        let tables = names.map(\.literal).joined(separator: ", ")
        let found = try Row.fetchAll(
            db,
            sql: """
                SELECT type, name FROM sqlite_schema
                WHERE type = 'trigger' AND name GLOB 'sync_written_*' OR type IN ('table', 'view') AND name IN (\(tables))
                ORDER BY type = 'trigger' DESC
                """)
        for object in found {
            let (type, name): (String, String) = (object[0], object[1])
            try db.execute(sql: "DROP \(type) main.\(name.quoted)")
        }
    }
}
