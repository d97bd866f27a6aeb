/// Names for what JSON keys hold, such that they can be names of tables and columns.
enum InferredNames {
    /// Names that SQLite has for its own row numbers.
    private static let reserved: Set<String> = ["rowid", "oid"]

    /// `first_name` → `firstName`, `@type` → `type`, `ISBN` → `isbn`, `2fa` → `value2fa`.
    static func member(_ key: String) -> String {
        let words = key.split { !$0.isLetter && !$0.isNumber }.map(String.init)
        guard !words.isEmpty else { return "value" }
        // A trailing underscore makes one word go the way of several: ISBN.
        let isShouted = words.count == 1 && words[0].count > 1 && words[0] == words[0].uppercased()
        let name =
            isShouted ? words[0].lowercased() : Inflection.camelCase(words.joined(separator: "_")) ?? words.joined()
        if name.first?.isNumber ?? true { return "value" + name }
        return reserved.contains(name.lowercased()) ? name + "Value" : name
    }

    /// `line_items` → `LineItem`; the key of a single object is taken as it is.
    static func entity(_ key: String, isList: Bool) -> String {
        let name = member(isList ? Inflection.singular(key) : key)
        let entity = name.prefix(1).uppercased() + name.dropFirst()
        return ["sync", "sqlite"].contains(entity.lowercased()) ? entity + "Entity" : entity
    }

    /// What a key that holds ids calls its target: `company_id` → `company`, `tagIds` → `tag`. Nil for other keys.
    static func target(ofIDKey key: String) -> (name: String, isList: Bool)? {
        let snake = Inflection.snakeCase(key).replacing("-", with: "_")
        for (ending, isList) in [("_ids", true), ("_id", false)] where snake.hasSuffix(ending) {
            let name = String(snake.dropLast(ending.count))
            return name.isEmpty ? nil : (isList ? Inflection.singular(name) : name, isList)
        }
        return nil
    }
}
