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

    private struct Object {
        let type: String
        let name: String
        let table: String
        let sql: String

        /// Whether rows have to go for others.
        var decidesConflicts: Bool {
            let words = SQLWords(sql)
            return words.contains("UNIQUE") || words.contains("CONFLICT")
        }
    }

    /// Whether there is something through which a row can change or go without a trigger of ours, or just after it is
    /// written: something unique (`INSERT OR REPLACE` deletes what is in its way silently), a table that says what
    /// becomes of conflicts, or a trigger. Those that GRDB makes for full-text search only write to the search's table.
    func canHideWrites() throws -> Bool {
        try objects(FingerprintSchema.tableNames + ["sync_pending"]).contains { object in
            try object.type == "trigger" ? !isSearch(object) : object.decidesConflicts
        }
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

    private func uniqueIndexes() throws -> [Object] {
        try objects([]).filter { $0.type == "index" && $0.decidesConflicts }
    }

    /// What is in the schema for the tables of entities and links and for some more, and is not ours.
    private func objects(_ more: [String]) throws -> [Object] {
        let tables = (layout.tables.map(\.name) + layout.pairTables + more).map(\.literal).joined(separator: ", ")
        let own = Set(SchemaSQL(layout).statements)
        return try Row.fetchAll(
            db,
            sql: """
                SELECT type, name, tbl_name, sql FROM sqlite_schema
                WHERE sql IS NOT NULL AND tbl_name COLLATE NOCASE IN (\(tables))
                """
        ).map { row in
            let texts = (0..<4).map { String.fromDatabaseValue(row[$0]) ?? "" }
            return Object(type: texts[0], name: texts[1], table: texts[2], sql: texts[3])
        }.filter { !own.contains($0.sql) && !$0.name.hasPrefix(EngineSchema.triggerPrefix) }
    }

    /// Whether a trigger is one of those that keep a full-text table of GRDB's up to date: by what it does, not by its
    /// name alone.
    private func isSearch(_ trigger: Object) throws -> Bool {
        guard trigger.name.hasPrefix("__"), let end = trigger.name.lastIndex(of: "_") else { return false }
        let search = String(trigger.name[..<end].dropFirst(2))
        let kind = try String.fetchOne(
            db, sql: "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", arguments: [search])
        guard let kind, SQLWords(kind).starts(with: ["CREATE", "VIRTUAL", "TABLE"]) else { return false }
        let parts = trigger.sql.split(separator: " BEGIN", maxSplits: 1)
        guard parts.count == 2, parts[0].hasSuffix(" ON \(trigger.table.quoted)"), parts[1].hasSuffix("END") else {
            return false
        }
        let statements = parts[1].dropLast(3).split(separator: ";").map { $0.drop { $0.isWhitespace } }
        return statements.allSatisfy { statement in
            let words = SQLWords(String(statement))
            let isOwn =
                statement.hasPrefix("INSERT INTO \(search.quoted)(")
                || statement.hasPrefix("DELETE FROM \(search.quoted) WHERE ")
            return statement.isEmpty || isOwn && !words.contains("SELECT") && !words.contains("RAISE")
        }
    }
}
