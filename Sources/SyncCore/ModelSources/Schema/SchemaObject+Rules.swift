extension SchemaObject {
    /// What `keys` says.
    mutating func keyCase(_ draft: inout ModelDraft) -> KeyCase? {
        guard let word = text("keys", &draft) else { return nil }
        guard let found = KeyCase(word: word) else {
            note(&draft, "keys", KeyCase.problem(with: word))
            return nil
        }
        return found
    }

    /// A list of texts, none of them empty.
    ///
    /// - Parameter orOne: Whether a text alone stands for a list of it.
    mutating func texts(_ key: String, _ draft: inout ModelDraft, orOne: Bool = false) -> [String] {
        guard let value = self[key] else { return [] }
        if orOne, case .string = value { return text(key, &draft).map { [$0] } ?? [] }
        guard case .array(let elements) = value else {
            note(&draft, key, "expected \(orOne ? "a string or " : "")an array of strings, found \(value.kindName)")
            return []
        }
        return elements.compactMap { element in
            guard case .string(let text) = element, !text.isEmpty else {
                let found = element == .string("") ? "an empty one" : element.kindName
                note(&draft, key, "expected strings in the array, found \(found)")
                return nil
            }
            return text
        }
    }
}
