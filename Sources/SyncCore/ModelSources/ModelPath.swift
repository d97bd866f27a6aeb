/// A place in a model, written as the JSON path it has in a schema file: `entities.User.attributes.age.type`.
struct ModelPath: Sendable {
    let text: String

    /// The whole document.
    static let root = ModelPath(text: "$")

    static func entity(_ name: String) -> ModelPath { ModelPath.root["entities"][name] }
    static func attribute(_ name: String, of entity: String) -> ModelPath { .entity(entity)["attributes"][name] }
    static func relationship(_ name: String, of entity: String) -> ModelPath { .entity(entity)["relationships"][name] }

    subscript(key: String) -> ModelPath {
        let isPlain =
            !key.isEmpty && key.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" || $0 == "$" }
        guard isPlain else { return ModelPath(text: "\(text)[\(JSONText.quoted(key))]") }
        return ModelPath(text: text == Self.root.text ? key : "\(text).\(key)")
    }
}
