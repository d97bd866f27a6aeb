import Foundation
import GRDB
import Sync
import Testing

@Suite("Fingerprints")
struct FingerprintTests {
    private let payload = """
        [{"id": 1, "name": "A", "company": {"id": 7, "name": "Seven"}, "notes": [{"id": 10, "text": "a"}], "extra": 1},
         {"id": 2, "name": "B", "company": {"id": 7, "name": "Seven"}, "notes": [], "extra": 2}]
        """

    private static func model(fingerprints: Bool = true, attribute: String = "name") throws -> SyncModel {
        try SyncModel(
            schema: Data(
                """
                {"entities": {
                  "User": {"fingerprints": \(fingerprints),
                    "attributes": {"id": "integer", "\(attribute)": {"type": "string", "remoteKey": "name"}},
                    "relationships": {"company": {"entity": "Company"},
                      "notes": {"entity": "Note", "many": true, "inverse": "user", "deleteRule": "cascade"}}},
                  "Company": {"attributes": {"id": "integer", "name": "string"}},
                  "Note": {"attributes": {"id": "integer", "text": "string"},
                    "relationships": {"user": {"entity": "User", "inverse": "notes"}}}}}
                """.utf8))
    }

    @discardableResult
    private func sync(_ text: String, _ stack: DataStack) async throws -> SyncResult {
        try await Sync.changes(Data(text.utf8), inEntity: "User", stack: stack)
    }

    private func count(_ sql: String, _ stack: DataStack) throws -> Int {
        try stack.read { try Int.fetchOne($0, sql: sql) ?? 0 }
    }

    /// Writes to a row and has the store forget that anybody did.
    private func writeUnnoticed(_ sql: String, _ stack: DataStack) throws {
        try stack.write { db in
            try db.execute(sql: sql)
            try db.execute(sql: "INSERT INTO sync_written SELECT -1, version FROM sync_fingerprint_seal")
            try db.execute(sql: "DELETE FROM sync_written WHERE place >= 0")
            try db.execute(sql: "DELETE FROM sync_written")
        }
    }

    @Test("Records that come again are not read, and the result is the same as if they were")
    func known() async throws {
        let plain = try DataStack.inMemory(Self.model(fingerprints: false))
        let kept = try DataStack.inMemory(Self.model())
        for _ in 1...2 { #expect(try await sync(payload, kept) == sync(payload, plain)) }
        try writeUnnoticed("UPDATE User SET name = 'unnoticed' WHERE id = 1", kept)
        let result = try await sync(payload, kept)
        #expect(result.isEmpty)
        #expect(result.root.matched == 2)
        #expect(try count("SELECT count(*) FROM User WHERE name = 'unnoticed'", kept) == 1)
    }

    @Test("The same payload again writes nothing at all")
    func nothingWritten() async throws {
        let stack = try DataStack.inMemory(Self.model())
        try await sync(payload, stack)
        let before = try await stack.changesWritten()
        try await sync(payload, stack)
        #expect(try await stack.changesWritten() == before)
    }

    @Test(
        "What somebody else writes is put right",
        arguments: [
            "UPDATE User SET name = 'X' WHERE id = 1",
            "UPDATE Note SET text = 'X'",
            "UPDATE Company SET name = 'X'",
            "UPDATE Note SET userID = 2",
            "UPDATE User SET companyID = NULL",
            "DELETE FROM User WHERE id = 2",
            "DELETE FROM Company",
            "DELETE FROM Note",
            "UPDATE Note SET id = 11",
            "UPDATE User SET id = 3 WHERE id = 2",
            "INSERT INTO Note (id, text, userID) VALUES (12, 'new', 2)",
            "INSERT INTO User (id, name) VALUES (9, 'new')",
            "INSERT OR REPLACE INTO Company (id, name) VALUES (7, 'X')",
            "INSERT OR FAIL INTO Note (id, text, userID) VALUES (13, 'new', 1), (14, 'new', 1)",
            "UPDATE OR ABORT Note SET text = 'X', userID = 2",
            "UPDATE User SET rowid = 3 WHERE id = 2",
            "UPDATE Note SET _rowid_ = 11",
            "UPDATE OR REPLACE User SET oid = 1 WHERE id = 2",
            "ALTER TABLE User DROP COLUMN name; ALTER TABLE User ADD COLUMN name TEXT",
            "ALTER TABLE User RENAME COLUMN name TO n; UPDATE User SET n = 'X'; ALTER TABLE User RENAME COLUMN n TO name",
            """
            CREATE UNIQUE INDEX mine ON User (name); INSERT OR REPLACE INTO User (id, name) VALUES (9, 'A');
            DROP INDEX mine
            """,
            "CREATE UNIQUE INDEX sync_mine ON User (name); INSERT OR REPLACE INTO User (id, name) VALUES (9, 'A')",
            """
            CREATE TRIGGER __mine_au AFTER UPDATE ON Company BEGIN UPDATE User SET name = 'X'; END;
            UPDATE Company SET name = 'X'; DROP TRIGGER __mine_au
            """,
            """
            CREATE TABLE copy AS SELECT * FROM Note; DROP TABLE Note; CREATE TABLE "Note" ("id" INTEGER PRIMARY KEY,
            "text" TEXT, "userID" INTEGER); INSERT INTO Note SELECT id, 'X', userID FROM copy
            """,
        ])
    func localWrites(_ sql: String) async throws {
        let plain = try DataStack.inMemory(Self.model(fingerprints: false))
        let kept = try DataStack.inMemory(Self.model())
        for stack in [plain, kept] {
            try await sync(payload, stack)
            try await stack.write { try $0.execute(sql: sql) }
        }
        let (expected, found) = (try await sync(payload, plain), try await sync(payload, kept))
        #expect(!found.isEmpty)
        #expect(found == expected)
        for table in ["User", "Note", "Company"] {
            let rows = try [plain, kept].map { stack in
                try stack.read { try Row.fetchAll($0, sql: "SELECT * FROM \(table)") }
            }
            #expect(rows[0] == rows[1])
        }
    }

    @Test("A trigger of ours that was away meanwhile is seen")
    func triggersAway() async throws {
        let stack = try DataStack.inMemory(Self.model())
        try await sync(payload, stack)
        try await stack.write { db in
            let triggers = try Row.fetchAll(
                db,
                sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'sync_written_User_*'")
            #expect(!triggers.isEmpty)
            for trigger in triggers { try db.execute(sql: "DROP TRIGGER \(trigger[0] as String)") }
            try db.execute(sql: "UPDATE User SET name = 'X' WHERE id = 1")
            for trigger in triggers { try db.execute(sql: trigger[1]) }
        }
        #expect(try await sync(payload, stack)["User"].updated.map(\.key) == [.integer(1)])
    }

    @Test("Somebody who forgets what was written leaves a note of it")
    func forgotten() async throws {
        let stack = try DataStack.inMemory(Self.model())
        try await sync(payload, stack)
        try await stack.write { db in
            try db.execute(sql: "UPDATE User SET name = 'X' WHERE id = 1")
            for _ in 1...2 { try db.execute(sql: "DELETE FROM sync_written") }
        }
        #expect(try await sync(payload, stack)["User"].updated.map(\.key) == [.integer(1)])
        // As a sync does, but for the number.
        try writeAndForget(stack)
        #expect(try await sync(payload, stack)["User"].updated.map(\.key) == [.integer(1)])
    }

    private func writeAndForget(_ stack: DataStack) throws {
        try stack.write { db in
            try db.execute(sql: "INSERT INTO sync_written VALUES (-1, 0)")
            try db.execute(sql: "UPDATE User SET name = 'Y' WHERE id = 1")
            try db.execute(sql: "DELETE FROM sync_written WHERE place >= 0")
            try db.execute(sql: "DELETE FROM sync_written")
        }
    }

    @Test("A row that becomes one of another entity is seen by the records that name it")
    func otherEntity() async throws {
        for sql in [
            "UPDATE Animal SET sync_entity = 'Dog' WHERE id = 5",
            "INSERT OR REPLACE INTO Animal (id, sync_entity, name) VALUES (5, 'Dog', 'Rex')",
        ] {
            var results: [SyncResult] = []
            for fingerprints in [false, true] {
                let stack = try DataStack.inMemory(
                    SyncModel(
                        schema: Data(
                            """
                            {"entities": {
                              "Animal": {"attributes": {"id": "integer", "name": "string"}},
                              "Cat": {"parent": "Animal"}, "Dog": {"parent": "Animal"},
                              "Owner": {"fingerprints": \(fingerprints), "attributes": {"id": "integer"},
                                "relationships": {"cat": {"entity": "Cat"}}}}}
                            """.utf8)))
                try await Sync.changes(Data(#"[{"id": 5}]"#.utf8), inEntity: "Cat", stack: stack)
                let owners = Data(#"[{"id": 1, "cat_id": 5}]"#.utf8)
                for _ in 1...2 { try await Sync.changes(owners, inEntity: "Owner", stack: stack) }
                try await stack.write { try $0.execute(sql: sql) }
                results.append(try await Sync.changes(owners, inEntity: "Owner", stack: stack))
            }
            #expect(results[0].unresolved.count == 1)
            #expect(results[0] == results[1])
        }
    }

    @Test(
        "Full-text search of GRDB's beside a table is no reason to read everything; a trigger that only looks like it is"
    )
    func fullText() async throws {
        for isSearch in [true, false] {
            let stack = try DataStack.inMemory(Self.model())
            let body =
                isSearch
                ? "INSERT INTO \"search\"(\"docid\", \"name\") VALUES(new.\"rowid\", new.\"name\");"
                : "UPDATE User SET name = 'X';"
            try await stack.write { db in
                try db.execute(sql: "CREATE VIRTUAL TABLE \"search\" USING fts4(name, content=\"User\")")
                try db.execute(
                    sql: "CREATE TRIGGER \"__search_ai\" AFTER INSERT ON \"User\" BEGIN\n    \(body)\nEND")
            }
            try await sync(payload, stack)
            #expect(try count("SELECT count(*) FROM sync_fingerprint", stack) == (isSearch ? 1 : 0))
        }
    }

    private static let damages = [
        "DROP TABLE sync_fingerprints", "DROP TABLE sync_fingerprint", "DROP TABLE sync_fingerprint_seal",
        "DROP TABLE sync_written", "DELETE FROM sync_fingerprint", "DELETE FROM sync_fingerprint_seal",
        "DELETE FROM sync_fingerprints", "UPDATE sync_fingerprint SET part = part + 1",
        "UPDATE sync_fingerprint SET places = zeroblob(length(places))",
        "UPDATE sync_fingerprint SET kinds = substr(kinds, 3)", "UPDATE sync_fingerprint SET records = x''",
        "UPDATE sync_fingerprint SET checksums = x'00'", "UPDATE sync_fingerprints SET meaning = x''",
        "UPDATE sync_fingerprints SET unmapped = '['", "UPDATE sync_fingerprints SET rows = '{\"User\": 99}'",
        "UPDATE sync_fingerprints SET bytes = 99999999", "UPDATE sync_fingerprints SET entity = 'Nobody'",
        "UPDATE sync_fingerprint_seal SET schema = x'00'",
        "INSERT INTO sync_fingerprints SELECT 'Nobody', meaning, seed, bytes, unmapped, rows, checksum FROM sync_fingerprints",
        "INSERT INTO sync_fingerprint SELECT 'Nobody', part, checksums, records, places, kinds FROM sync_fingerprint",
        "ALTER TABLE sync_fingerprint DROP COLUMN kinds", "ALTER TABLE sync_fingerprints RENAME COLUMN seed TO other",
        """
        CREATE TABLE other AS SELECT entity, CAST(records AS TEXT) AS records, 'x' AS part, places, kinds, checksums
        FROM sync_fingerprint; DROP TABLE sync_fingerprint;
        CREATE TABLE sync_fingerprint AS SELECT * FROM other; DROP TABLE other
        """,
    ]

    @Test("Damaged fingerprints are made anew, with a remark", arguments: damages)
    func damage(_ sql: String) async throws {
        let stack = try DataStack.inMemory(Self.model())
        for _ in 1...2 { try await sync(payload, stack) }
        try await stack.write { try $0.execute(sql: sql) }
        let changed = payload.replacing("\"B\"", with: "\"C\"")
        let result = try await sync(changed, stack)
        #expect(result.diagnostics.map(\.kind) == [.fingerprintsDamaged])
        #expect(result["User"].updated.map(\.key) == [.integer(2)])
        #expect(try await sync(changed, stack).diagnostics.isEmpty)
        try writeUnnoticed("UPDATE User SET name = 'unnoticed' WHERE id = 1", stack)
        #expect(try await sync(changed, stack).isEmpty)
    }

    @Test(
        "Damaged fingerprints are in nobody's way: not of a sync that does without them, nor of a store that is opened")
    func damageElsewhere() async throws {
        for table in ["sync_written", "sync_fingerprint"] {
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            var stack = try DataStack(model: Self.model(), at: folder.database)
            for _ in 1...2 { try await sync(payload, stack) }
            try await stack.write { try $0.execute(sql: "DROP TABLE \(table)") }
            let two = Data(#"[{"id": 2, "name": "C"}]"#.utf8)
            let result = try await Sync.changes(two, inEntity: "User", stack: stack, predicate: .where("id == 2"))
            #expect(result["User"].updatedCount == 1)
            try stack.close()
            stack = try DataStack(model: Self.model(), at: folder.database)
            try await stack.write { db in
                try db.execute(sql: "DROP TABLE IF EXISTS \(table)")
            }
            try stack.close()
            stack = try DataStack(at: folder.database)
            try await stack.write { try $0.execute(sql: "UPDATE User SET name = 'D'") }
            #expect(try await sync(payload, stack).diagnostics.map(\.kind) == [.fingerprintsDamaged])
            try stack.close()
        }
    }

    @Test("A child that moves from a known record to a new one moves")
    func movedChild() async throws {
        let stack = try DataStack.inMemory(Self.model())
        try await sync(payload, stack)
        let moved = payload.replacing("\"notes\": []", with: "\"notes\": [{\"id\": 10, \"text\": \"a\"}]")
        try await sync(moved, stack)
        #expect(try count("SELECT userID FROM Note WHERE id = 10", stack) == 2)
    }

    @Test("What stands between known records is read as strictly as ever")
    func strictness() async throws {
        let stack = try DataStack.inMemory(Self.model())
        try await sync(payload, stack)
        for bad in [
            payload.replacing("},\n", with: "};\n"), payload + "x", String(payload.dropLast()),
            payload.replacing("},\n", with: "}\n"),
        ] {
            await #expect(throws: SyncError.self) { try await sync(bad, stack) }
        }
    }

    @Test("A unique index that others made is reason enough to read everything")
    func uniqueIndex() async throws {
        let stack = try DataStack.inMemory(Self.model())
        try await sync(payload, stack)
        try await stack.write { db in
            try db.execute(sql: "CREATE UNIQUE INDEX mine ON Company (name)")
            try db.execute(sql: "INSERT OR REPLACE INTO Company (id, name) VALUES (8, 'Seven')")
        }
        try await sync(payload.replacing("Seven", with: "7"), stack)
        #expect(try count("SELECT count(*) FROM Company WHERE id = 7", stack) == 1)
        #expect(try count("SELECT count(*) FROM User WHERE companyID = 7", stack) == 2)
    }

    @Test("A dry run says the same and leaves the store as it was")
    func dryRun() async throws {
        let stack = try DataStack.inMemory(Self.model())
        try await sync(payload, stack)
        let contents = try await stack.contents()
        let changed = payload.replacing("\"B\"", with: "\"C\"")
        let planned = try await Sync.plan(Data(changed.utf8), inEntity: "User", stack: stack)
        #expect(try await stack.contents() == contents)
        #expect(try await sync(changed, stack) == planned)
    }

    @Test("Fingerprints are turned on and off by the model a store is opened with, and do not survive another model")
    func models() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let url = folder.database
        let triggers = "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'"
        let off = try DataStack(model: Self.model(fingerprints: false), at: url)
        try await sync(payload, off)
        #expect(try count(triggers, off) == 0)
        try off.close()
        let on = try DataStack(model: Self.model(), at: url)
        try await sync(payload, on)
        #expect(try count("SELECT count(*) FROM sync_fingerprint", on) == 1)
        #expect(try count(triggers, on) > 0)
        try writeUnnoticed("UPDATE User SET name = 'unnoticed' WHERE id = 1", on)
        try on.close()
        let other = try DataStack(model: Self.model(attribute: "title"), at: url, migration: .allowingLoss)
        #expect(try count(triggers, other) == 0)
        try await sync(payload, other)
        #expect(try count("SELECT count(*) FROM User WHERE title IN ('A', 'B')", other) == 2)
        try other.close()
        let again = try DataStack(
            model: Self.model(fingerprints: false, attribute: "title"), at: url, migration: .allowingLoss)
        #expect(try count(triggers + " OR name GLOB 'sync_fingerprint*' OR name = 'sync_written'", again) == 0)
        try again.close()
    }

    @Test("Dropping all rows forgets the fingerprints")
    func drop() async throws {
        let stack = try DataStack.inMemory(Self.model())
        try await sync(payload, stack)
        try stack.drop()
        #expect(try await sync(payload, stack)["User"].insertedCount == 2)
    }

    @Test("A record reports its problems every time")
    func diagnostics() async throws {
        let stack = try DataStack.inMemory(Self.model())
        let odd = payload.replacing("\"B\"", with: "[]")
        let first = try await sync(odd, stack)
        #expect(first.diagnostics.count == 1)
        #expect(try await sync(odd, stack).diagnostics == first.diagnostics)
    }
}
