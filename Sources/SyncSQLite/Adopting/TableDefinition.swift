import SyncCore

/// A `CREATE TABLE` statement that can be changed where something does not fit, and keeps the rest as it was written.
struct TableDefinition {
    /// What stands between the commas, each as words: columns first, then what concerns the table.
    private var columns: [[String]] = []
    private var constraints: [[String]] = []
    private var options: [String] = []

    /// Nil for another statement.
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

    /// Makes a foreign key of a column anew.
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

    /// What was the primary key is something unique.
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
