import GRDB
import SyncCore

/// The tables and triggers of a store that keeps fingerprints.
///
/// `sync_written` collects what is written, by whomever, as long as there are fingerprints that could be wrong for it.
struct FingerprintSchema {
    private static let tables = [
        """
        CREATE TABLE "sync_fingerprints" (
          "entity" TEXT PRIMARY KEY NOT NULL,
          "meaning" BLOB NOT NULL,
          "seed" BLOB NOT NULL,
          "bytes" INTEGER NOT NULL,
          "unmapped" TEXT NOT NULL,
          "rows" TEXT NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE "sync_fingerprint" (
          "entity" TEXT NOT NULL,
          "part" INTEGER NOT NULL,
          "records" BLOB NOT NULL,
          "places" BLOB NOT NULL,
          "kinds" BLOB NOT NULL,
          PRIMARY KEY ("entity", "part")
        ) STRICT
        """,
        """
        CREATE TABLE "sync_written" (
          "place" INTEGER NOT NULL,
          "key" ANY NOT NULL,
          PRIMARY KEY ("place", "key")
        ) STRICT, WITHOUT ROWID
        """,
    ]
    private static let tableNames = ["sync_fingerprints", "sync_fingerprint", "sync_written"]

    // MARK: Opening

    /// Makes the tables for a model that wants fingerprints, or removes all there is.
    static func prepare(_ model: Model, in db: Database) throws {
        let isThere = try tableNames.map { try db.tableExists($0) }
        if model.keepsFingerprints, isThere.contains(false) { try reset(db) }
        if !model.keepsFingerprints, isThere.contains(true) { try remove(from: db) }
    }

    /// Forgets everything.
    static func reset(_ db: Database) throws {
        try remove(from: db)
        for statement in tables { try db.execute(sql: statement) }
    }

    static func remove(from db: Database) throws {
        for name in try triggers("name", in: db) { try db.execute(sql: "DROP TRIGGER \(name.quoted)") }
        for name in tableNames { try db.execute(sql: "DROP TABLE IF EXISTS \(name.quoted)") }
    }

    // MARK: Syncing

    /// Before fingerprints are used: forgets all if what records writes is not as it should be. A store that knows
    /// nothing needs no triggers, and is faster without.
    static func check(_ layout: StoreLayout, in db: Database) throws {
        let isKnowing = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM sync_fingerprint)") ?? false
        let wanted = isKnowing ? Set(WriteTriggers(layout).statements) : []
        if try triggers("sql", in: db) != wanted { try reset(db) }
    }

    /// After fingerprints were made: has writes recorded from now on.
    static func watch(_ layout: StoreLayout, in db: Database) throws {
        guard try triggers("name", in: db).isEmpty else { return }
        for statement in WriteTriggers(layout).statements { try db.execute(sql: statement) }
    }

    private static func triggers(_ column: String, in db: Database) throws -> Set<String> {
        try String.fetchSet(
            db, sql: "SELECT \(column) FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'sync_written_*'")
    }
}

extension Model {
    /// Whether any entity does.
    var keepsFingerprints: Bool { entities.contains(where: \.keepsFingerprints) }
}
