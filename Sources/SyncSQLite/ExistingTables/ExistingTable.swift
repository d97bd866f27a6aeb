import GRDB
import GRDBSQLite
import SyncCore

/// A table that an app created, as SQLite describes it.
struct ExistingTable: Sendable {
    struct Column: Sendable {
        let name: String
        let declaredType: String
        let isNotNull: Bool
        /// The default value, as SQL.
        let defaultValue: String?
        /// The number of the column in the primary key, from 1; 0 for other columns.
        let keyPosition: Int
        let isGenerated: Bool
        let collation: String

        var affinity: ColumnAffinity { ColumnAffinity(declaredType) }
    }

    struct ForeignKey: Sendable {
        let table: String
        let columns: [String]
        /// The referenced columns; empty if the foreign key references the primary key without naming its columns.
        let targets: [String]
        let onDelete: String
    }

    let name: String
    /// `table`, `view`, `virtual` or `shadow`.
    let kind: String
    let isStrict: Bool
    let hasRowID: Bool
    let sql: String
    let columns: [Column]
    let foreignKeys: [ForeignKey]
    /// The columns of the primary key and of each unique index. Partial indexes, and indexes with expressions or with
    /// another collation than `BINARY`, are not included.
    let uniqueKeys: [[String]]
    /// The column that is an alias of the rowid.
    let rowIDColumn: String?

    /// Returns nil if the main database has no table or view with this name.
    init?(_ name: String, in db: Database) throws {
        let list = try Row.fetchOne(
            db,
            sql:
                "SELECT name, type, wr, strict FROM pragma_table_list "
                + "WHERE schema = 'main' AND name = ? COLLATE NOCASE",
            arguments: [name])
        guard let list else { return nil }
        let found: String = list["name"]
        self.name = found
        kind = list["type"]
        hasRowID = list["wr"] == 0
        isStrict = list["strict"] == 1
        sql =
            try String.fetchOne(
                db, sql: "SELECT sql FROM main.sqlite_schema WHERE name = ? AND type IN ('table', 'view')",
                arguments: [found]) ?? ""
        columns = try Row.fetchAll(db, sql: "SELECT * FROM pragma_table_xinfo(?)", arguments: [found]).map { row in
            let column: String = row["name"]
            return Column(
                name: column, declaredType: row["type"] ?? "", isNotNull: row["notnull"] == 1,
                defaultValue: row["dflt_value"], keyPosition: row["pk"],
                isGenerated: (row["hidden"] as Int) > 1, collation: Self.collation(of: column, in: found, db))
        }
        foreignKeys = try Self.foreignKeys(of: found, in: db)
        let indexes = try Row.fetchAll(
            db, sql: "SELECT name, \"unique\", origin, partial FROM pragma_index_list(?)", arguments: [found])
        let key = columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }
        // `INTEGER PRIMARY KEY DESC` is not a rowid alias: it has an index.
        let hasKeyIndex = indexes.contains { ($0["origin"] as String) == "pk" }
        let isRowID =
            key.count == 1 && hasRowID && kind == "table" && key[0].declaredType.uppercased() == "INTEGER"
            && !hasKeyIndex
        rowIDColumn = isRowID ? key[0].name : nil
        var unique = isRowID ? [[key[0].name]] : []
        for index in indexes where index["unique"] == 1 && index["partial"] == 0 {
            if let columns = try Self.columns(ofIndex: index["name"], in: db) { unique.append(columns) }
        }
        uniqueKeys = unique
    }

    func column(_ name: String) -> Column? { columns.first { $0.name.foldedForSQL == name.foldedForSQL } }

    /// Returns the foreign key that consists of this column only; nil if there is none.
    func foreignKey(of column: String) -> ForeignKey? {
        foreignKeys.first { $0.columns.map(\.foldedForSQL) == [column.foldedForSQL] }
    }

    var primaryKey: [String] {
        columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }.map(\.name)
    }

    /// Returns whether these columns, in any order, are one of ``uniqueKeys``.
    func isUnique(_ columns: [String]) -> Bool {
        let wanted = Set(columns.map(\.foldedForSQL))
        return uniqueKeys.contains { Set($0.map(\.foldedForSQL)) == wanted }
    }

    // MARK: Reading

    private static func foreignKeys(of table: String, in db: Database) throws -> [ForeignKey] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT * FROM pragma_foreign_key_list(?) ORDER BY id, seq", arguments: [table])
        return Dictionary(grouping: rows) { $0["id"] as Int }.sorted { $0.key < $1.key }.map { _, parts in
            ForeignKey(
                table: parts[0]["table"], columns: parts.map { $0["from"] },
                targets: parts.compactMap { $0["to"] as String? }, onDelete: parts[0]["on_delete"])
        }
    }

    /// Returns the columns of an index; nil for an index with expressions, or with another collation than `BINARY`.
    private static func columns(ofIndex name: String, in db: Database) throws -> [String]? {
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, coll FROM pragma_index_xinfo(?) WHERE key = 1", arguments: [name])
        let names = rows.compactMap { row -> String? in
            (row["coll"] as String?)?.uppercased() == "BINARY" ? row["name"] : nil
        }
        return names.count == rows.count ? names : nil
    }

    private static func collation(of column: String, in table: String, _ db: Database) -> String {
        var collation: UnsafePointer<CChar>?
        let code = sqlite3_table_column_metadata(
            db.sqliteConnection, "main", table, column, nil, &collation, nil, nil, nil)
        guard code == SQLITE_OK, let collation else { return "BINARY" }
        return String(cString: collation).uppercased()
    }
}

/// The affinity of a column, by the rules of SQLite.
enum ColumnAffinity {
    case integer, text, none, real, numeric

    init(_ declaredType: String) {
        let type = declaredType.uppercased()
        func has(_ words: String...) -> Bool { words.contains { type.contains($0) } }
        self =
            if has("INT") {
                .integer
            } else if has("CHAR", "CLOB", "TEXT") {
                .text
            } else if has("BLOB") || type.isEmpty {
                .none
            } else if has("REAL", "FLOA", "DOUB") {
                .real
            } else {
                .numeric
            }
    }

    /// Returns whether a column keeps all values of an attribute of this type unchanged. SQLite does not convert the
    /// texts of dates and UUIDs to numbers.
    func preserves(_ type: AttributeType) -> Bool {
        switch type {
        case .integer, .boolean: self == .integer || self == .numeric || self == .none
        case .double: self == .real || self == .none
        case .string, .url, .decimal, .json, .transformable: self == .text || self == .none
        case .date, .uuid, .binary: true
        }
    }
}

extension ExistingTable {
    /// Returns whether a column keeps the values of attributes of this type unchanged.
    func preserves(_ type: AttributeType, in column: Column) -> Bool {
        guard isStrict else { return column.affinity.preserves(type) }
        let declared = column.declaredType.uppercased()
        let wanted = SchemaSQL.columnType(type)
        return declared == "ANY" || declared == wanted || declared == "INT" && wanted == "INTEGER"
    }
}
