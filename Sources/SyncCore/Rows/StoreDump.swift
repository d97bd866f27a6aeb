/// All rows of a store as text. Compare two dumps to detect changes.
package struct StoreDump: Sendable, Hashable {
    /// The rows of each table as text, such as SQL literals, sorted. They are compared byte for byte.
    package let tables: [String: [StoredValue]]

    /// - Parameter tables: The rows of each table as text.
    package init(_ tables: [String: [String]]) {
        self.tables = tables.mapValues { rows in
            rows.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map(StoredValue.string)
        }
    }

    /// Returns a description of each table that differs. A description contains the row counts, and an example of a
    /// removed row and of an added row.
    package func differences(from earlier: StoreDump) -> [String] {
        Set(tables.keys).union(earlier.tables.keys).sorted().compactMap { name in
            let now = tables[name] ?? []
            let before = earlier.tables[name] ?? []
            guard now != before else { return nil }
            let gone = Set(before).subtracting(now).compactMap(\.string).sorted()
            let new = Set(now).subtracting(before).compactMap(\.string).sorted()
            let examples = gone.prefix(1).map { "-(\($0))" } + new.prefix(1).map { "+(\($0))" }
            return "\(name): \(before.count) rows before, \(now.count) after \(examples.joined(separator: " "))"
        }
    }
}
