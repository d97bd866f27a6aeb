import GRDB
import SyncCore
import SyncStore

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
          "rows" TEXT NOT NULL,
          "checksum" BLOB NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE "sync_fingerprint" (
          "entity" TEXT NOT NULL,
          "part" INTEGER NOT NULL,
          "checksums" BLOB NOT NULL,
          "records" BLOB NOT NULL,
          "places" BLOB NOT NULL,
          "kinds" BLOB NOT NULL,
          PRIMARY KEY ("entity", "part")
        ) STRICT
        """,
        """
        CREATE TABLE "sync_fingerprint_seal" (
          "id" INTEGER PRIMARY KEY CHECK ("id" = 1),
          "version" INTEGER NOT NULL,
          "schema" BLOB NOT NULL
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
    static let tableNames = ["sync_fingerprints", "sync_fingerprint", "sync_fingerprint_seal", "sync_written"]

    // MARK: Opening

    /// Makes the tables for a model that wants fingerprints, or removes all there is.
    static func prepare(_ model: SyncModel, in db: Database) throws {
        let isThere = try tableNames.map { try db.tableExists($0, in: "main") }
        if !model.keepsFingerprints {
            if isThere.contains(true) { try remove(from: db) }
        } else if isThere.contains(true) {
            try stopBroken(in: db)
        } else {
            try reset(db)
        }
    }

    /// Removes the triggers where one of our tables is not what they need: everybody's writes would fail. The next sync
    /// that looks for fingerprints says so.
    static func stopBroken(in db: Database) throws {
        if try !isIntact(in: db) { try removeTriggers(from: db) }
    }

    private static func isIntact(in db: Database) throws -> Bool {
        let statements = tables.map(\.literal).joined(separator: ", ")
        let intact = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND sql IN (\(statements))")
        return intact == tables.count
    }

    /// Forgets everything.
    static func reset(_ db: Database) throws {
        try remove(from: db)
        for statement in tables { try db.execute(sql: statement) }
    }

    static func remove(from db: Database) throws {
        try removeTriggers(from: db)
        for name in try names(of: "view", in: db) { try db.execute(sql: "DROP VIEW \(name.quoted)") }
        for name in tableNames { try db.execute(sql: "DROP TABLE IF EXISTS main.\(name.quoted)") }
    }

    private static func removeTriggers(from db: Database) throws {
        for name in try names(of: "trigger", in: db) { try db.execute(sql: "DROP TRIGGER \(name.quoted)") }
    }

    /// Triggers that begin as ours do, and views that stand where our tables should.
    private static func names(of type: String, in db: Database) throws -> [String] {
        let own = tableNames.map(\.literal).joined(separator: ", ")
        let condition = type == "trigger" ? "name GLOB 'sync_written_*'" : "name IN (\(own))"
        return try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = '\(type)' AND \(condition)")
    }

    // MARK: Syncing

    /// What is known, before it is used: nothing if the schema is not what it was when the fingerprints were taken. A
    /// store that knows nothing needs no triggers, and is faster without.
    ///
    /// - Throws: ``FingerprintDamage``
    static func check(in db: Database) throws -> [FingerprintHeader] {
        let headers = try FingerprintHeader.all(in: db)
        let isKnowing = headers.contains { !$0.isEmpty }
        if isKnowing, try SchemaSeal.stored(in: db) == SchemaSeal.current(in: db) { return headers }
        guard try isIntact(in: db) else { throw FingerprintDamage(reason: "their tables are others") }
        guard try isKnowing || !names(of: "trigger", in: db).isEmpty else { return headers }
        try reset(db)
        return []
    }

    /// After fingerprints were made: has writes recorded from now on.
    ///
    /// - Returns: Whether that can be relied on.
    static func watch(_ layout: StoreLayout, in db: Database) throws -> Bool {
        guard try names(of: "trigger", in: db).isEmpty else { return true }
        for statement in WriteTriggers(layout).statements { try db.execute(sql: statement) }
        return try SchemaSeal.set(in: db)
    }
}

extension SyncModel {
    /// Whether any entity does.
    var keepsFingerprints: Bool { entities.contains(where: \.keepsFingerprints) }
}
