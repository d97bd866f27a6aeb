/// What a model source declares, before it is checked, with what was wrong in the source itself.
package struct ModelDraft: Sendable {
    package var entities: [SyncModel.Entity]
    /// What it says about the keys of all of them.
    package var rules: KeyRules
    /// What could not be read.
    package var problems: [SyncError.Problem]
    /// Entities and members (`User`, `User.company`) of which something could not be read. They are not blamed for
    /// what follows from that.
    package var unreadable: Set<String>

    package init(
        entities: [SyncModel.Entity] = [], rules: KeyRules = KeyRules(), problems: [SyncError.Problem] = [],
        unreadable: Set<String> = []
    ) {
        self.entities = entities
        self.rules = rules
        self.problems = problems
        self.unreadable = unreadable
    }

    mutating func report(_ path: ModelPath, _ message: String) {
        problems.append(SyncError.Problem(path: path.text, message: message))
    }
}

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
