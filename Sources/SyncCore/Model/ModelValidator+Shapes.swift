// What a model says of how records are laid out in JSON.
extension ModelValidator {
    mutating func checkShapes() {
        for entity in entities {
            for relationship in entity.relationships { checkNames(relationship, of: entity) }
            if let discriminator = entity.discriminator { check(discriminator, of: entity) }
        }
        checkResourceTypes()
    }

    private mutating func checkNames(_ relationship: SyncModel.Relationship, of entity: SyncModel.Entity) {
        guard let names = relationship.keyedBy else { return }
        let path = ModelPath.relationship(relationship.name, of: entity.name)["keyedBy"]
        guard relationship.isToMany else { return note(path, "only a relationship to many can be keyed by names") }
        guard case .attribute(let name) = names else { return }
        let line = lineage(of: relationship.destination)
        let isKnown = line.contains { $0.attributes.contains { $0.name == name } }
        if !isKnown, isMissing(name, in: line) {
            note(path, "\(relationship.destination) has no attribute '\(name)'")
        }
    }

    private mutating func check(_ discriminator: SyncModel.Discriminator, of entity: SyncModel.Entity) {
        let path = ModelPath.entity(entity.name)["discriminator"]
        if discriminator.key.split(separator: ".", omittingEmptySubsequences: false).contains(where: \.isEmpty) {
            note(path["key"], "'\(discriminator.key)' is no key")
        }
        if discriminator.kinds.isEmpty { note(path["values"], "there are none") }
        if discriminator.otherwise == .parent, entity.isAbstract {
            note(path["otherwise"], "\(entity.name) is abstract: it has no rows of its own")
        }
        var seen: Set<String> = []
        for kind in discriminator.kinds {
            if !seen.insert(kind.value).inserted { note(path["values"][kind.value], "is given twice") }
            guard self.entity(named: kind.entity) != nil else {
                note(path["values"][kind.value], unknown(kind.entity))
                continue
            }
            if !self.entity(kind.entity, isKindOf: entity.name) {
                note(path["values"][kind.value], "\(kind.entity) has not \(entity.name) as parent")
            }
        }
    }

    private mutating func checkResourceTypes() {
        var owners: [String: String] = [:]
        for entity in entities {
            guard let type = entity.resourceType else { continue }
            if let other = owners.updateValue(entity.name, forKey: type) {
                note(.entity(entity.name)["type"], "'\(type)' is the type of \(other) too")
            }
        }
    }
}
