import Foundation
import GRDB
import Sync
import Testing

/// Tables that are not in the model, and reference rows that a sync deletes.
@Suite("References from tables outside the model")
struct OutsideReferenceTests {
    /// Whether the stack syncs into tables of the app, or into tables of its own beside them.
    enum Tables: CaseIterable { case existing, own }

    private struct App {
        let queue: DatabaseQueue
        let stack: DataStack

        /// - Parameter action: The end of the declaration of the foreign key of `session`.
        init(_ tables: Tables, _ action: String, sessions: Int = 3) async throws {
            let schema = #"{"entities": {"Book": {"attributes": {"id": "integer", "title": "string"}}}}"#
            let model = try SyncModel(schemaData: Data(schema.utf8))
            queue = try DatabaseQueue()
            switch tables {
            case .existing:
                try await queue.write { db in
                    try db.execute(sql: #"CREATE TABLE "Book" (id INTEGER PRIMARY KEY, title TEXT)"#)
                }
                stack = try DataStack(model: model, existingTablesIn: queue)
            case .own: stack = try DataStack(model: model, in: queue)
            }
            try await Sync.changes(OutsideReferenceTests.books(1...3), inEntity: "Book", stack: stack)
            try await queue.write { db in
                try db.execute(
                    sql:
                        #"CREATE TABLE session (id INTEGER PRIMARY KEY, book_id INTEGER REFERENCES "Book" (id) \#(action))"#
                )
                for id in 1...sessions {
                    try db.execute(sql: "INSERT INTO session VALUES (?, ?)", arguments: [id, id == 1 ? 1 : 2])
                }
            }
        }

        func rows(_ sql: String) async throws -> [String] {
            try await queue.read { db in
                try Row.fetchAll(db, sql: sql).map { $0.databaseValues.map(\.description).joined(separator: " ") }
            }
        }
    }

    private static func books(_ ids: ClosedRange<Int>) -> JSONValue {
        .array(ids.map { ["id": JSONValue($0), "title": "t"] })
    }

    @Test(
        "A row that a foreign key still references is not deleted, and the error names both rows",
        arguments: Tables.allCases,
        ["", "ON DELETE RESTRICT", "ON DELETE NO ACTION DEFERRABLE INITIALLY DEFERRED"])
    func denied(_ tables: Tables, _ action: String) async throws {
        let app = try await App(tables, action)
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes([["id": 1, "title": "new"]], inEntity: "Book", stack: app.stack)
        }
        #expect(error?.code == .deletionDenied)
        #expect(error?.entity == "Book")
        #expect(
            error?.message
                == "cannot delete Book 2: session row 2 references it by book_id, and 1 more row of session references deleted rows"
        )
        #expect(try await app.rows(#"SELECT id, title FROM "Book""#) == ["1 \"t\"", "2 \"t\"", "3 \"t\""])
        await #expect(throws: SyncError.self) { try await Sync.delete(id: 2, inEntity: "Book", stack: app.stack) }
        try await Sync.delete(id: 3, inEntity: "Book", stack: app.stack)
        #expect(try await app.rows(#"SELECT id FROM "Book""#) == ["1", "2"])
    }

    @Test(
        "A plan lists the deletions that foreign keys deny, so that the app can delete the rows",
        arguments: Tables.allCases)
    func plan(_ tables: Tables) async throws {
        let app = try await App(tables, "")
        let json = Self.books(1...1)
        try await app.queue.write { db in
            let plan = try Sync.plan(json, inEntity: "Book", stack: app.stack, in: db)
            #expect(plan.diagnostics.map(\.kind) == [.deniedDeletion])
            #expect(plan.diagnostics.first?.key == "2")
            #expect(plan.diagnostics.first?.path == "tables.session.book_id")
            for key in plan["Book"].deleted {
                try db.execute(sql: "DELETE FROM session WHERE book_id = ?", arguments: [key.json.int])
            }
            let result = try Sync.changes(json, inEntity: "Book", stack: app.stack, in: db)
            #expect(result["Book"].deletedCount == 2)
            #expect(result.diagnostics.isEmpty)
        }
        #expect(try await app.rows("SELECT id, book_id FROM session") == ["1 1"])
    }

    @Test("A foreign key with CASCADE or SET NULL is reported", arguments: Tables.allCases)
    func reported(_ tables: Tables) async throws {
        for (action, verb) in [("CASCADE", "deleted"), ("SET NULL", "changed")] {
            let app = try await App(tables, "ON DELETE \(action)")
            let plan = try await Sync.plan(Self.books(1...1), inEntity: "Book", stack: app.stack)
            let result = try await Sync.changes(Self.books(1...1), inEntity: "Book", stack: app.stack)
            for found in [plan, result] {
                #expect(found.diagnostics.count == 1)
                let diagnostic = try #require(found.diagnostics.first)
                #expect(diagnostic.kind == .foreignKeyAction)
                #expect(diagnostic.entity == "Book" && diagnostic.key == "2")
                #expect(diagnostic.message.hasSuffix("\(verb) 2 rows of session, which is not in the model"))
            }
            #expect(
                try await app.rows("SELECT id, book_id FROM session")
                    == (action == "CASCADE" ? ["1 1"] : ["1 1", "2 NULL", "3 NULL"]))
            #expect(try await Sync.changes(Self.books(1...1), inEntity: "Book", stack: app.stack).diagnostics.isEmpty)
        }
    }

    @Test("The deletion limit counts the rows that foreign keys delete", arguments: Tables.allCases)
    func limit(_ tables: Tables) async throws {
        let app = try await App(tables, "ON DELETE CASCADE", sessions: 20)
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(Self.books(1...1), inEntity: "Book", stack: app.stack)
        }
        #expect(error?.code == .deletionLimitExceeded)
        #expect(
            error?.message
                == "foreign keys would delete 19 of 20 rows of the table session, more than the 10 allowed; nothing was written"
        )
        #expect(try await app.rows("SELECT count(*) FROM session") == ["20"])
        var options = SyncOptions()
        options.deletionLimit = .rows(19)
        try await Sync.changes(Self.books(1...1), inEntity: "Book", stack: app.stack, options: options)
        #expect(try await app.rows("SELECT count(*) FROM session") == ["1"])
    }

    @Test("A foreign key to a unique column that is not the key denies deletions too")
    func uniqueColumn() async throws {
        let app = try await App(.existing, "ON DELETE CASCADE")
        try await app.queue.write { db in
            try db.execute(
                sql: """
                    UPDATE "Book" SET title = 't' || id;
                    CREATE UNIQUE INDEX titles ON "Book" (title);
                    CREATE TABLE note (title TEXT REFERENCES "Book" (title));
                    INSERT INTO note VALUES ('t3')
                    """)
        }
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes([["id": 1, "title": "t1"]], inEntity: "Book", stack: app.stack)
        }
        #expect(error?.message == "cannot delete Book rows: note row 1 references them by title")
    }
}
