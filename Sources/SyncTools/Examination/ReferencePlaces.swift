import SyncCore

/// Where references that a dry run could not resolve first stand in the payload.
struct ReferencePlaces {
    private struct Reference: Hashable {
        let entity: Int
        let relationship: String
        let target: String
    }

    private struct Relationship: Hashable {
        let entity: Int
        let name: String
    }

    private let model: CompiledModel
    private var relationships: Set<Relationship> = []
    private var wanted: Set<Reference> = []
    private var paths: [Reference: String] = [:]

    init(_ unresolved: [SyncResult.UnresolvedReference], in model: CompiledModel) {
        self.model = model
        for reference in unresolved {
            guard let found = self.reference(reference) else { continue }
            wanted.insert(found)
            relationships.insert(Relationship(entity: found.entity, name: found.relationship))
        }
    }

    private func reference(_ found: SyncResult.UnresolvedReference) -> Reference? {
        model.entityID(found.entity).map {
            Reference(entity: $0, relationship: found.relationship, target: "\(found.target)")
        }
    }

    /// Whether the places of a relationship's references are asked for at all.
    func isWanted(_ relationship: String, of entity: Int) -> Bool {
        !relationships.isEmpty && relationships.contains(Relationship(entity: entity, name: relationship))
    }

    /// Notes a reference by id, if its place is asked for and not known yet.
    mutating func note(
        _ id: JSONValue, by hop: CompiledRelationship, of entity: Int, at path: @autoclosure () -> String
    ) {
        let reference = Reference(
            entity: entity, relationship: hop.name, target: key(id, model.entities[hop.destination]))
        if wanted.remove(reference) != nil { paths[reference] = path() }
    }

    private func key(_ id: JSONValue, _ entity: CompiledEntity) -> String {
        model.rowKey(id, of: entity)?.recordKey(model.keyType(of: entity.id)).description ?? ""
    }

    func path(of unresolved: SyncResult.UnresolvedReference) -> String? {
        reference(unresolved).flatMap { paths[$0] }
    }
}
