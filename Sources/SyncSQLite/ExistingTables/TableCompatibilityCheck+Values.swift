import GRDB
import SyncCore
import SyncStore

extension TableCompatibilityCheck {
    /// Checks that the stored values have the form in which a sync writes them.
    func checkValues(of name: String, _ type: AttributeType, isKey: Bool, _ found: inout TableIncompatibilities) throws
    {
        let column = name.quoted
        let table = found.table.name.quoted
        let condition = "\(column) IS NOT NULL AND NOT (\(Self.condition(column, type)))"
        let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table) WHERE \(condition)") ?? 0
        guard count > 0 else { return }
        var sql: String?
        var foreign = count
        if let expression = Self.expression(column, type) {
            let fixable = "\(condition) AND \(Self.condition("(\(expression))", type))"
            foreign -= try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table) WHERE \(fixable)") ?? 0
            let isPart = foreign > 0
            let update = "UPDATE \(table) SET \(column) = \(expression) WHERE \(isPart ? fixable : condition)"
            if foreign < count {
                // If a key changes, the foreign keys that reference it must change too.
                let others = try isKey ? unknownReferences(to: name, of: found.table) : []
                let updates = others.map { other in
                    let column = other.column.quoted
                    let value = Self.expression(column, type) ?? column
                    return "UPDATE \(other.table.quoted) SET \(column) = \(value) WHERE \(column) IS NOT NULL "
                        + "AND NOT (\(Self.condition(column, type))) AND \(Self.condition("(\(value))", type))"
                }
                sql = isKey ? TableRebuild.withoutForeignKeys([update] + updates) : update + ";"
            }
        }
        let values =
            "\(count) value\(count == 1 ? " is" : "s are") not stored as "
            + "the type \(type.rawValue) requires; the required form is \(Self.form(type))"
        let rest =
            switch foreign {
            case 0: ""
            case count: "; no SQL can convert \(count == 1 ? "it" : "them")"
            default: "; the SQL cannot convert \(foreign) of them"
            }
        found.add(name, values + rest, sql.map { .values($0) } ?? .none)
    }

    /// Returns the foreign key columns that reference a column and are not in the model.
    private func unknownReferences(to name: String, of table: ExistingTable) throws -> [(table: String, column: String)]
    {
        let isOnlyKey = table.primaryKey.map(\.foldedForSQL) == [name.foldedForSQL]
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT DISTINCT s.name, k."from" FROM main.sqlite_schema AS s, pragma_foreign_key_list(s.name) AS k
                WHERE s.type = 'table' AND k."table" = ?1 COLLATE NOCASE AND (k."to" = ?2 COLLATE NOCASE OR k."to" IS NULL AND ?3)
                ORDER BY 1, 2
                """, arguments: [table.name, name, isOnlyKey])
        let known = columnsOfTables()
        return rows.map { ($0[0], $0[1]) }.filter { table, column in
            !(known[table.foldedForSQL]?.contains(column.foldedForSQL) ?? false)
        }
    }

    private static func form(_ type: AttributeType) -> String {
        switch type {
        case .integer: "an integer"
        case .boolean: "0 or 1"
        case .double: "a number"
        case .string, .url: "text"
        case .decimal: "a number as text"
        case .json, .transformable: "JSON as text"
        case .date: "text such as 2024-02-29 18:29:59.999"
        case .uuid: "text in upper case (in GRDB, the strategy .uppercaseString)"
        case .binary: "bytes"
        }
    }

    /// Returns the condition that a non-NULL value has the form in which a sync writes it.
    private static func condition(_ value: String, _ type: AttributeType) -> String {
        let digits = { (count: Int) in String(repeating: "[0-9]", count: count) }
        return switch type {
        case .integer: "typeof(\(value)) = 'integer'"
        case .boolean: "typeof(\(value)) = 'integer' AND \(value) IN (0, 1)"
        case .double: "typeof(\(value)) IN ('real', 'integer')"
        case .string, .url, .decimal: "typeof(\(value)) = 'text'"
        case .json, .transformable: "typeof(\(value)) = 'text' AND json_valid(\(value))"
        case .binary: "typeof(\(value)) = 'blob'"
        case .date:
            "typeof(\(value)) = 'text' AND \(value) GLOB '\(digits(4))-\(digits(2))-\(digits(2)) "
                + "\(digits(2)):\(digits(2)):\(digits(2)).\(digits(3))'"
        case .uuid:
            "typeof(\(value)) = 'text' AND length(\(value)) = 36 AND \(value) = upper(\(value)) COLLATE BINARY "
                + "AND \(value) GLOB '????????-????-????-????-????????????'"
        }
    }

    /// Returns an SQL expression that converts a value to this form, or to NULL if the meaning of the value is
    /// uncertain. Returns nil if no conversion is known.
    private static func expression(_ column: String, _ type: AttributeType) -> String? {
        let text = "trim(\(column))"
        let integer = "CAST(\(column) AS INTEGER)"
        switch type {
        case .integer:
            return "CASE WHEN typeof(\(column)) = 'real' AND \(column) = \(integer) THEN \(integer) "
                + "WHEN typeof(\(column)) = 'text' AND CAST(\(integer) AS TEXT) = \(text) THEN \(integer) END"
        case .boolean:
            return "CASE WHEN typeof(\(column)) IN ('integer', 'real') THEN \(column) <> 0 "
                + "WHEN lower(\(text)) IN ('true', 'yes', 'on', 't', 'y', '1') THEN 1 "
                + "WHEN lower(\(text)) IN ('false', 'no', 'off', 'f', 'n', '0') THEN 0 END"
        case .double:
            // Text with at most one sign, at least one digit and at most one point.
            return "CASE WHEN typeof(\(column)) = 'text' AND ltrim(\(text), '+-') NOT GLOB '*[^0-9.]*' "
                + "AND length(\(text)) - length(ltrim(\(text), '+-')) < 2 AND \(text) GLOB '*[0-9]*' "
                + "AND \(text) NOT LIKE '%.%.%' THEN CAST(\(column) AS REAL) END"
        case .string, .url, .decimal:
            return "CASE WHEN typeof(\(column)) IN ('integer', 'real') THEN CAST(\(column) AS TEXT) END"
        case .json, .transformable, .binary: return nil
        case .date:
            return
                "CASE WHEN typeof(\(column)) = 'text' AND \(text) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' "
                + "THEN strftime('%Y-%m-%d %H:%M:%f', \(text)) "
                + "WHEN typeof(\(column)) IN ('integer', 'real') THEN strftime('%Y-%m-%d %H:%M:%f', \(column), 'unixepoch') END"
        case .uuid:
            return "CASE WHEN typeof(\(column)) = 'text' THEN upper(\(column)) WHEN typeof(\(column)) = 'blob' THEN "
                + "substr(hex(\(column)), 1, 8) || '-' || substr(hex(\(column)), 9, 4) || '-' || "
                + "substr(hex(\(column)), 13, 4) || '-' || substr(hex(\(column)), 17, 4) || '-' || "
                + "substr(hex(\(column)), 21) END"
        }
    }
}

// MARK: - Triggers

extension TableCompatibilityCheck {
    /// Checks for triggers that change the result of a sync. Such a trigger cancels writes, inserts or deletes rows of
    /// the model's tables, or writes to columns of the model.
    func checkTriggers(_ found: inout TableIncompatibilities) throws {
        let columns = columnsOfTables()
        for trigger in try TableTrigger.all(of: found.table.name, in: db) {
            if trigger.cancelsWrites {
                found.add(trigger.cancellation, .statement(trigger.removal))
                continue
            }
            guard let effect = Self.effect(trigger.words, columns) else { continue }
            switch effect {
            case .writes(let table, let columns) where columns.allSatisfy { canOmit($0, from: table) }:
                let them = columns.count == 1 ? "this column" : "these columns"
                found.add(
                    "the trigger \(trigger.name) \(effect); leave \(them) out of the model, or drop the trigger",
                    .omission(columns, of: table, trigger: trigger.name))
            case .writes, .insertsRows, .deletesRows:
                found.add("the trigger \(trigger.name) \(effect)", .statement(trigger.removal))
            }
        }
    }

    /// Returns whether the model can omit a column: it is an attribute that is part of no key, and a row can be
    /// inserted without it.
    private func canOmit(_ column: String, from table: String) -> Bool {
        let model = layout.model
        guard
            let hierarchy = model.hierarchies.first(where: {
                layout[$0.id].name.foldedForSQL == table.foldedForSQL
            }),
            let slot = layout[hierarchy.id].columns.firstIndex(where: { $0.foldedForSQL == column.foldedForSQL }),
            !hierarchy.entities.contains(where: { model.entities[$0].keySlots.contains(slot) }),
            let stored = tables[hierarchy.id]?.column(column)
        else { return false }
        return !stored.isNotNull || stored.defaultValue != nil
    }

    /// Returns the columns that a sync writes, by table.
    func columnsOfTables() -> [String: Set<String>] {
        var columns: [String: Set<String>] = [:]
        for hierarchy in layout.model.hierarchies {
            columns[layout[hierarchy.id].name.foldedForSQL] = knownColumns(of: hierarchy)
        }
        for case .joinTable(let name, let first, let second, let firstOrder, let secondOrder) in layout.links {
            let known = [first, second, firstOrder, secondOrder].compactMap(\.self)
            columns[name.foldedForSQL] = Set(known.map(\.foldedForSQL))
        }
        return columns
    }

    /// A write of a trigger that changes the result of a sync.
    private enum TriggerEffect: CustomStringConvertible {
        case insertsRows(table: String)
        case deletesRows(table: String)
        case writes(table: String, columns: [String])

        var description: String {
            switch self {
            case .insertsRows(let table): "inserts into \(table), whose rows only the sync may insert or delete"
            case .deletesRows(let table): "deletes from \(table), whose rows only the sync may insert or delete"
            case .writes(let table, let columns): "writes to \(table).\(columns.joined(separator: ", "))"
            }
        }
    }

    /// Returns the first such write of a trigger.
    private static func effect(_ words: [String], _ columns: [String: Set<String>]) -> TriggerEffect? {
        let upper = words.map { $0.uppercased() }
        let begin = upper.firstIndex(of: "BEGIN") ?? 0
        func known(_ index: Int) -> (name: String, columns: Set<String>)? {
            guard index < words.count else { return nil }
            let name = SQLTokens.name(words[index].split(separator: ".").last.map(String.init) ?? words[index])
            return columns[name.foldedForSQL].map { (name, $0) }
        }
        for (index, word) in upper.enumerated() where index > begin {
            switch word {
            case "INTO", "FROM":
                let isDelete = word == "FROM" && upper[index - 1] == "DELETE"
                guard word == "INTO" || isDelete, let table = known(index + 1) else { continue }
                return isDelete ? .deletesRows(table: table.name) : .insertsRows(table: table.name)
            case "SET":
                guard let update = upper[..<index].lastIndex(of: "UPDATE"),
                    let table = known(upper[update + 1] == "OR" ? update + 3 : update + 1)
                else { continue }
                let written = assigned(words, after: index).filter { table.columns.contains($0.foldedForSQL) }
                if !written.isEmpty { return .writes(table: table.name, columns: written) }
            default: continue
            }
        }
        return nil
    }

    /// Returns the columns that an `UPDATE` sets.
    private static func assigned(_ words: [String], after set: Int) -> [String] {
        var names: [String] = []
        var depth = 0
        var begins = true
        for word in words[(set + 1)...] {
            if depth == 0, ["WHERE", "FROM", ";", "RETURNING"].contains(word.uppercased()) { break }
            if word == "(" { depth += 1 }
            if word == ")" { depth -= 1 }
            if word == "=", depth == 0 { begins = false }
            if begins, word != "(", word != ")", word != "," { names.append(SQLTokens.name(word)) }
            if word == ",", depth == 0 { begins = true }
        }
        return names
    }
}

// MARK: - TableTrigger

/// A trigger on a table that a sync writes.
struct TableTrigger {
    let name: String
    private let schema: String
    /// The tokens of the statement that creates the trigger.
    let words: [String]

    /// Returns the triggers of a table, also the temporary triggers of the connection.
    static func all(of table: String, in db: Database) throws -> [TableTrigger] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT name, sql, 0 FROM main.sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE
                UNION ALL
                SELECT name, sql, 1 FROM sqlite_temp_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE
                """, arguments: [table])
        return rows.map { row in
            TableTrigger(name: row[0], schema: row[2] == 1 ? "temp" : "main", words: SQLTokens(row[1] ?? "").texts)
        }
    }

    /// The statement that drops the trigger.
    var removal: String { "DROP TRIGGER IF EXISTS \(schema).\(name.quoted);" }

    /// Whether the trigger contains `RAISE(IGNORE)`.
    var cancelsWrites: Bool {
        let upper = words.map { $0.uppercased() }
        return upper.indices.contains { index in
            upper[index] == "RAISE" && index + 2 < upper.count && upper[index + 2] == "IGNORE"
        }
    }

    /// The problem of a trigger that ``cancelsWrites``.
    var cancellation: String { "the trigger \(name) can cancel writes of a sync by RAISE(IGNORE)" }

    /// Returns the error for a write of a sync that wrote no row, because a trigger of the table cancelled it.
    static func cancelledWrite(to table: String, in db: Database) throws -> SyncError {
        let triggers = try all(of: table, in: db).filter(\.cancelsWrites)
        return SyncError(
            .incompatibleTables,
            "a trigger of the table \(table) cancelled a write of the sync; drop the trigger, or use RAISE(ABORT)",
            problems: triggers.map { trigger in
                SyncDiagnostic(
                    .incompatibleTable, path: "tables.\(table)", message: trigger.cancellation, fixSQL: trigger.removal)
            })
    }
}

// MARK: - OtherUUIDs

/// Keys of existing tables that are UUIDs in another form than a sync writes: blobs, as GRDB writes them by default, or
/// lowercase text. A sync would not find their rows and would insert them again.
enum OtherUUIDs {
    /// Returns whether a table has such keys. It searches only for keys that sort after `G`, because blobs sort after
    /// all text, and lowercase letters after uppercase letters. It does not find a UUID that begins with a digit and
    /// contains lowercase letters.
    static func exist(in db: Database, of layout: StoreLayout) throws -> Bool {
        for hierarchy in layout.model.hierarchies {
            let names = layout[hierarchy.id]
            for slot in layout.model.entities[hierarchy.root].keySlots where hierarchy.attributes[slot].type == .uuid {
                let statement = try db.cachedStatement(
                    sql: "SELECT 1 FROM \(names.name.quoted) WHERE \(names.columns[slot].quoted) >= 'G' LIMIT 1")
                if try Int.fetchOne(statement) != nil { return true }
            }
        }
        return false
    }
}
