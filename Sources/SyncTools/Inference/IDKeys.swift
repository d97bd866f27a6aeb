import SyncCore

/// Which keys of an entity look as if they held ids of the same rows.
struct IDKeys {
    private struct Target: Hashable {
        let name: String
        let isList: Bool

        init?(_ key: String) {
            guard let found = InferredNames.target(ofIDKey: key) else { return nil }
            (name, isList) = found
        }
    }

    private let keys: [Target: [String]]
    private let objects: Set<String>

    init(of entity: InferredEntity) {
        var keys: [Target: [String]] = [:]
        for key in entity.object.keys { Target(key).map { keys[$0, default: []].append(key) } }
        self.keys = keys
        objects = Set(entity.destinations.keys.map { Inflection.memberName($0).lowercased() })
    }

    /// The keys that name the same target as this one, itself among them.
    func alike(_ key: String) -> [String] { Target(key).flatMap { keys[$0] } ?? [] }

    /// Whether objects stand under a key that gives a relationship this name.
    func hasObjects(for relationship: String) -> Bool { objects.contains(relationship.lowercased()) }
}
