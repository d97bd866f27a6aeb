import GRDB
import SyncCore
import SyncStore

extension AdoptionCheck {
    /// Refuses triggers through which other rows come out of a sync than it says: those that take a write back, and
    /// those that write to what the model knows. What they write elsewhere is the app's.
    func checkTriggers(_ found: inout TableProblems) throws {
        let triggers = try Row.fetchAll(
            db,
            sql: """
                SELECT name, sql, 0 FROM main.sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE
                UNION ALL
                SELECT name, sql, 1 FROM sqlite_temp_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE
                """, arguments: [found.table.name])
        let columns = columnsOfTables()
        for trigger in triggers {
            let name: String = trigger[0]
            let schema = trigger[2] == 1 ? "temp" : "main"
            let words = SQLTokens(trigger[1] ?? "").texts
            guard let message = Self.problem(words, columns) else { continue }
            found.note("the trigger \(name) \(message)", .statement("DROP TRIGGER IF EXISTS \(schema).\(name.quoted);"))
        }
    }

    /// By table, what a sync writes to it.
    func columnsOfTables() -> [String: Set<String>] {
        var columns: [String: Set<String>] = [:]
        for tree in layout.model.trees { columns[layout[tree.id].name.foldedForSQL] = knownColumns(of: tree) }
        for case .joinTable(let name, let first, let second, let firstOrder, let secondOrder) in layout.links {
            let known = [first, second, firstOrder, secondOrder].compactMap(\.self)
            columns[name.foldedForSQL] = Set(known.map(\.foldedForSQL))
        }
        return columns
    }

    private static func problem(_ words: [String], _ columns: [String: Set<String>]) -> String? {
        let upper = words.map { $0.uppercased() }
        let begin = upper.firstIndex(of: "BEGIN") ?? 0
        func known(_ index: Int) -> (name: String, columns: Set<String>)? {
            guard index < words.count else { return nil }
            let name = SQLTokens.name(words[index].split(separator: ".").last.map(String.init) ?? words[index])
            return columns[name.foldedForSQL].map { (name, $0) }
        }
        for (index, word) in upper.enumerated() where index > begin {
            switch word {
            case "RAISE" where index + 2 < upper.count && upper[index + 2] == "IGNORE":
                return "can take back what a sync writes, by RAISE(IGNORE)"
            case "INTO", "FROM":
                let isDelete = word == "FROM" && upper[index - 1] == "DELETE"
                guard word == "INTO" || isDelete, let table = known(index + 1) else { continue }
                return "\(isDelete ? "deletes from" : "inserts into") \(table.name), whose rows a sync says"
            case "SET":
                guard let update = upper[..<index].lastIndex(of: "UPDATE"),
                    let table = known(upper[update + 1] == "OR" ? update + 3 : update + 1)
                else { continue }
                let written = assigned(words, after: index).filter { table.columns.contains($0.foldedForSQL) }
                if !written.isEmpty { return "writes to \(table.name).\(written.joined(separator: ", "))" }
            default: continue
            }
        }
        return nil
    }

    /// The columns that an `UPDATE` sets.
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
