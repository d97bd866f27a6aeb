import Foundation
import GRDB
import Sync
import SyncTools
import Testing

/// Links to rows that are not stored, left by a connection with foreign keys off.
@Suite("Dangling links")
struct DanglingLinkTests {
    /// A store in a file, with helpers that damage and read it.
    private final class Store {
        let folder: TemporaryFolder
        let stack: DataStack

        init() throws {
            folder = try TemporaryFolder()
            stack = try DataStack(
                model: SyncModel(
                    schemaData: Data(
                        """
                        {"entities": {
                          "User": {"attributes": {"id": "integer", "name": "string"},
                            "relationships": {
                              "company": {"entity": "Company", "inverse": "users"},
                              "boss": {"entity": "User", "inverse": "team"},
                              "team": {"entity": "User", "many": true, "inverse": "boss"},
                              "friends": {"entity": "User", "many": true, "inverse": "friends"},
                              "home": {"entity": "Address"},
                              "phones": {"entity": "Phone", "many": true, "inverse": "user"},
                              "notes": {"entity": "Note", "many": true, "ordered": true, "inverse": "user",
                                "deleteRule": "cascade"},
                              "tags": {"entity": "Tag", "many": true, "ordered": true, "inverse": "users"}}},
                          "Company": {"attributes": {"id": "integer"},
                            "relationships": {"users": {"entity": "User", "many": true}}},
                          "Permit": {"attributes": {"id": "integer"},
                            "relationships": {"holder": {"entity": "User", "deleteRule": "deny"}}},
                          "Address": {"attributes": {"street": "string"}},
                          "Phone": {"attributes": {"number": "string"}, "relationships": {"user": {"entity": "User"}}},
                          "Note": {"attributes": {"id": "integer"}, "relationships": {"user": {"entity": "User"}}},
                          "Tag": {"attributes": {"id": "string"},
                            "relationships": {"users": {"entity": "User", "many": true}}}}}
                        """.utf8)), at: folder.database)
        }

        deinit {
            try? stack.close()
            folder.remove()
        }

        @discardableResult
        func sync(_ text: String, _ entity: String = "User", _ kind: PayloadKind = .snapshot) async throws -> SyncResult
        {
            var options = SyncOptions(scope: .all)
            options.payloadKind = kind
            return try await Sync.changes(Data(text.utf8), inEntity: entity, stack: stack, options: options)
        }

        /// Returns the keys of the rows linked to a user, in order.
        func targets(of id: JSONValue, _ relationship: String) throws -> [String] {
            let user = try #require(try stack.fetch("User", id: id))
            return try stack.fetchRelated(relationship, of: user).map { "\($0.key)" }
        }

        /// Executes SQL on a connection with foreign keys off.
        func leaveDangling(_ sql: String) throws {
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            configuration.busyMode = .timeout(5)
            let other = try DatabaseQueue(path: folder.database.path, configuration: configuration)
            try other.write { try $0.execute(sql: sql) }
            try other.close()
        }

        func rows(_ sql: String) throws -> [String] {
            try stack.read { db in
                try Row.fetchAll(db, sql: sql).map { $0.databaseValues.map(\.description).joined(separator: " ") }
            }
        }

        func dangling() throws -> [String] { try rows("PRAGMA foreign_key_check") }
    }

    private let users = """
        [{"id": 1, "name": "A", "company": {"id": 7}, "boss_id": 2, "friends": [2], "tags": [{"id": "x"}, {"id": "y"}],
          "notes": [{"id": 10}, {"id": 11}], "home": {"street": "s"}, "phones": [{"number": "1"}, {"number": "2"}]},
         {"id": 2, "name": "B", "company": {"id": 7}, "tags": [{"id": "y"}, {"id": "x"}], "notes": [{"id": 12}],
          "phones": [{"number": "3"}]}]
        """

    private static let damages = [
        "DELETE FROM User WHERE id = 1", "DELETE FROM User WHERE id = 2", "DELETE FROM User", "DELETE FROM Tag",
        "DELETE FROM Tag WHERE id = 'x'", "DELETE FROM Company", "DELETE FROM Note", "DELETE FROM Phone",
        "DELETE FROM Address", "DELETE FROM User; DELETE FROM Tag", "UPDATE User SET id = 9 WHERE id = 1",
        "UPDATE Tag SET id = 'z' WHERE id = 'x'", "DELETE FROM Company; DELETE FROM User WHERE id = 2",
    ]

    @Test(
        "A snapshot restores rows that were deleted with foreign keys off, and leaves no dangling link",
        arguments: damages)
    func snapshotRestoresDeletedRows(_ damage: String) async throws {
        let (fresh, store) = (try Store(), try Store())
        try await fresh.sync(users)
        for _ in 1...2 { try await store.sync(users) }
        try store.leaveDangling(damage)
        try await store.sync(users)
        #expect(try store.dangling() == [])
        #expect(try await store.sync(users).isEmpty)
        for sql in [
            "SELECT id, name, companyID, bossID FROM User ORDER BY 1", "SELECT * FROM Company",
            "SELECT * FROM Note ORDER BY 1",
            "SELECT number, userID FROM Phone ORDER BY 1",
            "SELECT User.id, street FROM User LEFT JOIN Address ON sync_id = homeID ORDER BY 1",
            "SELECT * FROM User_friends ORDER BY 1, 2",
        ] { #expect(try store.rows(sql) == fresh.rows(sql), "\(sql)") }
        for id: JSONValue in [1, 2] { #expect(try store.targets(of: id, "tags") == fresh.targets(of: id, "tags")) }
    }

    @Test("A delta of one record restores its links, and leaves no dangling link", arguments: damages)
    func deltaRestoresItsLinks(_ damage: String) async throws {
        let store = try Store()
        for _ in 1...2 { try await store.sync(users) }
        try store.leaveDangling(damage)
        let one = #"[{"id": 1, "tags": [{"id": "y"}, {"id": "x"}], "notes": [{"id": 11}]}]"#
        try await store.sync(one, "User", .delta)
        #expect(try store.dangling() == [])
        #expect(try store.rows("SELECT id FROM Note WHERE userID = 1") == ["11"])
        #expect(try store.targets(of: 1, "tags") == ["y", "x"])
        #expect(try await store.sync(one, "User", .delta).isEmpty)
    }

    @Test("A reinserted row has none of its earlier links", arguments: [false, true])
    func reinsertedRowHasNoEarlierLinks(byHand: Bool) async throws {
        let store = try Store()
        try await store.sync(users)
        try store.leaveDangling("DELETE FROM User WHERE id = 2")
        if byHand {
            try await Sync.insertOrUpdate(["id": 2], inEntity: "User", stack: store.stack)
        } else {
            try await store.sync(#"[{"id": 2}]"#, "User", .delta)
        }
        #expect(try store.dangling() == [])
        for relationship in ["tags", "notes", "team", "friends", "phones"] {
            #expect(try store.targets(of: 2, relationship) == [], "\(relationship)")
        }
        #expect(try store.rows("SELECT id, userID FROM Note WHERE id = 12") == ["12 NULL"])
        #expect(try store.rows("SELECT bossID FROM User WHERE id = 1") == ["NULL"])
    }

    @Test("A row that is inserted or gets its key by a single-row call has none of the key's earlier links")
    func singleRowCallsRestoreNoLinks() async throws {
        let store = try Store()
        try await store.sync(users)
        try store.leaveDangling("DELETE FROM User WHERE id = 2; DELETE FROM Tag WHERE id = 'x'")
        try await store.stack.insert("User", values: ["id": 2])
        #expect(try store.targets(of: 2, "tags") == [])
        try await Sync.update(id: "y", with: ["id": "x"], inEntity: "Tag", stack: store.stack)
        #expect(try store.dangling() == [])
        #expect(try store.rows("SELECT * FROM Note WHERE userID = 2") == [])
        #expect(try store.rows("SELECT count(*) FROM Tag_users WHERE userID = 2") == ["0"])
    }

    @Test("Removed dangling links are reported as updates of their rows and as a diagnostic")
    func removedLinksAreReported() async throws {
        let store = try Store()
        try await store.sync(users)
        try store.leaveDangling("DELETE FROM Company")
        let result = try await store.sync(#"[{"id": 1}]"#, "User", .delta)
        #expect(result["User"].updated.map(\.key) == [.integer(1), .integer(2)])
        #expect(result["User"].updated.allSatisfy { $0.changedAttributes == ["company"] })
        #expect(result.diagnostics.map(\.kind) == [.danglingLinks])
        #expect(result.diagnostics.first?.message.hasPrefix("2 dangling links of User.company") == true)
        #expect(try await store.sync(#"[{"id": 1}]"#, "User", .delta).isEmpty)
    }

    @Test(
        "A row deleted with foreign keys off on the connection of the stack has none of its links when it arrives again",
        arguments: [false, true])
    func ownConnectionLeavesDanglingLinks(inMigration: Bool) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let pool = try DatabasePool(path: folder.database.path)
        let stack = try DataStack(model: Fixtures.model("company"), in: pool)
        let (users, companies): (JSONValue, JSONValue) = (
            [["id": 1, "company": ["id": 7]], ["id": 2]], [["id": 7]]
        )
        for _ in 1...2 { try await Sync.changes(users, inEntity: "User", stack: stack) }
        if inMigration {
            var migrator = DatabaseMigrator().disablingDeferredForeignKeyChecks()
            migrator.registerMigration("companies") { db in try db.execute(sql: "DELETE FROM Company") }
            try migrator.migrate(pool)
        } else {
            try await pool.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA foreign_keys = OFF; DELETE FROM Company; PRAGMA foreign_keys = ON")
            }
        }
        let result = try await Sync.changes(companies, inEntity: "Company", stack: stack)
        #expect(result.diagnostics.map(\.kind) == [.danglingLinks])
        #expect(result["User"].updated.map(\.key) == [.integer(1)])
        #expect(try await pool.read { db in try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty })
        let linked = try await pool.read { db in try Int.fetchOne(db, sql: "SELECT count(companyID) FROM User") }
        #expect(linked == 0)
    }

    @Test("A dangling link does not deny a deletion")
    func danglingLinkDeniesNoDeletion() async throws {
        let store = try Store()
        try await store.sync(#"[{"id": 1, "holder": {"id": 5}}]"#, "Permit")
        await #expect(throws: SyncError.self) { try await store.sync("[]", "Permit") }
        try store.leaveDangling("DELETE FROM User")
        try await store.sync("[]", "Permit")
        #expect(try store.rows("SELECT count(*) FROM Permit") == ["0"])
    }

    @Test("A keyless row is deleted if its last owner was deleted with foreign keys off")
    func orphanIsDeleted() async throws {
        let store = try Store()
        try await store.sync(users)
        try store.leaveDangling("DELETE FROM User WHERE id = 1")
        let result = try await store.sync(#"[{"id": 2, "name": "B"}]"#, "User", .delta)
        #expect(result["Phone"].deletedCount == 2)
        #expect(try store.rows("SELECT CAST(number AS INTEGER) FROM Phone") == ["3"])
    }

    @Test("A reinserted row has none of its earlier pending references")
    func reinsertedRowHasNoPendingReferences() async throws {
        let store = try Store()
        try await store.sync(#"[{"id": 1, "company_id": 8, "tag_ids": ["z"]}]"#)
        try store.leaveDangling("DELETE FROM User")
        try await store.sync(#"[{"id": 1}]"#)
        try await store.sync(#"[{"id": 8}]"#, "Company")
        try await store.sync(#"[{"id": "z"}]"#, "Tag")
        #expect(try store.rows("SELECT companyID FROM User") == ["NULL"])
        #expect(try store.rows("SELECT count(*) FROM Tag_users") == ["0"])
    }

    @Test("Pages of a paged import leave no dangling link")
    func pagesLeaveNoDanglingLink() async throws {
        let store = try Store()
        try await store.sync(users)
        try store.leaveDangling("DELETE FROM User WHERE id = 1; DELETE FROM Tag")
        let run = PagedImport()
        for id in [2, 1] {
            try await store.sync(#"[{"id": \#(id), "tags": [{"id": "x"}]}]"#, "User", .page(of: run))
            #expect(try store.dangling() == [])
        }
        try await run.finish()
        #expect(try store.rows("SELECT userID FROM Tag_users WHERE tagID = 'x' ORDER BY 1") == ["1", "2"])
    }

    @Test("A plan gives the result of the sync and leaves dangling links in place")
    func planLeavesDanglingLinks() async throws {
        let store = try Store()
        try await store.sync(users)
        try store.leaveDangling("DELETE FROM User WHERE id = 1")
        let before = try store.dangling()
        #expect(!before.isEmpty)
        let planned = try await Sync.plan(Data(users.utf8), inEntity: "User", stack: store.stack)
        #expect(try store.dangling() == before)
        #expect(try await store.sync(users) == planned)
        #expect(try store.dangling() == [])
    }

    @Test("A store with dangling links can be read, exported and validated")
    func storeStaysReadable() async throws {
        let store = try Store()
        try await store.sync(users)
        try store.leaveDangling("DELETE FROM User WHERE id = 2; DELETE FROM Company; DELETE FROM Tag WHERE id = 'x'")
        #expect(try await store.stack.fetch("User").count == 1)
        #expect(try store.targets(of: 1, "company") == [])
        let exported = try await store.stack.export("User")
        #expect(exported.count == 1)
        let findings = try await store.stack.validate().filter { $0.kind == .danglingLinks }
        #expect(!findings.isEmpty && findings.allSatisfy { $0.suggestion?.hasPrefix("an import") ?? false })
    }

    @Test("A unique index of another program holds for the final rows of a sync, not for each step")
    func uniqueIndexHoldsForFinalRows() async throws {
        let store = try Store()
        for _ in 1...2 { try await store.sync(users) }
        try await store.stack.write { try $0.execute(sql: "CREATE UNIQUE INDEX mine ON User (name)") }
        try await store.sync(#"[{"id": 1, "name": "B"}, {"id": 2, "name": "A"}]"#)
        try await store.sync(#"[{"id": 3, "name": "B"}, {"id": 2, "name": "A"}]"#)
        #expect(try store.rows("SELECT id, name FROM User ORDER BY 1") == ["2 \"A\"", "3 \"B\""])
        await #expect(throws: (any Error).self) {
            try await store.sync(#"[{"id": 3, "name": "B"}, {"id": 2, "name": "B"}]"#)
        }
        #expect(try store.rows("SELECT name FROM sqlite_schema WHERE name = 'mine'") == ["\"mine\""])
    }
}
