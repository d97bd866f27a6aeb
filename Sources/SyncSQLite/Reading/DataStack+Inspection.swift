import GRDB
package import SyncCore

/// What a test kit asks of a store beyond its rows.
extension DataStack {
    /// How many rows the writing connection has changed since it was opened: the same number means nothing was written.
    package func totalChanges() async throws -> Int {
        try await database.writeWithoutTransaction { db in db.totalChangesCount }
    }

    /// A store that is a guest in the database of an app, in memory or in a file.
    package static func guest(_ model: SyncModel, at path: String?, transformers: TransformerPolicy) throws -> DataStack
    {
        let app: any DatabaseWriter = try path.map { try DatabasePool(path: $0) } ?? DatabaseQueue()
        try app.write { db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS appSettings (name TEXT PRIMARY KEY, value ANY)")
        }
        return try DataStack(model: model, in: app, transformers: transformers)
    }

    package func contents() async throws -> StoreContents {
        try await database.read { db in try StoreContents(db) }
    }

    /// What SQLite finds wrong with the store, by `foreign_key_check` and `integrity_check`; empty if it is sound.
    package func damage() async throws -> [String] { try await danglingLinks() + brokenPages() }

    /// Which tables have rows that refer to rows that are not stored.
    package func danglingLinks() async throws -> [String] {
        try await reading { db in
            let dangling = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map { row in
                "a row of \(row["table"] as String? ?? "?") refers to a missing row of \(row["parent"] as String? ?? "?")"
            }
            return Array(Set(dangling)).sorted()
        }
    }

    package func brokenPages() async throws -> [String] {
        try await reading { db in
            try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
        }
    }
}
