/// What kind of value a field has, and how values are compared.
enum ParseType {
    /// The name that a schema has for a value.
    static func name(of value: JSON) -> String {
        switch value {
        case .null: "Null"
        case .bool: "Boolean"
        case .integer, .number: "Number"
        case .string: "String"
        case .array: "Array"
        case .object(let members):
            switch members["__type"]?.text {
            case "Pointer": "Pointer \(members["className"]?.text ?? "")"
            case let type?: type
            case nil: "Object"
            }
        }
    }

    /// A text that is in the order of the values: of dates, ids and texts, which is all that is compared here.
    static func text(_ value: JSON?) -> String {
        switch value {
        case .string(let text)?: text
        case .integer(let whole)?: String(whole)
        case .object(let members)?: members["iso"]?.text ?? members["objectId"]?.text ?? ""
        default: ""
        }
    }
}

/// Ids as Parse gives them: ten characters, in no order.
enum ParseID {
    /// What only the server writes.
    static let owned = ["objectId", "createdAt", "updatedAt"]

    /// Whether only the server writes a field.
    static func isOwned(_ field: String) -> Bool { owned.contains(field) }

    /// The id of a number: its digits from the last to the first, so that later ids are not greater ones.
    static func text(_ number: Int) -> String {
        let digits = String(String(number).reversed())
        return "o" + digits + String(repeating: "x", count: max(0, 9 - digits.count))
    }
}
