import SyncCore
import SyncStore

/// Which parts of an old model live on in which parts of a new one: by name, or by `renamedFrom`.
struct MigrationMap {
    /// An old link that goes into a new one, perhaps seen from the other side.
    struct LinkSource {
        var link: LinkID
        var isFlipped: Bool
    }

    let old: StoreLayout
    let new: StoreLayout
    /// New entity → old entity.
    let entities: [Int: Int]
    /// Old entity → new entity.
    let successors: [Int: Int]
    /// The tables of the old model by name.
    let oldTables: [String: TableID]
    private(set) var links: [LinkID: [LinkSource]] = [:]
    /// Old link → the first new link that it goes into.
    private(set) var linkSuccessors: [LinkID: LinkID] = [:]

    init(from old: SyncModel, to new: SyncModel) {
        self.old = StoreLayout(old.compiled)
        self.new = StoreLayout(new.compiled)
        var entities: [Int: Int] = [:]
        var successors: [Int: Int] = [:]
        for (id, entity) in new.compiled.entities.enumerated() {
            let renamed = new.entities[id].renamedFrom.flatMap { new.entity(named: $0) == nil ? $0 : nil }
            guard let found = old.compiled.entityID(entity.name) ?? renamed.flatMap(old.compiled.entityID),
                successors[found] == nil
            else { continue }
            entities[id] = found
            successors[found] = id
        }
        self.entities = entities
        self.successors = successors
        let names = self.old.model.trees.map { [old = self.old] in (old[$0.id].name, $0.id) }
        oldTables = Dictionary(names, uniquingKeysWith: { first, _ in first })
        for link in new.compiled.links {
            let sources = sources(of: link)
            links[link.id] = sources
            for source in sources where linkSuccessors[source.link] == nil { linkSuccessors[source.link] = link.id }
        }
    }

    // MARK: Attributes

    /// The old slot of an attribute.
    func slot(_ slot: Int, of entity: CompiledEntity) -> Int? {
        guard let before = entities[entity.id].map({ old.model.entities[$0] }) else { return nil }
        let attribute = new.model[entity.table].attributes[slot]
        if let found = before.slotByName[attribute.name] { return found }
        guard let renamed = attribute.renamedFrom, entity.slotByName[renamed] == nil else { return nil }
        return before.slotByName[renamed]
    }

    // MARK: Links

    private func sources(of link: Link) -> [LinkSource] {
        var found: [LinkSource] = []
        for end in [Link.End.first, .second] {
            guard let relationship = link.side(end).relationship else { continue }
            for owner in owners(of: link.side(end).entity) {
                guard let before = predecessor(of: relationship, in: owner, link.side(end).entity),
                    isSameDestination(before, link.side(end.other).entity),
                    !found.contains(where: { $0.link == before.link })
                else { continue }
                found.append(LinkSource(link: before.link, isFlipped: before.end != end))
            }
        }
        return found
    }

    /// The old entities that an entity and those below it come from.
    private func owners(of entity: Int) -> [CompiledEntity] {
        new.model.entities[entity].family.compactMap { entities[$0] }.map { old.model.entities[$0] }
    }

    private func predecessor(
        of relationship: SyncModel.Relationship, in owner: CompiledEntity, _ entity: Int
    ) -> CompiledRelationship? {
        if let same = owner.relationship(named: relationship.name) { return same }
        guard let renamed = relationship.renamedFrom,
            new.model.entities[entity].relationship(named: renamed) == nil
        else { return nil }
        return owner.relationship(named: renamed)
    }

    /// Whether what a relationship led to is still what it leads to: the entity, or one above or below it.
    private func isSameDestination(_ before: CompiledRelationship, _ destination: Int) -> Bool {
        let family = old.model.entities[before.destination].family.compactMap { successors[$0] }
        return family.contains {
            new.model.entity($0, isKindOf: destination) || new.model.entity(destination, isKindOf: $0)
        }
    }

    /// The name that an old relationship has in the new model; nil if it is gone.
    func name(of relationship: String, ofOld entity: Int) -> String? {
        guard let successor = successors[entity].map({ new.model.entities[$0] }) else { return nil }
        if successor.relationship(named: relationship) != nil { return relationship }
        return successor.relationships.first { $0.relationship.renamedFrom == relationship }?.name
    }
}
