import Foundation
import GRDB
import Sync

/// An app database that exists before the stack: migrator, tables and records.
struct AppDatabase {
    struct Bookmark: Codable, FetchableRecord, PersistableRecord, Equatable {
        var id: Int64
        var title: String
    }

    /// The app's position in the data of a service.
    struct Cursor: Codable, FetchableRecord, PersistableRecord, Equatable {
        var name: String
        var etag: String
    }

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("bookmarks") { db in
            try db.create(table: "bookmark") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("title", .text).notNull()
            }
            try db.create(table: "cursor") { table in
                table.primaryKey("name", .text)
                table.column("etag", .text).notNull()
            }
        }
        return migrator
    }

    static func fill(_ writer: some DatabaseWriter) throws {
        try migrator.migrate(writer)
        try writer.write { db in try Bookmark(id: 1, title: "kept").insert(db) }
    }

    /// Returns the entries of the schema.
    static func schema(_ reader: some DatabaseReader) throws -> [String] {
        try reader.read { db in
            try String.fetchAll(
                db, sql: "SELECT type || ' ' || name || ' ' || ifnull(sql, '') FROM sqlite_schema ORDER BY 1")
        }
    }
}
