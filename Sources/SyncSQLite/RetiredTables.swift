import GRDB

/// The tables and triggers of fingerprints. Earlier versions made them in a store; now they are not used.
enum RetiredTables {
    static let names = ["sync_fingerprints", "sync_fingerprint", "sync_fingerprint_seal", "sync_written"]

    /// Drops those that a store has. Triggers come first, because they write to the tables.
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
