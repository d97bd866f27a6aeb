import SyncCore

/// A validator for the part of JSON Schema that `schema.schema.json` uses.
/// Any other keyword is a violation, so no rule is silently ignored.
struct JSONSchemaChecker {
    private static let annotations: Set<String> = ["$schema", "title", "description", "default", "$defs"]
    let root: JSONValue

    /// Returns the violations of a value, each with its path.
    func violations(of value: JSONValue) -> [String] { violations(of: value, by: root, at: "$") }

    private func violations(of value: JSONValue, by schema: JSONValue, at path: String) -> [String] {
        guard case .object(let keywords) = schema else {
            return schema == .bool(true) ? [] : ["\(path): not allowed"]
        }
        return keywords.flatMap { keyword -> [String] in
            switch keyword.key {
            case "type": return isOf(type: keyword.value, value) ? [] : ["\(path): not of type \(keyword.value)"]
            case "enum": return elements(keyword.value).contains(value) ? [] : ["\(path): not one of the values"]
            case "minLength":
                guard case .string(let text) = value, case .number(let least) = keyword.value else { return [] }
                return text.count >= Int(least) ?? .max ? [] : ["\(path): too short"]
            case "required": return missing(keyword.value, in: value).map { "\(path): \($0) is missing" }
            case "properties": return properties(of: value, by: keyword.value, at: path)
            case "additionalProperties":
                return additional(of: value, by: keyword.value, besides: schema["properties"], at: path)
            case "minItems":
                guard case .array(let elements) = value, case .number(let least) = keyword.value else { return [] }
                return elements.count >= Int(least) ?? .max ? [] : ["\(path): too few elements"]
            case "uniqueItems":
                guard keyword.value == .bool(true), case .array(let elements) = value else { return [] }
                return Set(elements).count == elements.count ? [] : ["\(path): an element comes twice"]
            case "items":
                return elements(value).flatMap { violations(of: $0, by: keyword.value, at: path + "[]") }
            case "$ref":
                guard let target = definition(keyword.value) else { return ["\(path): \(keyword.value) leads nowhere"] }
                return violations(of: value, by: target, at: path)
            case "oneOf", "anyOf":
                let fitting = elements(keyword.value).filter { violations(of: value, by: $0, at: path).isEmpty }
                let isRight = keyword.key == "oneOf" ? fitting.count == 1 : !fitting.isEmpty
                return isRight ? [] : ["\(path): fits \(fitting.count) of the alternatives"]
            default: return Self.annotations.contains(keyword.key) ? [] : ["\(path): unknown keyword \(keyword.key)"]
            }
        }
    }

    private func isOf(type: JSONValue, _ value: JSONValue) -> Bool {
        switch (type, value) {
        case ("object", .object), ("array", .array), ("string", .string), ("boolean", .bool), ("null", .null),
            ("number", .number):
            true
        default: false
        }
    }

    private func properties(of value: JSONValue, by schemas: JSONValue, at path: String) -> [String] {
        members(value).flatMap { member in
            schemas[member.key].map { violations(of: member.value, by: $0, at: "\(path).\(member.key)") } ?? []
        }
    }

    private func additional(
        of value: JSONValue, by schema: JSONValue, besides known: JSONValue?, at path: String
    ) -> [String] {
        members(value).filter { known?[$0.key] == nil }.flatMap {
            violations(of: $0.value, by: schema, at: "\(path).\($0.key)")
        }
    }

    private func missing(_ names: JSONValue, in value: JSONValue) -> [JSONValue] {
        guard case .object(let members) = value else { return [] }
        return elements(names).filter { name in !members.contains { .string($0.key) == name } }
    }

    private func definition(_ reference: JSONValue) -> JSONValue? {
        guard case .string(let text) = reference, text.hasPrefix("#/$defs/") else { return nil }
        return root["$defs"]?[String(text.dropFirst("#/$defs/".count))]
    }

    private func elements(_ value: JSONValue) -> [JSONValue] {
        guard case .array(let elements) = value else { return [] }
        return elements
    }

    private func members(_ value: JSONValue) -> [JSONValue.Member] {
        guard case .object(let members) = value else { return [] }
        return members
    }
}
