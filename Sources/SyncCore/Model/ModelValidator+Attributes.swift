import Foundation

extension ModelValidator {
    mutating func checkAttributes() {
        for (index, entity) in entities.enumerated() {
            for (position, attribute) in entity.attributes.enumerated() {
                let path = ModelPath.attribute(attribute.name, of: entity.name)
                if attribute.remoteKey?.isEmpty ?? false { note(path["remoteKey"], "must not be empty") }
                guard let value = attribute.defaultValue, isReadable(entity.name, attribute.name) else { continue }
                if let stored = value.inStoredForm(of: attribute.type) {
                    setDefault(stored == .null ? nil : stored, index, position)
                } else {
                    note(path["default"], "is not a value of the type \(attribute.type.rawValue)")
                }
            }
        }
    }

    // MARK: Keys

    mutating func checkKeys() {
        for entity in entities {
            checkMarks(of: entity)
            guard let key = entity.primaryKey, isReadable(entity.name) else { continue }
            let path = ModelPath.entity(entity.name)["primaryKey"]
            if key.parts.isEmpty { note(path, "names no attribute") }
            if Set(key.parts).count < key.parts.count { note(path, "names a part twice") }
            for part in key.parts { checkPart(part, of: entity, isOnly: key.parts.count == 1, path) }
        }
        checkKeyCircles()
    }

    private mutating func checkPart(_ name: String, of entity: SyncModel.Entity, isOnly: Bool, _ path: ModelPath) {
        let line = lineage(of: entity.name)
        if let attribute = line.flatMap(\.attributes).first(where: { $0.name == name }) {
            if !attribute.type.canBeKey, line.allSatisfy({ isReadable($0.name, name) }) {
                note(path, Self.cannotBeKey(attribute.type))
            }
        } else if let relationship = line.flatMap(\.relationships).first(where: { $0.name == name }) {
            guard isReadable(entity.name, name) else { return }
            if relationship.isToMany {
                note(path, "'\(name)' leads to many rows; a part of a key is an attribute or a to-one relationship")
            } else if !isOnly, inverse(of: relationship).map({ !$0.isToMany }) ?? false {
                note(path, "'\(name)' is one-to-one, so that it alone tells rows apart")
            }
        } else if isMissing(name, in: line) {
            note(path, "the entity has no attribute '\(name)'")
        }
    }

    private func inverse(of relationship: SyncModel.Relationship) -> SyncModel.Relationship? {
        guard let name = relationship.inverse else { return nil }
        return lineage(of: relationship.destination).flatMap(\.relationships).first { $0.name == name }
    }

    /// The declared parts of an entity's key, its own or inherited.
    private func keyParts(of entity: String) -> [String] {
        lineage(of: entity).lazy.compactMap(\.primaryKey).first?.parts ?? []
    }

    /// The relationships that are parts of an entity's key.
    private func keyRelationships(of entity: String) -> [SyncModel.Relationship] {
        let line = lineage(of: entity)
        let attributes = Set(line.flatMap(\.attributes).map(\.name))
        return keyParts(of: entity).filter { !attributes.contains($0) }.compactMap { part in
            line.flatMap(\.relationships).first { $0.name == part && !$0.isToMany }
        }
    }

    /// A key that is made of the keys of other rows must end somewhere, and those rows must have one.
    private mutating func checkKeyCircles() {
        for entity in entities where entity.primaryKey != nil && isReadable(entity.name) {
            let path = ModelPath.entity(entity.name)["primaryKey"]
            for part in keyRelationships(of: entity.name) where !hasKey(part.destination) {
                note(path, "'\(part.name)' leads to \(part.destination), which has no key")
            }
            if let circle = keyCircle(from: entity.name) {
                note(path, "goes in a circle: \(ShortList(circle).text(between: " → "))")
            }
        }
    }

    /// The entities whose keys are made of each other, beginning and ending with one; nil if there are none.
    private func keyCircle(from entity: String) -> [String]? {
        var seen: Set<String> = []
        var open = [[entity]]
        while let trail = open.popLast(), let last = trail.last {
            for part in keyRelationships(of: last) {
                let next = part.destination
                let isKin = self.entity(entity, isKindOf: next) || self.entity(next, isKindOf: entity)
                if isKin { return trail + [next] }
                if seen.insert(next).inserted { open.append(trail + [next]) }
            }
        }
        return nil
    }

    private func hasKey(_ entity: String) -> Bool {
        let line = lineage(of: entity)
        return line.isEmpty || !line.allSatisfy { isReadable($0.name) }
            || line.contains { entity in
                entity.primaryKey != nil
                    || entity.attributes.contains {
                        $0.isPrimaryKey || AttributeNaming.isID($0.name) && $0.type.canBeKey
                    }
            }
    }

    private mutating func checkMarks(of entity: SyncModel.Entity) {
        let marked = entity.attributes.filter(\.isPrimaryKey)
        for attribute in marked {
            let path = ModelPath.attribute(attribute.name, of: entity.name)["primaryKey"]
            if let key = entity.primaryKey, !key.parts.contains(attribute.name) {
                note(path, "'\(key.parts.joined(separator: "', '"))' is the primary key already")
            }
            if !attribute.type.canBeKey, isReadable(entity.name, attribute.name) {
                note(path, Self.cannotBeKey(attribute.type))
            }
        }
    }

    private static func cannotBeKey(_ type: AttributeType) -> String {
        let types = AttributeType.allCases.filter(\.canBeKey).map(\.rawValue).joined(separator: ", ")
        return "the type \(type.rawValue) cannot be a key; keys are \(types)"
    }
}
