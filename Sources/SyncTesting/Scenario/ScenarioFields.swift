import SyncCore

/// The fields of one object of a scenario file.
///
/// The caller reads every known field and then calls ``finish()``, which throws if unread fields are left. Otherwise an
/// expectation with a misspelled name would always pass.
struct ScenarioFields {
    private let title: String
    private let members: [JSONValue.Member]
    private var known: Set<String> = []

    /// Creates a reader of an object.
    ///
    /// - Parameter title: The name of the object in errors, such as `the step` or `the parent`.
    init(_ value: JSONValue, of title: String) throws(ScenarioError) {
        guard case .object(let members) = value else {
            throw ScenarioError("\(title) must be an object, not \(value.kindName)")
        }
        var seen: Set<String> = []
        for member in members where !seen.insert(member.key).inserted {
            throw ScenarioError("\(title) has the field '\(member.key)' twice")
        }
        self.title = title
        self.members = members
    }

    var names: [String] { members.map(\.key) }

    func has(_ name: String) -> Bool { members.contains { $0.key == name } }

    /// Returns the value of a field, or nil if the field is missing. Null is a value.
    mutating func optional(_ name: String) -> JSONValue? {
        known.insert(name)
        return members.last { $0.key == name }?.value
    }

    mutating func value(_ name: String) throws(ScenarioError) -> JSONValue {
        guard let value = optional(name) else { throw ScenarioError("\(title) lacks the field '\(name)'") }
        return value
    }

    mutating func object(_ name: String) throws(ScenarioError) -> JSONValue {
        let value = try value(name)
        guard case .object = value else { throw wrong(name, value, "an object") }
        return value
    }

    mutating func optionalString(_ name: String) throws(ScenarioError) -> String? {
        guard let value = optional(name) else { return nil }
        guard case .string(let text) = value else { throw wrong(name, value, "a string") }
        return text
    }

    mutating func string(_ name: String) throws(ScenarioError) -> String {
        let value = try value(name)
        guard case .string(let text) = value else { throw wrong(name, value, "a string") }
        return text
    }

    /// Returns the value of a required field that may be null.
    mutating func stringOrNull(_ name: String) throws(ScenarioError) -> String? {
        let value = try value(name)
        switch value {
        case .string(let text): return text
        case .null: return nil
        default: throw wrong(name, value, "a string or null")
        }
    }

    mutating func optionalInteger(_ name: String) throws(ScenarioError) -> Int? {
        guard let value = optional(name) else { return nil }
        guard case .number(let text) = value, let integer = Int(text) else { throw wrong(name, value, "an integer") }
        return integer
    }

    mutating func integer(_ name: String) throws(ScenarioError) -> Int {
        _ = try value(name)
        return try optionalInteger(name) ?? 0
    }

    /// Returns the value of a Boolean field; false if the field is missing.
    mutating func flag(_ name: String) throws(ScenarioError) -> Bool {
        guard let value = optional(name) else { return false }
        guard case .bool(let flag) = value else { throw wrong(name, value, "true or false") }
        return flag
    }

    /// Returns an object whose values are strings; empty if the field is missing.
    mutating func texts(_ name: String) throws(ScenarioError) -> [String: String] {
        guard let value = optional(name) else { return [:] }
        guard case .object(let members) = value, !members.isEmpty else {
            throw wrong(name, value, "an object of strings")
        }
        var texts: [String: String] = [:]
        for member in members {
            guard case .string(let text) = member.value else { throw wrong(name, value, "an object of strings") }
            texts[member.key] = text
        }
        return texts
    }

    mutating func optionalStrings(_ name: String) throws(ScenarioError) -> [String]? {
        guard let value = optional(name) else { return nil }
        guard case .array(let elements) = value else { throw wrong(name, value, "an array of strings") }
        var strings: [String] = []
        for element in elements {
            guard case .string(let text) = element else { throw wrong(name, element, "an array of strings") }
            strings.append(text)
        }
        return strings
    }

    /// Checks that all fields have been read. Call this method after reading all known fields.
    func finish() throws(ScenarioError) {
        let unknown = names.filter { !known.contains($0) }
        guard unknown.isEmpty else {
            throw ScenarioError(
                "\(title) has \(unknown.count == 1 ? "the unknown field" : "unknown fields") "
                    + unknown.map { "'\($0)'" }.joined(separator: ", "))
        }
    }

    private func wrong(_ name: String, _ value: JSONValue, _ expected: String) -> ScenarioError {
        ScenarioError("the field '\(name)' of \(title) must be \(expected), not \(value.kindName)")
    }
}

extension JSONValue {
    /// The name of the value's JSON type in error messages.
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
