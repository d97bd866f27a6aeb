import SyncCore

/// The names that tables and columns get in a model.
struct AdoptedNames {
    private var entities: Set<String> = []
    /// By entity.
    private var members: [String: Set<String>] = [:]

    /// `blog_posts` → `BlogPost`.
    mutating func entity(of table: String) -> String {
        let name = Inflection.singular(Self.plain(table))
        return Self.free(name.prefix(1).uppercased() + name.dropFirst(), &entities)
    }

    mutating func member(_ name: String, of entity: String) -> String {
        Self.free(Self.allowed(name), &members[entity, default: []])
    }

    /// `author_id` → `author`.
    static func relationship(of column: String) -> String {
        let name = plain(column)
        guard name.count > 2, name.lowercased().hasSuffix("id") else { return name }
        let rest = String(name.dropLast(2))
        return name.hasSuffix("ID") || name.hasSuffix("Id") ? rest : name
    }

    /// What leads back to the rows of a table: `posts`, `post`, or of several ones `authorPosts`.
    static func inverse(of table: String, isMany: Bool, via relationship: String?) -> String {
        let one = Inflection.singular(plain(table))
        var name = isMany ? plural(one) : one
        if let relationship { name = relationship + name.prefix(1).uppercased() + name.dropFirst() }
        return name
    }

    private static func plural(_ word: String) -> String {
        let ending = word.suffix(2).lowercased()
        if word.hasSuffix("y"), !["ay", "ey", "oy", "uy"].contains(ending) { return word.dropLast() + "ies" }
        return word + (word.hasSuffix("s") || word.hasSuffix("x") || ["ch", "sh"].contains(ending) ? "es" : "s")
    }

    /// `full_name` → `fullName`, `ID` → `id`.
    static func plain(_ name: String) -> String {
        let isShouted = name.uppercased() == name && !name.contains("_")
        return allowed(isShouted ? name.lowercased() : Inflection.camelCase(name) ?? name)
    }

    /// Why a model cannot name a table or column.
    static func problem(with name: String) -> String? {
        let folded = name.foldedForSQL
        if ["sync_", "sqlite_"].contains(where: folded.hasPrefix) { return "names beginning so are reserved" }
        let isOdd =
            name.isEmpty || name.unicodeScalars.contains { $0 == "\"" || $0.properties.generalCategory == .control }
        return isOdd ? "a name must not be empty or contain quotes or control characters" : nil
    }

    /// Without what a name must not have.
    private static func allowed(_ name: String) -> String {
        let letters = name.map { $0.isLetter || $0.isNumber || $0 == "_" ? String($0) : "_" }.joined()
        let isReserved = ["sync_", "sqlite_"].contains { letters.lowercased().hasPrefix($0) }
        return isReserved || letters.isEmpty ? "_\(letters)" : letters
    }

    private static func free(_ name: String, _ taken: inout Set<String>) -> String {
        var free = name
        var number = 2
        while !taken.insert(free.foldedForSQL).inserted {
            free = "\(name)\(number)"
            number += 1
        }
        return free
    }
}
