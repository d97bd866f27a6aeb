import GRDB
import SyncCore
import SyncStore

/// What others added to the tables of a store.
struct HandMadeSchema {
    private let layout: StoreLayout
    private let db: Database

    init(_ layout: StoreLayout, _ db: Database) {
        self.layout = layout
        self.db = db
    }

    private struct Index {
        let name: String
        let sql: String

        var isUnique: Bool { SQLTokens(sql).words.contains("UNIQUE") }
    }

    /// Whether a unique index is in the way of one step of a sync, which asks for another try: a row that goes later may
    /// have what a new one has.
    func isInTheWay(_ error: any Error) throws -> Bool {
        guard let error = error as? DatabaseError, error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE else {
            return false
        }
        return try !uniqueIndexes().isEmpty
    }

    /// Has unique indexes hold for what all of `body` leads to, and not for each step on the way.
    func deferringUniqueIndexes<Result>(_ body: () throws -> Result) throws -> Result {
        let indexes = try uniqueIndexes()
        for index in indexes { try db.execute(sql: "DROP INDEX \(index.name.quoted)") }
        let result = try body()
        for index in indexes { try db.execute(sql: index.sql) }
        return result
    }

    /// Those on the tables of entities and links that are not ours.
    private func uniqueIndexes() throws -> [Index] {
        let tables = (layout.tables.map(\.name) + layout.pairTables).map(\.literal).joined(separator: ", ")
        let own = Set(SchemaSQL(layout).statements)
        return try Row.fetchAll(
            db,
            sql: """
                SELECT name, sql FROM sqlite_schema
                WHERE type = 'index' AND sql IS NOT NULL AND tbl_name COLLATE NOCASE IN (\(tables))
                """
        ).map { row in
            Index(name: String.fromDatabaseValue(row[0]) ?? "", sql: String.fromDatabaseValue(row[1]) ?? "")
        }.filter { !own.contains($0.sql) && $0.isUnique }
    }
}
