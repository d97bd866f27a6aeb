import SyncCore

// Records that say by a member of which entity they are.
extension ReferenceStore {
    /// The entity of a record that is asked for as one of an entity; nil if it is skipped.
    func entity(of record: JSONValue, as asked: CompiledEntity) -> CompiledEntity? {
        guard let (discriminator, owner) = model.compiled.discriminator(of: asked.id) else { return asked }
        let itself = asked.isAbstract ? nil : asked
        guard let kind = Self.value(at: discriminator.key, of: record) else { return itself }
        guard let named = entity(ofKind: kind, discriminator) else {
            return discriminator.otherwise == .parent ? itself : nil
        }
        // That it is what it was asked for as, or something above that, says nothing new.
        if model.compiled.entity(asked.id, isKindOf: named.id) { return itself }
        guard model.compiled.entity(named.id, isKindOf: asked.id) else { return nil }
        // The kind may have kinds of its own.
        let isTold = model.compiled.discriminator(of: named.id)?.owner != owner
        return isTold ? entity(of: record, as: named) : named.isAbstract ? nil : named
    }

    /// The entity that the row of a to-one relationship is of, by the kind that stands beside it; nil if that is unknown.
    func entity(beside relationship: CompiledRelationship, in record: JSONValue) -> CompiledEntity? {
        let destination = model.compiled.entities[relationship.destination]
        guard !relationship.isToMany, let (discriminator, _) = model.compiled.discriminator(of: destination.id),
            case .object(let members) = record
        else { return destination }
        let keys = Self.kindKeys(beside: relationship.relationship)
        guard let kind = members.last(where: { keys.contains($0.key) })?.value, kind != .null else {
            return destination
        }
        if let named = entity(ofKind: kind, discriminator),
            model.compiled.entity(named.id, isKindOf: destination.id)
        {
            return named
        }
        return discriminator.otherwise == .parent ? destination : nil
    }

    private func entity(ofKind kind: JSONValue, _ discriminator: SyncModel.Discriminator) -> CompiledEntity? {
        let text: String
        switch kind {
        case .string(let value): text = value
        case .number(let value): text = "\(value)"
        default: return nil
        }
        let name = discriminator.kinds.first { $0.value == text }?.entity
        return name.flatMap { name in model.compiled.entities.first { $0.name == name } }
    }

    /// `commentable_type`, `commentableType`; with a remote key its own ending.
    private static func kindKeys(beside relationship: SyncModel.Relationship) -> [String] {
        guard let remote = relationship.remoteKey else {
            return ["\(Inflection.snakeCase(relationship.name))_type", "\(relationship.name)Type"]
        }
        let endings = ["_id": "_type", "Id": "Type", "ID": "Type", "-id": "-type"]
        for (ending, kind) in endings where remote.hasSuffix(ending) {
            return [remote.dropLast(ending.count) + kind]
        }
        return [remote + "_type", remote + "Type"]
    }

    /// What stands at the end of a path of keys; nil if that is nothing or null.
    private static func value(at path: String, of record: JSONValue) -> JSONValue? {
        var value = record
        for key in path.split(separator: ".", omittingEmptySubsequences: false) {
            guard case .object(let members) = value, let member = members.last(where: { $0.key == String(key) })
            else { return nil }
            value = member.value
        }
        // A ternary would take this `nil` for a JSON null.
        guard value != .null else { return nil }
        return value
    }
}
