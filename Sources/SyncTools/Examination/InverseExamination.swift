import SyncCore

/// Finds relationships without an inverse that others could be the inverse of.
struct InverseExamination {
    /// So many of those that could be it are named.
    private static let namedCandidates = 5

    private let model: CompiledModel
    /// By entity, and by the entity they lead to: the positions of its relationships without an inverse.
    private let open: [[Int: [Int]]]

    init(_ model: CompiledModel) {
        self.model = model
        open = model.entities.map { entity in
            let positions = entity.relationships.indices.filter { entity.relationships[$0].relationship.inverse == nil }
            return Dictionary(grouping: positions) { entity.relationships[$0].destination }
        }
    }

    var findings: [SyncExamination.Finding] {
        model.entities.flatMap { entity in
            entity.relationships.filter { $0.owner == entity.id && $0.relationship.inverse == nil }
                .compactMap { finding($0, in: entity) }
        }
    }

    private func finding(_ hop: CompiledRelationship, in entity: CompiledEntity) -> SyncExamination.Finding? {
        let destination = model.entities[hop.destination]
        let (candidates, count) = candidates(for: hop, in: destination)
        let name = "\(entity.name).\(hop.name)"
        let path = "entities.\(entity.name).relationships.\(hop.name)"
        if count == 0 {
            // Rows without a key belong to the row that has them, and go with it.
            guard hop.isToMany, destination.isKeyed else { return nil }
            return SyncExamination.Finding(
                .missingInverse, entity: entity.name, path: path,
                message: "\(name) leads to many and has no inverse, so it is many-to-many and never deletes",
                advice: "if a \(destination.name) has one \(entity.name), give \(destination.name) a relationship back "
                    + "and name it as the inverse")
        }
        let others = ShortList(candidates, upTo: nil, of: count).text(between: " or ")
        return SyncExamination.Finding(
            .missingInverse, entity: entity.name, path: path,
            message: "\(name) names no inverse, and \(others) could be it",
            advice: "say which with \"inverse\"; without one the two are kept apart")
    }

    /// The first relationships that lead back to the owner of one, and how many there are.
    private func candidates(
        for hop: CompiledRelationship, in destination: CompiledEntity
    ) -> (names: [String], count: Int) {
        let owners = sequence(first: hop.owner) { model.entities[$0].parent }
        let lists = owners.compactMap { open[destination.id][$0] }
        let itself = destination.relationshipByName[hop.name].flatMap { position in
            destination.relationships[position].owner == hop.owner ? position : nil
        }
        let isListed =
            itself.map { position in
                let relationship = destination.relationships[position]
                return relationship.relationship.inverse == nil
                    && model.entity(hop.owner, isKindOf: relationship.destination)
            } ?? false
        let first = lists.flatMap { $0.prefix(Self.namedCandidates + 1) }.sorted().filter { $0 != itself }
        let names = first.prefix(Self.namedCandidates).map { position in
            let found = destination.relationships[position]
            return "\(model.entities[found.owner].name).\(found.name)"
        }
        return (names, lists.reduce(0) { $0 + $1.count } - (isListed ? 1 : 0))
    }
}
