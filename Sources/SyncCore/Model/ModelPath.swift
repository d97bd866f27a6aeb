/// A place in a model, written as the JSON path it has in a schema file: `entities.User.attributes.age.type`.
struct ModelPath: Sendable {
    private let keys: [String]

    /// The whole document.
    static let root = ModelPath(keys: [])

    static func entity(_ name: String) -> ModelPath { ModelPath.root["entities"][name] }
    static func attribute(_ name: String, of entity: String) -> ModelPath { .entity(entity)["attributes"][name] }
    static func relationship(_ name: String, of entity: String) -> ModelPath { .entity(entity)["relationships"][name] }

    subscript(key: String) -> ModelPath { ModelPath(keys: keys + [key]) }

    /// Written only where there is something to say about it: a model that is right has thousands of places.
    var text: String {
        keys.reduce(into: "$") { text, key in
            if !Self.isPlain(key) {
                text += "[\(JSONText.quoted(key))]"
            } else if text == "$" {
                text = key
            } else {
                text += ".\(key)"
            }
        }
    }

    private static func isPlain(_ key: String) -> Bool {
        !key.isEmpty && key.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" || $0 == "$" }
    }
}
