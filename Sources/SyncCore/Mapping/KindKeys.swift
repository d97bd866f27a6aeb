/// Which keys of an entity's records name a kind: their own, or that of a row they refer to, as `commentable_type` does
/// beside `commentable_id`.
struct KindKeys {
    private let own: String?
    private let relationships: [String: [Int]]

    init(_ entity: CompiledEntity, of model: CompiledModel) {
        own = model.discriminator(of: entity.id)?.discriminator.key
        var relationships: [String: [Int]] = [:]
        for (index, relationship) in entity.relationships.enumerated() where !relationship.isToMany {
            guard model.discriminator(of: relationship.destination) != nil else { continue }
            for key in Self.keys(beside: relationship.relationship) { relationships[key, default: []].append(index) }
        }
        self.relationships = relationships
    }

    /// What a key is beside what it fills, at the end of a path.
    func targets(of key: String) -> [KeyTable.Target] {
        (relationships[key] ?? []).map { .kind(relationship: $0) } + (key == own ? [.kind(relationship: -1)] : [])
    }

    /// Whether a key leads to the kind of a record.
    func isAbove(_ key: String) -> Bool { own?.hasPrefix(key + ".") ?? false }

    private static func keys(beside relationship: SyncModel.Relationship) -> [String] {
        guard let remote = relationship.remoteKey else {
            return ["\(Inflection.snakeCase(relationship.name))_type", "\(relationship.name)Type"]
        }
        for (ending, kind) in [("_id", "_type"), ("Id", "Type"), ("ID", "Type"), ("-id", "-type")]
        where remote.hasSuffix(ending) {
            return [remote.dropLast(ending.count) + kind]
        }
        return [remote + "_type", remote + "Type"]
    }
}
