/// The types of fields, and the order of values.
enum ParseType {
    /// Returns the type of a value, as a schema names it.
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

    /// Returns a text with the order of the value. Only dates, IDs and strings are compared.
    static func text(_ value: JSON?) -> String {
        switch value {
        case .string(let text)?: text
        case .integer(let whole)?: String(whole)
        case .object(let members)?: members["iso"]?.text ?? members["objectId"]?.text ?? ""
        default: ""
        }
    }
}

/// IDs in the format of Parse: ten characters, without an order.
enum ParseID {
    /// The fields that only the server writes.
    static let owned = ["objectId", "createdAt", "updatedAt"]

    /// Returns whether only the server writes a field.
    static func isOwned(_ field: String) -> Bool { owned.contains(field) }

    /// Returns the ID for a number. Its digits are reversed, so that later IDs are not greater.
    static func text(_ number: Int) -> String {
        let digits = String(String(number).reversed())
        return "o" + digits + String(repeating: "x", count: max(0, 9 - digits.count))
    }
}
