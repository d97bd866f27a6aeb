import SyncCore

/// Names of a model as Swift spells them.
enum SwiftName {
    private static let keywords: Set<String> = [
        "Any", "Self", "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default",
        "defer",
        "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard",
        "if",
        "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
        "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super",
        "switch",
        "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// The types that the source itself uses.
    private static let takenTypes: Set<String> = [
        "Bool", "Columns", "Data", "Date", "Decimal", "Double", "Entity", "EntityRecord", "Int", "JSONValue",
        "Protocol",
        "Related", "RowNumber", "String", "SyncModel", "Type", "URL", "UUID",
    ]

    /// What '@Entity' adds to a type, and what Swift reads as the value itself.
    private static let takenMembers: Set<String> = [
        "databaseTableName", "entityName", "self", "syncEntity", "syncID", "syncKey", "syncProperties",
    ]

    /// What an attribute or a relationship is called where a type is the model: mostly as it is.
    static func member(_ name: String) -> String { takenMembers.contains(name) ? name + "Value" : name }

    /// A property, in backticks where it needs them.
    static func property(_ name: String) -> String {
        isPlain(name) && !keywords.contains(name) ? name : "`\(name)`"
    }

    /// A type that is called as the entity, or nearly so.
    static func type(_ name: String) -> String {
        var plain = String(name.filter { $0.isLetter || $0.isNumber || $0 == "_" })
        if plain.first?.isNumber ?? true { plain = "Entity" + plain }
        plain = plain.prefix(1).uppercased() + plain.dropFirst()
        return takenTypes.contains(plain) || keywords.contains(plain) ? plain + "Row" : plain
    }

    static func literal(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": escaped += "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                escaped += "\\u{\(String(scalar.value, radix: 16))}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return "\"\(escaped)\""
    }

    private static func isPlain(_ name: String) -> Bool {
        let isLetter = name.first.map { $0.isLetter || $0 == "_" } ?? false
        return isLetter && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }
}
