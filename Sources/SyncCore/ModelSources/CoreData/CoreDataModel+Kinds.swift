// The kinds of an entity: in Core Data each of the entities says what it is called.
extension CoreDataModel {
    mutating func addDiscriminators(_ root: CoreDataElement) {
        var elements: [String: CoreDataElement] = [:]
        for element in root.children(named: "entity") {
            if let name = element.text("name") { elements[name] = element }
        }
        let parents = elements.compactMapValues { $0.text("parentEntity") }
        for index in draft.entities.indices {
            let name = draft.entities[index].name
            guard let element = elements[name] else { continue }
            let userInfo = CoreDataUserInfo(element)
            guard let key = userInfo.discriminator else { continue }
            var discriminator = SyncModel.Discriminator(key, kinds: [])
            if let text = userInfo.otherwise {
                if let otherwise = SyncModel.Discriminator.Otherwise(rawValue: text) {
                    discriminator.otherwise = otherwise
                } else {
                    let known = SyncModel.Discriminator.Otherwise.allCases.map(\.rawValue).joined(separator: ", ")
                    draft.note(
                        .entity(name)["discriminator"]["otherwise"],
                        "unknown otherwise '\(text)'; known are \(known) (line \(element.line))")
                }
            }
            for entity in draft.entities where Self.isKind(entity.name, of: name, parents) {
                let kinds = elements[entity.name].map { CoreDataUserInfo($0).kinds } ?? []
                discriminator.kinds += kinds.map { .init($0, entity.name) }
            }
            draft.entities[index].discriminator = discriminator
        }
    }

    private static func isKind(_ entity: String, of ancestor: String, _ parents: [String: String]) -> Bool {
        var seen: Set<String> = []
        var next: String? = entity
        while let name = next, seen.insert(name).inserted {
            if name == ancestor { return true }
            next = parents[name]
        }
        return false
    }
}
