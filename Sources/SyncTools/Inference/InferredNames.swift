import SyncCore

/// Names that JSON keys give to what they point at.
enum InferredNames {
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
