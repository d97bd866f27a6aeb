import SyncCore

/// Finds JSON keys that several attributes or relationships of an entity answer to.
struct NameExamination {
    private let model: CompiledModel

    init(_ model: CompiledModel) { self.model = model }

    var findings: [SyncExamination.Finding] { model.entities.flatMap(findings(in:)) }

    private func findings(in entity: CompiledEntity) -> [SyncExamination.Finding] {
        var claims: [(key: String, owners: [String])] = []
        var indexes: [String: Int] = [:]
        for (name, keys) in owners(in: entity) {
            for key in keys {
                if let index = indexes[key] {
                    // The keys of one owner come together.
                    if claims[index].owners.last != name { claims[index].owners.append(name) }
                } else {
                    indexes[key] = claims.count
                    claims.append((key, [name]))
                }
            }
        }
        var reported: Set<[String]> = []
        return claims.compactMap { key, owners in
            guard owners.count > 1, reported.insert(owners).inserted else { return nil }
            let names = ShortList(owners).text(between: " and ")
            return SyncExamination.Finding(
                .ambiguousName, entity: entity.name, path: "entities.\(entity.name)",
                message: "the JSON key '\(key)' is a name of \(names)",
                advice: "rename one of them, or give one a remoteKey that the other does not answer to")
        }
    }

    /// Every attribute and relationship with the keys it is read from.
    private func owners(in entity: CompiledEntity) -> [(String, [String])] {
        let tree = model[entity.table]
        let rule = model.rules(of: entity).keys
        let attributes = entity.slots.map { tree.attributes[$0] }.map { attribute in
            (
                attribute.name,
                [
                    attribute.remoteKey, attribute.name, rule?.key(for: attribute.name),
                    rule == .exact ? nil : Inflection.snakeCase(attribute.name),
                ].compactMap(\.self)
            )
        }
        let relationships = entity.relationships.map { hop in
            (hop.name, AttributeNaming.keys(for: hop.relationship, rule))
        }
        return attributes + relationships
    }
}
