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
            guard let name = entity.primaryKey, isReadable(entity.name) else { continue }
            let path = ModelPath.entity(entity.name)["primaryKey"]
            let line = lineage(of: entity.name)
            guard let attribute = line.flatMap(\.attributes).first(where: { $0.name == name }) else {
                if isMissing(name, in: line) { note(path, "the entity has no attribute '\(name)'") }
                continue
            }
            if !attribute.type.canBeKey, line.allSatisfy({ isReadable($0.name, name) }) {
                note(path, Self.cannotBeKey(attribute.type))
            }
        }
    }

    private mutating func checkMarks(of entity: Entity) {
        let marked = entity.attributes.filter(\.isPrimaryKey)
        let key = entity.primaryKey ?? marked.first?.name ?? ""
        for attribute in marked {
            let path = ModelPath.attribute(attribute.name, of: entity.name)["primaryKey"]
            if attribute.name != key { note(path, "'\(key)' is the primary key already") }
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
