import SyncCore

/// Makes a model of inferred entities: names, keys, inverses.
struct ModelAssembly {
    private(set) var model: SyncModel
    private(set) var remarks: [InferenceRemark]
    private(set) var origins: [InferredOrigin]

    /// - Parameter links: Entity names without regard to case → the entity meant.
    init(_ found: [InferredEntity], links: [String: String]) throws {
        let byName = Dictionary(found.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let spelling = InferredSpelling(of: found)
        var drafts = found.map { entity in
            EntityDraft(entity, spelling) { name in
                links[Inflection.entityName(name, isList: false).lowercased()].flatMap { byName[$0] }
            }
        }
        let names = Dictionary(
            drafts.map { ($0.entity.name, $0.nameAttribute) }, uniquingKeysWith: { first, _ in first })
        for index in drafts.indices { drafts[index].setNames { names[$0].flatMap { $0.isEmpty ? nil : $0 } } }
        InferredInverses.complete(&drafts)
        while true {
            let model = try SyncModel(entities: drafts.map(\.entity), keys: spelling.ofModel)
            var isSettled = true
            for index in drafts.indices where try drafts[index].settleNames(in: model) { isSettled = false }
            guard isSettled else { continue }
            self.model = try Self.declaringTypes(found, of: model)
            break
        }
        origins = drafts.flatMap(\.origins)
        let rule = spelling.ofModel.map { InferenceRemark("keys", "spelled in \($0.word)") }
        remarks = [rule].compactMap(\.self) + drafts.sorted { $0.entity.name < $1.entity.name }.flatMap(\.remarks)
    }

    /// The model, in which each entity says what its resources are called.
    private static func declaringTypes(_ found: [InferredEntity], of model: SyncModel) throws -> SyncModel {
        let types = Dictionary(
            found.compactMap { entity in entity.resourceType.map { (entity.name, $0) } },
            uniquingKeysWith: { first, _ in first })
        guard !types.isEmpty else { return model }
        let entities = model.entities.map { entity in
            var entity = entity
            entity.resourceType = types[entity.name]
            return entity
        }
        return try model.replacing(entities: entities)
    }
}
