import Foundation
import GRDB
import Sync
import Testing

@Suite("Stores with existing tables")
struct ExistingTablesStoreTests {
    private func adopted(_ queue: DatabaseQueue) throws -> DataStack {
        try DataStack(model: AppTables.model(), existingTablesIn: queue)
    }

    private func texts(_ keys: [PrimaryKeyValue]) -> [String] { keys.map { "\($0)" } }

    // MARK: Syncing

    @Test("Existing tables are synced, and records of the app read the rows")
    func recordsOfTheAppReadRows() async throws {
        let queue = try AppTables.database()
        let before = try queue.appSchema()
        let stack = try adopted(queue)
        let result = try await Sync.changes(AppTables.day1, inEntity: "Post", stack: stack)
        #expect(texts(result["Post"].inserted) == ["1", "2", "3"] && texts(result["Author"].inserted) == ["7", "8"])
        #expect(try await Sync.changes(AppTables.day1, inEntity: "Post", stack: stack).isEmpty)
        let posts = try await queue.read { db in try AppTables.Post.order(Column("id")).fetchAll(db) }
        #expect(posts.map(\.post_title) == ["On the engine", "A-0", "Bugs"])
        #expect(posts.map(\.author_id) == [7, 8, 8])
        #expect(abs((posts[0].published_at?.timeIntervalSince1970 ?? 0) - 1_709_231_399.999) < 0.001)
        #expect(try queue.lines("SELECT * FROM post_tags ORDER BY 1, 2") == ["1 a", "1 b", "2 a"])
        #expect(try queue.lines("SELECT code, color FROM tags ORDER BY 1") == ["a grey", "b grey"])
        #expect(try queue.appSchema() == before)
    }

    @Test("A sync keeps the values of columns that only the app uses")
    func extraColumnsAreKept() async throws {
        let queue = try AppTables.database()
        let stack = try adopted(queue)
        try await Sync.changes(AppTables.day1, inEntity: "Post", stack: stack)
        try await queue.write { db in
            try db.execute(sql: "UPDATE blog_posts SET is_read = 1")
            try db.execute(sql: "UPDATE authors SET local_note = 'call ' || full_name")
            try db.execute(sql: "UPDATE tags SET color = 'red'")
        }
        #expect(try await Sync.changes(AppTables.day1, inEntity: "Post", stack: stack).isEmpty)
        let result = try await Sync.changes(AppTables.day2, inEntity: "Post", stack: stack)
        #expect(texts(result["Post"].inserted) == ["4"] && texts(result["Post"].deleted) == ["2"])
        #expect(
            try queue.lines("SELECT id, post_title, author_id, is_read FROM blog_posts ORDER BY id")
                == ["1 On the engines 7 1", "3 Bugs 7 1", "4 New 9 0"])
        #expect(
            try queue.lines("SELECT id, full_name, local_note FROM authors ORDER BY id")
                == ["7 Ada L. call Ada", "8 Grace call Grace", "9 Edsger -"])
        #expect(try queue.lines("SELECT * FROM post_tags ORDER BY 1, 2") == ["1 b", "3 a"])
        #expect(try queue.lines("SELECT DISTINCT color FROM tags") == ["red"])
    }

    @Test("Existing tables give the results of a store's own tables")
    func resultsEqualOwnTables() async throws {
        let adopted = try adopted(AppTables.database())
        let own = try DataStack.inMemory(AppTables.model())
        for payload in [AppTables.day1, AppTables.day2, AppTables.day1, Data("[]".utf8)] {
            let wanted = try await Sync.changes(payload, inEntity: "Post", stack: own)
            #expect(try await Sync.plan(payload, inEntity: "Post", stack: adopted) == wanted)
            #expect(try await Sync.changes(payload, inEntity: "Post", stack: adopted) == wanted)
            for entity in ["Post", "Author", "Tag"] {
                let rows = try await adopted.export(entity).map { "\($0)" }
                #expect(try await rows == own.export(entity).map { "\($0)" })
            }
            let condition = "author.fullName BEGINSWITH 'A' AND tags.@count < 2"
            let found = try await adopted.fetch(
                "Post", where: .where(condition), orderedBy: ["author.fullName", "-title"])
            let wantedRows = try await own.fetch(
                "Post", where: .where(condition), orderedBy: ["author.fullName", "-title"])
            #expect(found == wantedRows)
        }
        try adopted.deleteAllRows()
        #expect(try await adopted.count("Author") == 0)
    }

    @Test("Existing tables have pending references, unless the foreign key is NOT NULL")
    func pendingReferences() async throws {
        let queue = try AppTables.database()
        try await queue.write { db in
            try db.execute(sql: "INSERT INTO authors (id, full_name) VALUES (1, 'there')")
        }
        let stack = try adopted(queue)
        try await Sync.changes(
            Data(#"[{"id": 1, "title": "x", "author_id": 1, "tag_ids": ["late"]}]"#.utf8), inEntity: "Post",
            stack: stack)
        #expect(try queue.lines("SELECT count(*) FROM post_tags") == ["0"])
        try await Sync.changes(Data(#"[{"code": "late"}]"#.utf8), inEntity: "Tag", stack: stack)
        #expect(try queue.lines("SELECT * FROM post_tags") == ["1 late"])
        // The column is NOT NULL, so a row without an author cannot be inserted.
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(
                Data(#"[{"id": 2, "title": "y", "author_id": 99}]"#.utf8), inEntity: "Post", stack: stack)
        }
        #expect(error?.code == .databaseError)
        #expect(error?.description.contains("NOT NULL constraint failed: blog_posts.author_id") ?? false)
        #expect(try queue.lines("SELECT id FROM blog_posts") == ["1"])
    }

    // MARK: Transactions and single rows

    @Test("A sync in a transaction of the app defers foreign keys only while it runs")
    func deferredForeignKeys() async throws {
        let queue = try AppTables.database()
        let stack = try adopted(queue)
        try await queue.write { db in
            try Sync.changes(AppTables.day1, inEntity: "Post", stack: stack, in: db)
            #expect(try Bool.fetchOne(db, sql: "PRAGMA defer_foreign_keys") == false)
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "UPDATE blog_posts SET author_id = 1000 WHERE id = 1")
            }
            try stack.update("Author", id: 7, with: ["id": 70], in: db)
            try stack.insertOrUpdate(
                "Post", with: ["id": 5, "title": "z", "author": ["id": 71, "full_name": "B"]], in: db)
            try stack.delete("Author", id: 8, in: db)
            #expect(try Bool.fetchOne(db, sql: "PRAGMA defer_foreign_keys") == false)
        }
        #expect(try queue.lines("SELECT id, author_id FROM blog_posts ORDER BY id") == ["1 70", "5 71"])
    }

    @Test("An observation reports syncs and writes of the app")
    func writesOfTheAppAreObserved() async throws {
        let queue = try AppTables.database()
        let stack = try adopted(queue)
        var lists = stack.observe("Post", orderedBy: "title").makeAsyncIterator()
        #expect(try await lists.next()?.count == 0)
        try await Sync.changes(AppTables.day1, inEntity: "Post", stack: stack)
        #expect(try await lists.next()?.map { $0["title"]?.string } == ["A-0", "Bugs", "On the engine"])
        try await queue.write { db in try db.execute(sql: "UPDATE blog_posts SET post_title = 'B' WHERE id = 2") }
        #expect(try await lists.next()?.map { $0["title"]?.string } == ["B", "Bugs", "On the engine"])
    }

    // MARK: Composite keys

    @Test("Rows with composite keys keep their pending references through VACUUM")
    func compositeKeysOutlastVacuum() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE owners (id INTEGER PRIMARY KEY);
                    CREATE TABLE repos (
                      owner TEXT NOT NULL, name TEXT NOT NULL, stars INTEGER, seen INTEGER NOT NULL DEFAULT 0,
                      owner_id INTEGER REFERENCES owners, PRIMARY KEY (owner, name));
                    """)
        }
        let model = try SyncModel(
            schemaData: Data(
                #"""
                { "entities": {
                    "Owner": { "table": "owners", "attributes": { "id": "integer" },
                      "relationships": { "repos": { "entity": "Repo", "many": true, "inverse": "owned" } } },
                    "Repo": { "table": "repos", "primaryKey": ["owner", "name"],
                      "attributes": { "owner": "string", "name": "string", "stars": "integer" },
                      "relationships": { "owned": { "entity": "Owner", "inverse": "repos", "column": "owner_id" } } } } }
                """#.utf8))
        let stack = try DataStack(model: model, existingTablesIn: queue)
        func repos(_ names: String...) -> Data {
            let records = names.map { #"{"owner": "a", "name": "\#($0)", "stars": 1, "owned_id": \#($0.count)}"# }
            return Data("[\(records.joined(separator: ", "))]".utf8)
        }
        try await Sync.changes(repos("x", "yy", "zzz"), inEntity: "Repo", stack: stack)
        try await queue.write { db in try db.execute(sql: "UPDATE repos SET seen = 1") }
        let result = try await Sync.changes(repos("yy", "zzz", "wwww"), inEntity: "Repo", stack: stack)
        #expect(result["Repo"].inserted == [.composite([.text("a"), .text("wwww")])])
        #expect(result["Repo"].deleted == [.composite([.text("a"), .text("x")])])
        try await queue.vacuum()
        try await Sync.changes(Data(#"[{"id": 3}, {"id": 2}]"#.utf8), inEntity: "Owner", stack: stack)
        #expect(
            try queue.lines("SELECT name, seen, owner_id FROM repos ORDER BY name")
                == ["wwww 0 -", "yy 1 2", "zzz 1 3"])
        #expect(try await Sync.changes(repos("yy", "zzz", "wwww"), inEntity: "Repo", stack: stack).isEmpty)
    }
}
