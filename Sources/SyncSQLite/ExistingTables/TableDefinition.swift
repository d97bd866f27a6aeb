import GRDB
import SyncCore

/// A `CREATE TABLE` statement whose parts can be changed. Parts that are not changed keep their tokens, without
/// comments and line breaks.
struct TableDefinition {
    /// The tokens of each column definition.
    private var columns: [[String]] = []
    private var constraints: [[String]] = []
    private var options: [String] = []

    /// Returns nil if the statement has no complete list in parentheses.
    init?(_ sql: String) {
        let words = SQLTokens(sql).texts
        guard let open = words.firstIndex(of: "("), words.last != "(" else { return nil }
        var depth = 0
        var part: [String] = []
        var parts: [[String]] = []
        var end = words.count
        for (index, word) in words.enumerated().dropFirst(open) {
            if word == "(" { depth += 1 }
            if word == ")" { depth -= 1 }
            if depth == 0 {
                end = index
                break
            }
            if depth == 1, word == "," {
                parts.append(part)
                part = []
            } else if index > open {
                part.append(word)
            }
        }
        parts.append(part)
        guard end < words.count else { return nil }
        options = Array(words[(end + 1)...]).filter { $0 != ";" }
        for part in parts {
            let isConstraint = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"].contains(
                part.first?.uppercased())
            if isConstraint { constraints.append(part) } else { columns.append(part) }
        }
    }

    func sql(named name: String) -> String {
        let parts = (columns + constraints).map { $0.joined(separator: " ") }
        let text = "CREATE TABLE \(name.quoted) (\n  \(parts.joined(separator: ",\n  "))\n)"
        return options.isEmpty ? text : "\(text) \(options.joined(separator: " "))"
    }

    // MARK: Changes

    mutating func add(column definition: String) { columns.append(SQLTokens(definition).texts) }

    mutating func setType(_ type: String, of column: String) {
        change(column) { type.isEmpty ? $0 : .init(name: $0.name, type: [type], clauses: $0.clauses) }
    }

    mutating func dropClauses(_ first: String, of column: String) {
        change(column) { definition in
            var definition = definition
            definition.clauses.removeAll { ColumnDefinition.kind($0) == first }
            return definition
        }
    }

    mutating func add(_ clause: String, to column: String) {
        change(column) { .init(name: $0.name, type: $0.type, clauses: $0.clauses + [SQLTokens(clause).texts]) }
    }

    /// Replaces the foreign key of a column.
    mutating func setReferences(_ clause: String, of column: String) {
        dropReferences(of: column)
        add(clause, to: column)
    }

    mutating func dropReferences(of column: String) {
        dropClauses("REFERENCES", of: column)
        constraints.removeAll { words in
            guard let key = words.firstIndex(where: { $0.uppercased() == "FOREIGN" }), words.count > key + 4 else {
                return false
            }
            return words[key + 4] == ")"
                && SQLTokens.name(words[key + 3]).foldedForSQL == column.foldedForSQL
        }
    }

    /// Replaces the primary key by a unique constraint.
    mutating func makePrimaryKeyUnique() {
        func unique(_ words: [String]) -> [String] {
            var words = words
            guard let key = words.firstIndex(where: { $0.uppercased() == "PRIMARY" }) else { return words }
            words.replaceSubrange(key...min(key + 1, words.count - 1), with: ["UNIQUE"])
            return words.filter { $0.uppercased() != "AUTOINCREMENT" }
        }
        columns = columns.map(unique)
        constraints = constraints.map(unique)
    }

    mutating func dropConflictClauses() {
        func plain(_ words: [String]) -> [String] {
            var words = words
            while let conflict = words.firstIndex(where: { $0.uppercased() == "CONFLICT" }), conflict > 0 {
                words.removeSubrange(conflict - 1...min(conflict + 1, words.count - 1))
            }
            return words
        }
        columns = columns.map(plain)
        constraints = constraints.map(plain)
    }

    mutating func dropWithoutRowID() {
        let parts = options.split(separator: ",").filter { $0.first?.uppercased() != "WITHOUT" }
        options = Array(parts.joined(separator: [","]))
    }

    private mutating func change(_ column: String, _ body: (ColumnDefinition) -> ColumnDefinition) {
        guard
            let index = columns.firstIndex(where: { words in
                words.first.map { SQLTokens.name($0).foldedForSQL == column.foldedForSQL } ?? false
            })
        else { return }
        columns[index] = body(ColumnDefinition(columns[index])).words
    }
}

/// The tokens of a column definition in a `CREATE TABLE` statement.
struct ColumnDefinition {
    let name: String
    let type: [String]
    /// The clauses, each with its optional constraint name.
    var clauses: [[String]]

    private static let beginnings: Set<String> = [
        "CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "GENERATED",
        "AS",
    ]

    init(name: String, type: [String], clauses: [[String]]) {
        (self.name, self.type, self.clauses) = (name, type, clauses)
    }

    init(_ words: [String]) {
        var type: [String] = []
        var clauses: [[String]] = []
        var depth = 0
        for (index, word) in words.enumerated().dropFirst() {
            let next = index + 1 < words.count ? words[index + 1].uppercased() : ""
            if depth == 0, Self.begins(word.uppercased(), after: clauses.last ?? [], before: next) {
                clauses.append([word])
            } else if clauses.isEmpty {
                type.append(word)
            } else {
                clauses[clauses.count - 1].append(word)
            }
            if word == "(" { depth += 1 }
            if word == ")" { depth -= 1 }
        }
        self.init(name: words.first ?? "", type: type, clauses: clauses)
    }

    private static func begins(_ word: String, after clause: [String], before next: String) -> Bool {
        guard beginnings.contains(word) else { return false }
        // So far, the clause consists only of `CONSTRAINT` and a name.
        if clause.first?.uppercased() == "CONSTRAINT", clause.count == 2 { return false }
        switch (word, clause.last?.uppercased()) {
        case ("NULL", "NOT"), ("NULL", "DEFAULT"), ("NULL", "SET"), ("DEFAULT", "SET"), ("AS", "ALWAYS"): return false
        case ("NOT", _): return next != "DEFERRABLE"
        default: return true
        }
    }

    /// Returns the first keyword of a clause after its optional constraint name, in upper case.
    static func kind(_ clause: [String]) -> String? {
        let words = clause.map { $0.uppercased() }
        return words.first == "CONSTRAINT" ? words.dropFirst(2).first : words.first
    }

    var words: [String] { [name] + type + clauses.flatMap { $0 } }
}

/// The statements that rebuild a table with another definition, and keep its rows, indexes and triggers.
struct TableRebuild {
    let sql: String

    /// - Parameter lookups: The columns whose values are replaced by keys.
    init(_ table: ExistingTable, _ definition: TableDefinition, _ lookups: [KeyLookup], _ db: Database) throws {
        let new = "sync_new_\(table.name)"
        let columns = table.columns.filter { !$0.isGenerated }.map(\.name)
        let hidesRowID = table.hasRowID && table.rowIDColumn == nil && table.column("rowid") == nil
        let names = (hidesRowID ? ["rowid"] : []) + columns
        let values = names.map { name in
            lookups.first { $0.column.foldedForSQL == name.foldedForSQL }?.expression ?? name.quoted
        }
        let attached = try String.fetchAll(
            db,
            sql: """
                SELECT sql FROM main.sqlite_schema
                WHERE tbl_name = ? COLLATE NOCASE AND type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY type, name
                """, arguments: [table.name])
        var statements = [
            "PRAGMA legacy_alter_table = ON",
            definition.sql(named: new),
            "INSERT INTO \(new.quoted) (\(names.map(\.quoted).joined(separator: ", "))) "
                + "SELECT \(values.joined(separator: ", ")) FROM \(table.name.quoted)",
        ]
        if SQLTokens(table.sql).texts.contains(where: { $0.uppercased() == "AUTOINCREMENT" }) {
            statements += [
                "DELETE FROM sqlite_sequence WHERE name = \(new.literal)",
                "INSERT INTO sqlite_sequence (name, seq) SELECT \(new.literal), seq FROM sqlite_sequence "
                    + "WHERE name = \(table.name.literal)",
            ]
        }
        statements += [
            "DROP TABLE \(table.name.quoted)",
            "ALTER TABLE \(new.quoted) RENAME TO \(table.name.quoted)",
            "PRAGMA legacy_alter_table = OFF",
        ]
        let guards = lookups.flatMap(\.guardStatements).map { $0 + ";\n" }.joined()
        sql = guards + Self.withoutForeignKeys(statements + attached)
    }

    /// Returns SQL that runs the statements with foreign keys off. `PRAGMA foreign_keys` has no effect in a
    /// transaction. There, a guard statement fails if foreign keys are on, before the other statements run.
    static func withoutForeignKeys(_ statements: [String]) -> String {
        let guardTable = "temp.\"sync_foreign_keys\""
        let all =
            [
                "PRAGMA foreign_keys = OFF",
                "CREATE TEMP TABLE \"sync_foreign_keys\" (\"on\" "
                    + "CONSTRAINT foreign_keys_must_be_off CHECK (\"on\" = 0))",
                "INSERT INTO \(guardTable) SELECT foreign_keys FROM pragma_foreign_keys",
                "DROP TABLE \(guardTable)",
            ] + statements + ["PRAGMA foreign_keys = ON"]
        return all.map { $0 + ";" }.joined(separator: "\n")
    }
}

/// The incompatibilities of one existing table, with their fixes.
struct TableIncompatibilities {
    enum Fix {
        /// A change of the `CREATE TABLE` statement, for which the table is rebuilt.
        case definition((inout TableDefinition) -> Void)
        /// Like `definition`, but also replaces the values of a column by the keys of the rows that they reference.
        case lookup(KeyLookup, (inout TableDefinition) -> Void)
        /// A statement that changes values. It runs before rebuilds, which may look the values up.
        case values(String)
        /// A column to add.
        case column(String)
        case statement(String)
        /// The omission of columns, which a trigger writes, from the model.
        case omission([String], of: String, trigger: String)
        case none
    }

    let table: ExistingTable
    /// The columns of the table that the model does not use.
    private let unusedColumns: [String]
    /// The unused columns that the model probably means. They get no SQL, which would fit the table to a mistake.
    private var meantColumns: Set<String> = []
    private var entries: [(found: Found, fix: Fix)] = []

    /// A problem, and its table and column.
    struct Found {
        let table: String
        let column: String?
        var problem: SyncDiagnostic
        /// The columns that the model can omit instead, and the trigger that writes them; nil if there are none.
        var omission: (columns: [String], table: String, trigger: String)?
    }

    /// - Parameter known: The columns that the model uses, in folded case.
    init(_ table: ExistingTable, known: Set<String>) {
        self.table = table
        unusedColumns = table.columns.map(\.name).filter { !known.contains($0.foldedForSQL) }
    }

    /// Whether a fix looks values up in another table, whose values must be fixed first.
    var hasLookups: Bool { entries.contains { if case .lookup = $0.fix { true } else { false } } }

    /// Adds a problem of the whole table.
    mutating func add(_ message: String, _ fix: Fix) { add(in: nil, message, fix) }

    mutating func add(_ column: String, _ message: String, _ fix: Fix) { add(in: column, message, fix) }

    /// Adds a column of the model that the table lacks. The SQL adds the column, unless an unused column has a similar
    /// name.
    mutating func addMissing(_ column: String, _ sql: String) {
        guard let meant = SimilarName.nearest(to: column, among: unusedColumns) else {
            return add(column, "the column does not exist", .column(sql))
        }
        meantColumns.insert(meant)
        add(column, "the column does not exist; if the model means '\(meant)', set \"column\": \"\(meant)\"", .none)
    }

    private mutating func add(in column: String?, _ message: String, _ fix: Fix) {
        let path = (["tables", table.name] + [column].compactMap(\.self)).joined(separator: ".")
        entries.append(
            (
                Found(
                    table: table.name, column: column, problem: .init(.incompatibleTable, path: path, message: message)),
                fix
            ))
    }

    /// Returns all problems, in the order in which their statements must run.
    func problems(_ db: Database) throws -> [Found] {
        func isFixed(_ column: String?) -> Bool { column.map { !meantColumns.contains($0) } ?? true }
        let fixes = entries.filter { isFixed($0.found.column) }.map(\.fix)
        let lookups = fixes.compactMap { if case .lookup(let lookup, _) = $0 { lookup } else { nil } }
        let rebuilding = try rebuiltDefinition(fixes).map { try TableRebuild(table, $0, lookups, db).sql }
        var values: [Found] = []
        var first: [Found] = []
        var rest: [Found] = []
        for (found, fix) in entries {
            var found = found
            switch isFixed(found.column) ? fix : .none {
            case .values(let sql):
                found.problem.fixSQL = sql
                values.append(found)
            case .definition, .lookup:
                found.problem.fixSQL = rebuilding
                first.append(found)
            case .column(let column):
                found.problem.fixSQL = rebuilding ?? "ALTER TABLE \(table.name.quoted) ADD COLUMN \(column);"
                first.append(found)
            case .statement(let sql):
                found.problem.fixSQL = sql
                rest.append(found)
            case .omission(let columns, let table, let trigger):
                found.omission = (columns, table, trigger)
                rest.append(found)
            case .none: rest.append(found)
            }
        }
        return values + first + rest
    }

    /// Returns the changed definition of the table; nil if no rebuild is needed, or if the definition cannot be parsed.
    private func rebuiltDefinition(_ fixes: [Fix]) -> TableDefinition? {
        let isNeeded = fixes.contains {
            switch $0 {
            case .definition, .lookup: true
            case .column, .values, .statement, .omission, .none: false
            }
        }
        guard isNeeded, var definition = TableDefinition(table.sql) else { return nil }
        for fix in fixes {
            switch fix {
            case .definition(let change), .lookup(_, let change): change(&definition)
            case .column(let column): definition.add(column: column)
            case .values, .statement, .omission, .none: break
            }
        }
        return definition
    }
}
