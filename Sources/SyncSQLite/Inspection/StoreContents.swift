import GRDB

/// Every row of a store as text, its own tables included, to tell whether anything changed.
package struct StoreContents: Sendable, Hashable {
    /// Table name → rows as SQL literals, in row order.
    package let tables: [String: [String]]

    init(_ db: Database) throws {
        let names = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        var tables: [String: [String]] = [:]
        for name in names {
            let columns = try db.columns(in: name).map { "quote(\($0.name.quotedDatabaseIdentifier))" }
            let row = columns.joined(separator: " || ', ' || ")
            let rows = try String.fetchAll(db, sql: "SELECT \(row) FROM \(name.quotedDatabaseIdentifier)")
            tables[name] = rows.sorted()
        }
        self.tables = tables
    }

    /// A line for each table that differs: how many rows are gone and new, with one of each.
    package func differences(from earlier: StoreContents) -> [String] {
        Set(tables.keys).union(earlier.tables.keys).sorted().compactMap { name in
            let now = tables[name] ?? []
            let before = earlier.tables[name] ?? []
            guard now != before else { return nil }
            let gone = Set(before).subtracting(now).sorted()
            let new = Set(now).subtracting(before).sorted()
            let examples = gone.prefix(1).map { "-(\($0))" } + new.prefix(1).map { "+(\($0))" }
            return "\(name): \(before.count) rows before, \(now.count) after \(examples.joined(separator: " "))"
        }
    }
}
