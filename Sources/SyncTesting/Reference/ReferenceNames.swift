import SyncCore

/// Under which JSON keys the relationships of a model stand, for those that somebody asked about.
struct ReferenceNames: Sendable {
    typealias Keys = (objects: [String], ids: [String])

    private struct LinkEnd: Hashable {
        let link: LinkID
        let end: Link.End
        /// Each may spell its keys in its own way.
        let entity: Int
    }

    private let known = Locked<[LinkEnd: Keys]>([:])

    /// Keys of objects and of ids, the strongest first.
    func keys(of relationship: CompiledRelationship, as entity: CompiledEntity, in model: CompiledModel) -> Keys {
        known.withLock { known in
            let end = LinkEnd(link: relationship.link, end: relationship.end, entity: entity.id)
            if let keys = known[end] { return keys }
            let rules = model.rules(of: entity)
            let keys = (
                objects: AttributeNaming.objectKeys(for: relationship.relationship, rules.keys),
                ids: AttributeNaming.idKeys(for: relationship.relationship, rules.keys)
                    .filter { !model.names(of: entity).ignoresByName($0) }
            )
            known[end] = keys
            return keys
        }
    }
}
