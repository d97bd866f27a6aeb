import GRDB
import SyncCore

/// What others added to the tables of a store.
struct HandMadeSchema {
    private let layout: StoreLayout
    private let db: Database

    init(_ layout: StoreLayout, _ db: Database) {
        self.layout = layout
        self.db = db
    }

    /// Whether there is something through which a row can change or go without a trigger of ours, or just after it is
    /// written: something unique (`INSERT OR REPLACE` deletes what is in its way silently), a table that says what
    /// becomes of conflicts, or a trigger. Those that GRDB makes for full-text search only write to the search's table.
    func canHideWrites() throws -> Bool {
        let joins = layout.links.compactMap { link -> String? in
            guard case .joinTable(let name, _, _, _, _) = link else { return nil }
            return name
        }
        let names = layout.tables.map(\.name) + joins + FingerprintSchema.tableNames + ["sync_pending"]
        let own = Set(SchemaSQL(layout).statements)
        let objects = try Row.fetchAll(
            db,
            sql: """
                SELECT type, name, tbl_name, sql FROM sqlite_schema
                WHERE sql IS NOT NULL AND tbl_name COLLATE NOCASE IN (\(names.map(\.literal).joined(separator: ", ")))
                """)
        return try objects.contains { object in
            let sql = String.fromDatabaseValue(object[3]) ?? ""
            if own.contains(sql) { return false }
            switch String.fromDatabaseValue(object[0]) {
            case "trigger":
                return try !isSearch(
                    String.fromDatabaseValue(object[1]) ?? "", of: String.fromDatabaseValue(object[2]) ?? "", sql)
            default: return decidesConflicts(sql)
            }
        }
    }

    /// Whether a table or an index has rows go for others.
    private func decidesConflicts(_ sql: String) -> Bool {
        let words = SQLWords(sql)
        return words.contains("UNIQUE") || words.contains("CONFLICT")
    }

    /// Whether a trigger is one of those that keep a full-text table of GRDB's up to date: by what it does, not by its
    /// name alone.
    private func isSearch(_ name: String, of table: String, _ sql: String) throws -> Bool {
        guard name.hasPrefix("__"), let end = name.lastIndex(of: "_") else { return false }
        let search = String(name[..<end].dropFirst(2))
        let kind = try String.fetchOne(
            db, sql: "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", arguments: [search])
        guard let kind, SQLWords(kind).starts(with: ["CREATE", "VIRTUAL", "TABLE"]) else { return false }
        let parts = sql.split(separator: " BEGIN", maxSplits: 1)
        guard parts.count == 2, parts[0].hasSuffix(" ON \(table.quoted)"), parts[1].hasSuffix("END") else {
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
