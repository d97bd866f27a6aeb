import Foundation
import GRDB
import Sync
import Testing

/// Stores of earlier versions have tables and triggers for fingerprints, which are no longer used.
@Suite("Stores of earlier versions")
struct OlderStoreTests {
    private static let retiredTables = [
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

    private static let retiredTriggers = [
        trigger("Person_insert", "INSERT ON \"Person\"", [note(1, "NEW")]),
        trigger("Person_delete", "DELETE ON \"Person\"", [note(1, "OLD"), note(2, "OLD")]),
        trigger("Person_update", "UPDATE ON \"Person\"", [note(1, "OLD")]),
        trigger(
            "Person_key", "UPDATE OF \"id\", \"rowid\", \"oid\", \"_rowid_\" ON \"Person\"",
            [note(1, "OLD"), note(2, "OLD"), note(1, "NEW"), note(2, "NEW")]),
        trigger("sync_pending_insert", "INSERT ON \"sync_pending\"", [everything]),
        trigger("sync_pending_update", "UPDATE ON \"sync_pending\"", [everything, everything]),
        trigger("sync_pending_delete", "DELETE ON \"sync_pending\"", [everything]),
        """
        CREATE TRIGGER "sync_written_sync_written_delete" AFTER DELETE ON "sync_written"
        WHEN OLD."place" >= 0 AND NOT EXISTS (SELECT 1 FROM "sync_written" WHERE "place" = -1 AND "key" = \
        (SELECT "version" FROM "sync_fingerprint_seal"))
        BEGIN
          INSERT INTO "sync_written" VALUES (0, 0) ON CONFLICT DO NOTHING;
        END
        """,
        """
        CREATE TRIGGER "sync_written_sync_written_update" AFTER UPDATE ON "sync_written"
        WHEN OLD."place" >= 0
        BEGIN
          INSERT INTO "sync_written" VALUES (0, 0) ON CONFLICT DO NOTHING;
        END
        """,
    ]

    private static let everything =
        "INSERT INTO \"sync_written\" SELECT 0, 0 WHERE 0 IS NOT NULL ON CONFLICT DO NOTHING;"

    private static func note(_ place: Int, _ version: String) -> String {
        """
        INSERT INTO "sync_written" SELECT \(place), \(version)."id" WHERE \(version)."id" IS NOT NULL \
        ON CONFLICT DO NOTHING;
        """
    }

    private static func trigger(_ name: String, _ event: String, _ notes: [String]) -> String {
        """
        CREATE TRIGGER "sync_written_\(name)" AFTER \(event)
        WHEN EXISTS (SELECT 1 FROM "sync_fingerprint")
        BEGIN
          \(notes.joined(separator: "\n  "))
        END
        """
    }

    /// A change of the tables by another program.
    enum Damage: String, CaseIterable {
        case none, tableMissing, viewInstead, otherColumns

        var sql: String {
            switch self {
            case .none: ""
            case .tableMissing: "DROP TABLE sync_written"
            case .viewInstead:
                """
                DROP TABLE sync_fingerprint_seal;
                CREATE VIEW sync_fingerprint_seal AS SELECT 1 AS version
                """
            case .otherColumns: "DROP TABLE sync_fingerprint; CREATE TABLE sync_fingerprint (other)"
            }
        }
    }

    private static let people: JSONValue = [["id": 1, "name": "Ann"], ["id": 2, "name": "Bob"]]

    private static func model(_ attributes: [SyncModel.Attribute] = []) throws -> SyncModel {
        try SyncModel(entities: [
            SyncModel.Entity("Person", attributes: [.init("id", .integer), .init("name", .string)] + attributes)
        ])
    }

    /// Inserts two people, and creates the fingerprint tables of an earlier version.
    private static func makeEarlier(_ stack: DataStack, _ damage: Damage = .none) async throws {
        try await Sync.changes(people, inEntity: "Person", stack: stack)
        try await stack.write { db in
            for statement in retiredTables + retiredTriggers { try db.execute(sql: statement) }
            try db.execute(
                sql: """
                    INSERT INTO sync_fingerprints VALUES ('Person', x'01', x'02', 40, '[[]]', '{}', x'03');
                    INSERT INTO sync_fingerprint VALUES ('Person', 0, x'01', x'02', x'03', x'04');
                    INSERT INTO sync_fingerprint_seal VALUES (1, 384579868, x'05');
                    UPDATE Person SET name = 'by hand' WHERE id = 1
                    """)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM sync_written") == 1)
            try db.execute(sql: damage.sql)
        }
    }

    private static func file(in folder: TemporaryFolder, _ damage: Damage = .none) async throws -> URL {
        let stack = try DataStack(model: model(), at: folder.database)
        try await makeEarlier(stack, damage)
        try stack.close()
        return folder.database
    }

    /// Returns the names of the fingerprint tables, views and triggers that are left.
    private static func retired(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT name FROM sqlite_schema
                WHERE name GLOB 'sync_written*' OR name GLOB 'sync_fingerprint*' OR tbl_name GLOB 'sync_written*'
                """)
    }

    /// Expects that nothing is left, and that a sync updates the rows that differ.
    private func check(_ stack: DataStack, updated: Int = 1) async throws {
        #expect(try await stack.read(Self.retired) == [])
        let result = try await Sync.changes(Self.people, inEntity: "Person", stack: stack)
        #expect(result["Person"].updatedCount == updated)
        #expect(result["Person"].unchangedCount == 2 - updated)
        #expect(result.diagnostics.isEmpty)
        let names = try await stack.read { db in try String.fetchAll(db, sql: "SELECT name FROM Person ORDER BY id") }
        #expect(names == ["Ann", "Bob"])
        #expect(try await Sync.changes(Self.people, inEntity: "Person", stack: stack).isEmpty)
    }

    @Test("Opening an earlier store removes its fingerprint tables, views and triggers", arguments: Damage.allCases)
    func openingRemovesFingerprints(_ damage: Damage) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await check(DataStack(model: Self.model(), at: Self.file(in: folder, damage)))
    }

    @Test("Opening an earlier store with its stored model, which has the member fingerprints, removes them")
    func storedModelMayNameFingerprints() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let url = try await Self.file(in: folder)
        let queue = try DatabaseQueue(path: url.path)
        let kept = #"{"entities":{"Person":{"fingerprints":true,"attributes":{"id":"integer","name":"string"}}}}"#
        try await queue.write { db in try db.execute(sql: "UPDATE sync_model SET schema = ?", arguments: [kept]) }
        try queue.close()
        try await check(DataStack(at: url))
        try await check(DataStack(model: Self.model(), at: url), updated: 0)
    }

    @Test("The names of fingerprint tables stay reserved")
    func fingerprintNamesStayReserved() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in try db.execute(sql: "CREATE TABLE sync_written (mine)") }
        let error = #expect(throws: SyncError.self) { try DataStack(model: Self.model(), in: queue) }
        #expect(error?.code == .nameCollision)
        #expect(try queue.read { db in try db.tableExists("sync_written") })
    }

    @Test("A migration removes fingerprint tables, which do not disturb a reader before it", arguments: Damage.allCases)
    func migrationRemovesFingerprints(_ damage: Damage) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let url = try await Self.file(in: folder, damage)
        let wider = try Self.model([.init("age", .integer)])
        #expect(try DataStack.migration(to: wider, at: url).dataLosses.isEmpty)
        let reader = try DataStack(reading: url)
        #expect(try await reader.count("Person") == 2)
        #expect(try await Sync.plan(Self.people, inEntity: "Person", stack: reader)["Person"].updatedCount == 1)
        try reader.close()
        try await check(DataStack(model: wider, at: url))
    }

    @Test(
        "Opening an app database removes fingerprint tables and keeps the app's tables and triggers",
        arguments: Damage.allCases)
    func appDatabaseLosesOnlyFingerprints(_ damage: Damage) async throws {
        let queue = try DatabaseQueue()
        try AppDatabase.fill(queue)
        let ownTrigger = "CREATE TRIGGER written AFTER DELETE ON bookmark BEGIN DELETE FROM cursor; END"
        try await queue.write { db in try db.execute(sql: ownTrigger) }
        try await Self.makeEarlier(DataStack(model: Self.model(), in: queue), damage)
        try await check(DataStack(model: Self.model(), in: queue))
        try await queue.read { db throws in
            #expect(try AppDatabase.Bookmark.fetchCount(db) == 1)
            let triggers = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'trigger'")
            #expect(triggers == ["written"])
        }
    }
}
