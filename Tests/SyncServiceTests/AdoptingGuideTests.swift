import Foundation
import GRDB
import Sync
import Testing

// MARK: - Before and after

struct BlogPost: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "blog_posts"
    var id: Int64
    var title: String
    var subtitle: String?
}

/// Before.
func update(_ json: Data, in db: Database) throws {
    let posts = try JSONDecoder().decode([BlogPost].self, from: json)
    for post in posts { try post.upsert(db) }
    try BlogPost.filter(!posts.map(\.id).contains(Column("id"))).deleteAll(db)
}

/// After. `BlogPost` stays, and reads the rows.
func sync(_ json: Data, _ stack: DataStack, in db: Database) throws {
    try Sync.changes(json, inEntity: "BlogPost", stack: stack, in: db)
}

/// Syncs records in which a missing subtitle means null.
func syncWithNulls(_ json: Data, _ stack: DataStack, in db: Database) throws {
    let nulls: [String: Any] = ["subtitle": NSNull()]
    guard let records = try? JSONSerialization.jsonObject(with: json) as? [[String: Any]] else {
        try Sync.changes(json, inEntity: "BlogPost", stack: stack, in: db)  // not a list: Sync reports the error
        return
    }
    try Sync.changes(records.map { nulls.merging($0) { $1 } }, inEntity: "BlogPost", stack: stack, in: db)
}

/// Deletes the rows of a local table that reference posts to be deleted, and syncs.
func syncPosts(_ json: Data, _ stack: DataStack, in db: Database) throws {
    let plan = try Sync.plan(json, inEntity: "BlogPost", stack: stack, in: db)
    for key in plan["BlogPost"].deleted {
        try db.execute(sql: "DELETE FROM visits WHERE post_id = ?", arguments: [key.json.int])
    }
    try Sync.changes(json, inEntity: "BlogPost", stack: stack, in: db)
}

// MARK: - Tests

/// The code and the rules of `Docs/AdoptingInAnApp.md` about existing tables.
@Suite("Guide to existing tables")
struct AdoptingGuideTests {
    private static let schema = """
        {"entities": {
          "Author": {"table": "authors", "attributes": {"id": "integer", "name": "string"},
            "relationships": {"blogPosts": {"entity": "BlogPost", "many": true, "inverse": "author"}}},
          "BlogPost": {"table": "blog_posts",
            "attributes": {"id": "integer", "title": {"type": "string", "optional": false}, "subtitle": "string",
              "slug": "string", "published": "string"},
            "relationships": {"author": {"entity": "Author", "inverse": "blogPosts", "column": "author_id"}}}}}
        """
    private let queue: DatabaseQueue
    private let stack: DataStack

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE blog_posts (id INTEGER PRIMARY KEY, title TEXT NOT NULL, subtitle TEXT,
                      slug TEXT UNIQUE, published TEXT, author_id INTEGER REFERENCES authors(id));
                    INSERT INTO authors VALUES (7, 'Ada');
                    INSERT INTO blog_posts VALUES (1, 'A', 'a', 's1', '2024-02-29', 7), (2, 'B', 'b', 's2', NULL, 7);
                    """)
        }
        stack = try DataStack(model: SyncModel(schemaData: Data(Self.schema.utf8)), existingTablesIn: queue)
    }

    private func subtitles() throws -> [String?] {
        try queue.read { db in try BlogPost.order(Column("id")).fetchAll(db).map(\.subtitle) }
    }

    private func changes(_ json: String) throws -> SyncResult {
        try queue.write { db in try Sync.changes(Data(json.utf8), inEntity: "BlogPost", stack: stack, in: db) }
    }

    @Test("The page shows code of this file")
    func shown() throws {
        let fences = try GuidePage("AdoptingInAnApp.md").fences.filter { $0.file != "main.swift" }
        #expect(!fences.isEmpty)
        for fence in fences { #expect(try GuidePage.source(fence.file).contains(fence.text), "\(fence.text)") }
    }

    @Test("A missing key keeps the value, unless the app adds a null")
    func missingKeys() throws {
        let json = Data(#"[{"id": 1, "title": "A"}, {"id": 3, "title": "C"}]"#.utf8)
        try queue.write { db in try sync(json, stack, in: db) }
        #expect(try subtitles() == ["a", nil])
        try queue.write { db in try syncWithNulls(json, stack, in: db) }
        #expect(try subtitles() == [nil, nil])
        try queue.write { db in try update(json, in: db) }
        #expect(try subtitles() == [nil, nil])
        for other in [#"{"message": "Bad credentials"}"#, #"[{"id": 1"#] {
            #expect(throws: SyncError.self) {
                try queue.write { db in try syncWithNulls(Data(other.utf8), stack, in: db) }
            }
        }
        #expect(try subtitles() == [nil, nil])
    }

    @Test("Null for a column that is NOT NULL is ignored")
    func requiredValues() throws {
        let result = try changes(#"[{"id": 1, "title": null}, {"id": 2}]"#)
        #expect(result.isEmpty && result.diagnostics.isEmpty)
        let inserted = try changes(#"[{"id": 1}, {"id": 2}, {"id": 3, "title": null}]"#)
        #expect(inserted.diagnostics.map(\.kind) == [.missingRequiredValue])
    }

    @Test("An object without a key is the row that the owner has")
    func objectWithoutKey() throws {
        let result = try changes(#"[{"id": 1, "author": {"name": "Grace"}}, {"id": 2}]"#)
        #expect(result["Author"].updated.map(\.key.description) == ["7"])
    }

    @Test("A record without a key counts as omitted, unless no record of its list has a key")
    func recordWithoutKey() throws {
        func plan(_ posts: String) throws -> SyncResult {
            let json = Data(#"[{"id": 7, "blog_posts": [\#(posts)]}]"#.utf8)
            return try queue.write { db in try Sync.plan(json, inEntity: "Author", stack: stack, in: db) }
        }
        let omitted = try plan(#"{"id": 1}, {"title": "B"}"#)
        #expect(omitted.diagnostics.map(\.path) == ["[0].blog_posts[1]"])
        #expect(omitted["BlogPost"].deleted.map(\.description) == ["2"])
        #expect(try plan(#"{"title": "B"}"#).isEmpty)
        let root = try changes(#"[{"id": 1}, {"title": "B"}]"#)
        #expect(root["BlogPost"].deleted.map(\.description) == ["2"])
    }

    @Test("Unique values that move between rows fail the sync")
    func uniqueValues() throws {
        for json in [
            #"[{"id": 1, "slug": "s2"}, {"id": 2, "slug": "s1"}]"#,
            #"[{"id": 2}, {"id": 3, "title": "C", "slug": "s1"}]"#,
        ] {
            let error = try #require(throws: SyncError.self) { try changes(json) }
            #expect(error.code == .databaseError)
        }
    }

    @Test("A scope does not limit nested lists, and an operation keeps the rows that they omit")
    func nestedLists() throws {
        func plan(_ operations: SyncOperations) throws -> SyncResult {
            let json = Data(#"{"authors": [{"id": 7, "blog_posts": [{"id": 1}]}]}"#.utf8)
            var options = SyncOptions()
            options.keyPath = "authors"
            return try queue.write { db in
                try Sync.plan(
                    json, inEntity: "Author", stack: stack, predicate: "id == 99", operations: operations,
                    options: options, in: db)
            }
        }
        #expect(try plan(.all)["BlogPost"].deleted.map(\.description) == ["2"])
        #expect(try plan(.all.subtracting(.deleteRelationships)).isEmpty)
    }

    @Test("A payload without most rows of an entity exceeds the deletion limit")
    func deletionLimit() throws {
        try queue.write { db in
            for id in 10..<20 { try BlogPost(id: Int64(id), title: "Bob").insert(db) }
        }
        let error = try #require(throws: SyncError.self) { try changes(#"[{"id": 1}, {"id": 2}]"#) }
        #expect(error.code == .deletionLimitExceeded)
    }

    @Test("A day is a string in a TEXT column, and no date")
    func days() throws {
        let result = try changes(#"[{"id": 1, "published": "2024-02-29"}, {"id": 2, "published": "2024-03-01"}]"#)
        #expect(result["BlogPost"].updated.map(\.key.description) == ["2"])
        var model = Self.schema
        model.replace(#""published": "string""#, with: #""published": {"type": "date", "format": "yyyy-MM-dd"}"#)
        let error = try #require(throws: SyncError.self) {
            try DataStack(model: SyncModel(schemaData: Data(model.utf8)), existingTablesIn: queue)
        }
        #expect(error.code == .incompatibleTables && !error.fixes.isEmpty)
    }

    @Test("Rows of a local table are deleted before the posts that they reference")
    func localTable() throws {
        let two = Data(#"[{"id": 1, "title": "a"}, {"id": 2, "title": "b"}]"#.utf8)
        let one = Data(#"[{"id": 1, "title": "a"}]"#.utf8)
        try queue.write { db in
            try sync(two, stack, in: db)
            try db.execute(
                sql: """
                    CREATE TABLE visits (id INTEGER PRIMARY KEY, post_id INTEGER NOT NULL REFERENCES blog_posts);
                    INSERT INTO visits VALUES (7, 2), (8, 1)
                    """)
        }
        try queue.write { db in
            let error = #expect(throws: SyncError.self) { try sync(one, stack, in: db) }
            #expect(error?.message == "cannot delete BlogPost 2: visits row 7 references it by post_id")
            try syncPosts(one, stack, in: db)
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM visits") == [8])
            #expect(try BlogPost.fetchCount(db) == 1)
        }
    }
}
