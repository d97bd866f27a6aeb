import GRDB

/// What a test kit asks of a store beyond its rows.
extension DataStack {
    /// How many rows the writing connection has changed since it was opened: the same number means nothing was written.
    package func totalChanges() async throws -> Int {
        try await database.writeWithoutTransaction { db in db.totalChangesCount }
    }

    package func contents() async throws -> StoreContents {
        try await database.read { db in try StoreContents(db) }
    }

    /// What SQLite finds wrong with the store, by `foreign_key_check` and `integrity_check`; empty if it is sound.
    package func damage() async throws -> [String] { try await danglingLinks() + brokenPages() }

    /// Which tables have rows that refer to rows that are not stored.
    func danglingLinks() async throws -> [String] {
        try await reading { db in
            let dangling = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map { row in
                "a row of \(row["table"] as String? ?? "?") refers to a missing row of \(row["parent"] as String? ?? "?")"
            }
            return Array(Set(dangling)).sorted()
        }
    }

    func brokenPages() async throws -> [String] {
        try await reading { db in
            try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
        }
    }
}
