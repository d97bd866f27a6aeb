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

    /// Makes the tables and triggers those that the model wants. Whatever was known before other ones is forgotten.
    static func prepare(_ model: Model, in db: Database) throws {
        let triggers = triggers(model, StoreLayout(model.compiled))
        if try isPrepared(triggers, in: db) { return }
        try remove(from: db)
        guard !triggers.isEmpty else { return }
        for statement in tables + triggers { try db.execute(sql: statement) }
    }

    /// What records writes; nothing where the model wants no fingerprints.
    static func triggers(_ model: Model, _ layout: StoreLayout) -> [String] {
        model.keepsFingerprints ? WriteTriggers(layout).statements : []
    }

    /// Whether these are the triggers of the database, and none of them was changed.
    static func isPrepared(_ triggers: [String], in db: Database) throws -> Bool {
        let found = try String.fetchSet(
            db, sql: "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'sync_written_*'")
        guard found == Set(triggers) else { return false }
        return try triggers.isEmpty || tableNames.allSatisfy { try db.tableExists($0) }
    }

    static func remove(from db: Database) throws {
        let names = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'sync_written_*'")
        for name in names { try db.execute(sql: "DROP TRIGGER \(name.quoted)") }
        for name in tableNames { try db.execute(sql: "DROP TABLE IF EXISTS \(name.quoted)") }
    }
}

extension Model {
    /// Whether any entity does.
    var keepsFingerprints: Bool { entities.contains(where: \.keepsFingerprints) }
}
