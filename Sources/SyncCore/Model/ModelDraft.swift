/// The entities of a model before validation, with the problems found in the model file.
package struct ModelDraft: Sendable {
    package var entities: [SyncModel.Entity] = []
    /// The rules for JSON keys that apply to all entities.
    package var rules = KeyRules()
    /// The problems found in the file.
    package var problems: [SyncDiagnostic] = []
    /// The entities, attributes and relationships (`User`, `User.company`) that could not be read completely.
    /// Validation does not report problems that these gaps cause.
    package var unreadable: Set<String> = []

    mutating func report(_ path: ModelPath, _ message: String) {
        problems.append(SyncDiagnostic(.invalidModel, path: path.text, message: message))
    }
}

/// A location in a model, as a JSON path in a schema file: `entities.User.attributes.age.type`.
struct ModelPath: Sendable {
    private let keys: [String]

    /// The path of the root object.
    static let root = ModelPath(keys: [])

    static func entity(_ name: String) -> ModelPath { ModelPath.root["entities"][name] }
    static func attribute(_ name: String, of entity: String) -> ModelPath { .entity(entity)["attributes"][name] }
    static func relationship(_ name: String, of entity: String) -> ModelPath { .entity(entity)["relationships"][name] }

    subscript(key: String) -> ModelPath { ModelPath(keys: keys + [key]) }

    /// The text of the path. It is computed only for a problem, because validation creates thousands of paths.
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
