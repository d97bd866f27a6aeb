/// Finds relationships without an inverse that others could be the inverse of.
struct InverseExamination {
    private let model: CompiledModel

    init(_ model: CompiledModel) { self.model = model }

    var findings: [Finding] {
        model.entities.flatMap { entity in
            entity.relationships.filter { $0.owner == entity.id && $0.relationship.inverse == nil }
                .compactMap { finding($0, in: entity) }
        }
    }

    private func finding(_ hop: CompiledRelationship, in entity: CompiledEntity) -> Finding? {
        let destination = model.entities[hop.destination]
        let candidates = destination.relationships.filter {
            $0.relationship.inverse == nil && model.entity(hop.owner, isKindOf: $0.destination)
                && !($0.owner == hop.owner && $0.name == hop.name)
        }.map { "\(model.entities[$0.owner].name).\($0.name)" }
        let name = "\(entity.name).\(hop.name)"
        let path = "entities.\(entity.name).relationships.\(hop.name)"
        if candidates.isEmpty {
            guard hop.isToMany else { return nil }
            return Finding(
                .missingInverse, entity: entity.name, path: path,
                message: "\(name) leads to many and has no inverse, so it is many-to-many and never deletes",
                advice: "if a \(destination.name) has one \(entity.name), give \(destination.name) a relationship back "
                    + "and name it as the inverse")
        }
        let others = ShortList(candidates).text(between: " or ")
        return Finding(
            .missingInverse, entity: entity.name, path: path,
            message: "\(name) names no inverse, and \(others) could be it",
            advice: "say which with \"inverse\"; without one the two are kept apart")
    }
}
