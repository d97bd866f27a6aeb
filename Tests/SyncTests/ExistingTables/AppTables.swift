import Foundation
import GRDB
import Sync

/// An app database whose tables a sync fills: migrator, records, and columns that only the app uses.
enum AppTables {
    struct Post: Codable, FetchableRecord, PersistableRecord, Equatable {
        static let databaseTableName = "blog_posts"
        var id: Int64
        var post_title: String
        var author_id: Int64
        var published_at: Date?
        var is_read: Bool = false
    }

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("tables") { db in
            try db.create(table: "authors") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("full_name", .text).notNull()
                table.column("local_note", .text)
            }
            try db.create(table: "blog_posts") { table in
                table.primaryKey("id", .integer)
                table.column("post_title", .text).notNull()
                table.column("author_id", .integer).notNull().references("authors", onDelete: .cascade)
                table.column("published_at", .datetime)
                table.column("is_read", .boolean).notNull().defaults(to: false)
            }
            try db.create(table: "tags") { table in
                table.primaryKey("code", .text)
                table.column("label", .text)
                table.column("color", .text).notNull().defaults(to: "grey")
            }
            try db.create(table: "post_tags") { table in
                table.column("post_id", .integer).notNull().references("blog_posts", onDelete: .cascade)
                table.column("tag_code", .text).notNull().references("tags", onDelete: .cascade)
                table.primaryKey(["post_id", "tag_code"])
            }
        }
        return migrator
    }

    static let schema = #"""
        { "entities": {
            "Author": {
              "table": "authors",
              "attributes": {
                "id": "integer", "fullName": { "type": "string", "optional": false, "column": "full_name" } },
              "relationships": {
                "posts": { "entity": "Post", "many": true, "inverse": "author", "deleteRule": "cascade" } } },
            "Post": {
              "table": "blog_posts",
              "attributes": {
                "id": "integer",
                "title": { "type": "string", "optional": false, "column": "post_title" },
                "publishedAt": { "type": "date", "column": "published_at" } },
              "relationships": {
                "author": { "entity": "Author", "inverse": "posts", "optional": false, "column": "author_id" },
                "tags": { "entity": "Tag", "many": true, "inverse": "posts", "table": "post_tags",
                          "column": "tag_code", "inverseColumn": "post_id" } } },
            "Tag": {
              "table": "tags", "primaryKey": "code",
              "attributes": { "code": "string", "label": "string" },
              "relationships": { "posts": { "entity": "Post", "many": true, "inverse": "tags" } } } } }
        """#

    static func model() throws -> SyncModel { try SyncModel(schemaData: Data(schema.utf8)) }

    static func database(_ configuration: Configuration = Configuration()) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(configuration: configuration)
        try migrator.migrate(queue)
        return queue
    }

    /// Posts with authors and tags. Authors come after the posts that reference them.
    static let day1 = Data(
        #"""
        [
          { "id": 1, "title": "On the engine", "published_at": "2024-02-29T18:29:59.999Z",
            "author": { "id": 7, "full_name": "Ada" }, "tags": [{ "code": "a", "label": "A" }, { "code": "b" }] },
          { "id": 2, "title": "A-0", "author": { "id": 8, "full_name": "Grace" }, "tags": [{ "code": "a", "label": "A" }] },
          { "id": 3, "title": "Bugs", "author": { "id": 8, "full_name": "Grace" }, "tags": [] }
        ]
        """#.utf8)

    /// One post is deleted, one is changed, one is new, one has another author.
    static let day2 = Data(
        #"""
        [
          { "id": 1, "title": "On the engines", "published_at": "2024-02-29T18:29:59.999Z",
            "author": { "id": 7, "full_name": "Ada L." }, "tags": [{ "code": "b" }] },
          { "id": 3, "title": "Bugs", "author": { "id": 7, "full_name": "Ada L." }, "tags": [{ "code": "a", "label": "A" }] },
          { "id": 4, "title": "New", "author": { "id": 9, "full_name": "Edsger" }, "tags": [] }
        ]
        """#.utf8)
}

extension DatabaseReader {
    /// Returns the rows of a query, each as one line.
    func lines(_ sql: String) throws -> [String] {
        try read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                row.databaseValues.map { $0.isNull ? "-" : String.fromDatabaseValue($0) ?? "\($0)" }
                    .joined(separator: " ")
            }
        }
    }

    /// Returns the schema without the tables of the store.
    func appSchema() throws -> [String] {
        try lines(
            "SELECT type, name, sql FROM sqlite_schema WHERE tbl_name NOT LIKE 'sync~_%' ESCAPE '~' ORDER BY 1, 2")
    }
}
