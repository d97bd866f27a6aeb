/// The members of one object of a schema file, read by name; what does not fit is noted in the draft.
struct SchemaObject {
    let path: ModelPath
    private var members: [String: JSONValue] = [:]
    /// Whether something in this object itself was wrong.
    private(set) var hasProblems = false

    /// Nil if the value is not an object. Unknown and repeated keys are noted.
    init?(_ value: JSONValue, at path: ModelPath, keys: [String], noting draft: inout ModelDraft) {
        self.path = path
        guard case .object(let all) = value else {
            draft.note(path, "expected an object, found \(value.kindName)")
            return nil
        }
        for member in all {
            if !keys.contains(member.key) {
                note(&draft, member.key, "unknown key; known are \(keys.joined(separator: ", "))")
            } else if members.updateValue(member.value, forKey: member.key) != nil {
                note(&draft, member.key, "the key is given twice")
            }
        }
    }

    subscript(key: String) -> JSONValue? { members[key] }

    mutating func note(_ draft: inout ModelDraft, _ key: String, _ message: String) {
        hasProblems = true
        draft.note(path[key], message)
    }

    mutating func text(_ key: String, _ draft: inout ModelDraft) -> String? {
        guard let value = members[key] else { return nil }
        guard case .string(let text) = value else {
            note(&draft, key, "expected a string, found \(value.kindName)")
            return nil
        }
        guard !text.isEmpty else {
            note(&draft, key, "must not be empty")
            return nil
        }
        return text
    }

    /// A name, or a list of names.
    mutating func names(_ key: String, _ draft: inout ModelDraft) -> [String]? {
        guard case .array(let elements)? = members[key] else { return text(key, &draft).map { [$0] } }
        let names = elements.compactMap { element -> String? in
            guard case .string(let name) = element, !name.isEmpty else { return nil }
            return name
        }
        guard names.count == elements.count, !names.isEmpty else {
            note(&draft, key, "expected a name or a list of names")
            return nil
        }
        return names
    }

    mutating func flag(_ key: String, default fallback: Bool, _ draft: inout ModelDraft) -> Bool {
        guard let value = members[key] else { return fallback }
        guard case .bool(let flag) = value else {
            note(&draft, key, "expected true or false, found \(value.kindName)")
            return fallback
        }
        return flag
    }

    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String, _ type: Choice.Type, _ draft: inout ModelDraft
    ) -> Choice? {
        guard let text = text(key, &draft) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            note(&draft, key, "unknown \(key) '\(text)'; known are \(known)")
            return nil
        }
        return choice
    }
}

extension JSONValue {
    /// What kind of value it is, for messages.
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
