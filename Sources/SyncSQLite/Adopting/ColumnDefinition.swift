/// The words of a column in a `CREATE TABLE` statement, by what they say.
struct ColumnDefinition {
    let name: String
    let type: [String]
    /// Each with the name it may have.
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
        // A clause that has a name so far.
        if clause.first?.uppercased() == "CONSTRAINT", clause.count == 2 { return false }
        switch (word, clause.last?.uppercased()) {
        case ("NULL", "NOT"), ("NULL", "DEFAULT"), ("NULL", "SET"), ("DEFAULT", "SET"), ("AS", "ALWAYS"): return false
        case ("NOT", _): return next != "DEFERRABLE"
        default: return true
        }
    }

    /// The word that says what a clause is.
    static func kind(_ clause: [String]) -> String? {
        let words = clause.map { $0.uppercased() }
        return words.first == "CONSTRAINT" ? words.dropFirst(2).first : words.first
    }

    var words: [String] { [name] + type + clauses.flatMap { $0 } }
}
