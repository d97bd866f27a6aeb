import GRDB
import SyncCore

/// The statements that make a table anew with another definition, and keep its rows, indexes and triggers.
struct TableRebuild {
    let sql: String

    /// - Parameter lookups: The columns whose values are replaced by keys.
    init(_ table: AppTable, _ definition: TableDefinition, _ lookups: [KeyLookup], _ db: Database) throws {
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

    /// Statements that must not make foreign keys act. Where those cannot be switched off, as in a transaction, the
    /// first of them fails.
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
