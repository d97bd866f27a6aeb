extension SyncModel {
    /// The model of Swift types, checked together.
    ///
    /// ```swift
    /// let model = try SyncModel(User.self, Note.self)
    /// ```
    /// - Parameters:
    ///   - keys: How the keys of JSON are spelled where an entity does not say.
    ///   - ignore: Patterns of keys that nothing is wanted of.
    /// - Throws: ``SyncError`` `invalidModel` with every problem found.
    public init(_ types: any SyncEntity.Type..., keys: KeyCase? = nil, ignore: [String] = []) throws {
        try self.init(types: types, keys: keys, ignore: ignore)
    }

    /// The model of Swift types, checked together.
    ///
    /// - Throws: ``SyncError`` `invalidModel` with every problem found.
    public init(types: [any SyncEntity.Type], keys: KeyCase? = nil, ignore: [String] = []) throws {
        let declared = types.map { $0.syncEntity }
        let byName = Dictionary(declared.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        try self.init(
            entities: declared.map { $0.withoutMembers(of: Self.ancestors(of: $0, in: byName)) }, keys: keys,
            ignore: ignore)
    }

    private static func ancestors(of entity: Entity, in entities: [String: Entity]) -> [Entity] {
        var found: [Entity] = []
        var next = entity.parent.flatMap { entities[$0] }
        while let parent = next, !found.contains(where: { $0.name == parent.name }) {
            found.append(parent)
            next = parent.parent.flatMap { entities[$0] }
        }
        return found
    }
}

extension SyncModel.Entity {
    /// A struct has the properties of the entities above it too, which a model declares once.
    fileprivate func withoutMembers(of ancestors: [SyncModel.Entity]) -> SyncModel.Entity {
        guard !ancestors.isEmpty else { return self }
        var entity = self
        entity.attributes.removeAll { own in
            ancestors.contains { $0.attributes.contains { $0.name == own.name } }
        }
        entity.relationships.removeAll { own in
            ancestors.contains { $0.relationships.contains { $0.name == own.name } }
        }
        return entity
    }
}
