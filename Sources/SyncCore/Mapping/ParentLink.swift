/// The link through which a parent lists the rows of an entity.
struct ParentLink {
    let parent: CompiledEntity
    let link: LinkID
    /// The end at which the parent is.
    let end: Link.End

    /// - Throws: ``SyncError`` `unknownEntity`, `unknownRelationship`, or `ambiguousRelationship` with the candidates.
    init(of child: CompiledEntity, parent name: String, relationship: String?, _ model: CompiledModel) throws {
        parent = try model.entity(named: name)
        let candidates = Self.candidates(child, parent, model)
        if let relationship {
            guard let chosen = candidates.first(where: { $0.name == relationship }) else {
                let known = ShortList(candidates.map(\.name)).text
                throw SyncError(
                    .unknownRelationship,
                    "\(name) has no relationship '\(relationship)' to \(child.name); it has \(known.isEmpty ? "none" : known)"
                        + SimilarName.hint(for: relationship, among: candidates.map(\.name)), entity: name)
            }
            (link, end) = (chosen.link, chosen.end)
            return
        }
        guard let only = candidates.first else {
            throw SyncError(.unknownRelationship, "\(name) has no relationship to \(child.name)", entity: name)
        }
        guard candidates.count == 1 else {
            let names = ShortList(candidates.map(\.name)).text
            throw SyncError(
                .ambiguousRelationship, "\(name) has several relationships to \(child.name), name one: \(names)",
                entity: name)
        }
        (link, end) = (only.link, only.end)
    }

    /// The parent's to-many relationships to the child entity, and the child's to-one relationships to the parent that
    /// have no inverse, by their own names.
    private static func candidates(
        _ child: CompiledEntity, _ parent: CompiledEntity, _ model: CompiledModel
    ) -> [(name: String, link: LinkID, end: Link.End)] {
        var found: [(name: String, link: LinkID, end: Link.End)] = []
        for relationship in parent.relationships
        where relationship.isToMany && model.entity(child.id, isKindOf: relationship.destination) {
            found.append((relationship.name, relationship.link, relationship.end))
        }
        for relationship in child.relationships
        where !relationship.isToMany && relationship.relationship.inverse == nil
            && model.entity(parent.id, isKindOf: relationship.destination)
        {
            found.append((relationship.name, relationship.link, relationship.end.other))
        }
        return found
    }
}
