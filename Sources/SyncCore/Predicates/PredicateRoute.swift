/// A path with its names resolved.
struct PredicateRoute {
    enum End {
        case attribute(slot: Int)
        case relationship(CompiledRelationship)
        case count(CompiledRelationship)
    }

    /// The relationships on the way to the end.
    let hops: [CompiledRelationship]
    let end: End
    let name: String

    /// - Throws: ``SyncError`` `invalidPredicate` for a name there is not, listing those there are.
    init(_ path: PredicatePath, from root: CompiledEntity, in model: CompiledModel, at place: PredicatePlace) throws {
        var hops: [CompiledRelationship] = []
        var entity = root
        name = path.name
        for name in path.components.dropLast() {
            guard let relationship = entity.relationship(named: name) else {
                throw Self.unknown(name, "relationship", entity, model, place)
            }
            hops.append(relationship)
            entity = model.entities[relationship.destination]
        }
        self.hops = hops
        let last = path.components.last ?? ""
        if path.isCount {
            guard let relationship = entity.relationship(named: last), relationship.isToMany else {
                throw place.error("@count needs a to-many relationship, which '\(last)' is not", entity: entity.name)
            }
            end = .count(relationship)
        } else if let slot = entity.slotByName[last] {
            end = .attribute(slot: slot)
        } else if let relationship = entity.relationship(named: last) {
            end = .relationship(relationship)
        } else {
            throw Self.unknown(last, "attribute or relationship", entity, model, place)
        }
    }

    private static func unknown(
        _ name: String, _ kind: String, _ entity: CompiledEntity, _ model: CompiledModel, _ place: PredicatePlace
    ) -> SyncError {
        if entity.slotByName[name] != nil {
            return place.error("'\(name)' is an attribute, so no name can follow it", entity: entity.name)
        }
        let attributes = entity.slots.map { model[entity.table].attributes[$0].name }
        let relationships = entity.relationships.map(\.name)
        let known = [("attributes", attributes), ("relationships", relationships)].filter { !$0.1.isEmpty }
            .map { "the \($0.0) \(ShortList($0.1).text)" }
        let has = known.isEmpty ? "no attributes" : known.joined(separator: " and ")
        let hint = SimilarName.hint(
            for: name, among: kind == "relationship" ? relationships : attributes + relationships)
        return place.error("unknown \(kind) '\(name)'; \(entity.name) has \(has)\(hint)", entity: entity.name)
    }
}
