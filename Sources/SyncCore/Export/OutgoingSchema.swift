/// Which member of a record each of an entity's domains is sent as: what is merged and sent by itself, an attribute, a
/// to-one or the set of a to-many.
package struct OutgoingSchema: Sendable {
    /// What is merged and sent by itself.
    package enum Field: Sendable, Hashable {
        case attribute(slot: Int)
        /// Of which entity the row is, where a list has rows of several.
        case kind
        /// The foreign key of a to-one, which is sent as an id.
        case toOne(AssociationID)
        /// The other rows of a many-to-many, sent as a list of ids.
        case pairs(AssociationID, CompiledAssociation.End)
    }

    /// A domain and the keys that lead to it in a record.
    package struct Member: Sendable {
        package let path: [String]
        package let domain: Field
        /// The entity that ids are of.
        package let destination: Int?
    }

    package let members: [Member]
    /// The keys that lead to each part of the record's own id, in the order of the model; most ids are one part.
    package let keyPaths: [[String]]
    /// Where a record says of which entity it is, and what; nil for an entity whose records need not.
    package let kind: (path: [String], value: String)?

    /// - Throws: ``SyncError`` `keylessEntity`.
    package init(_ entity: CompiledEntity, of model: SyncModel) throws {
        let options = ExportOptions(relationships: .none)
        let key = ExportShapeKey(entity: entity.id, destination: entity.id, isNested: false)
        var members: [Member] = []
        var keyPaths: [CompositeKey.Part: [String]] = [:]
        var kind: (path: [String], value: String)?
        func add(_ fields: [ExportSchema.Field], below path: [String]) {
            for field in fields {
                let path = path + [field.key]
                switch field.content {
                case .attribute(let slot, _, _):
                    if entity.keySlots.contains(slot) {
                        keyPaths[.attribute(slot)] = path
                    } else {
                        members.append(Member(path: path, domain: .attribute(slot: slot), destination: nil))
                    }
                case .object(let inner): add(inner, below: path)
                case .kind(let value): kind = (path, value)
                case .relationship: break
                }
            }
        }
        add(try ExportSchemaBuilder.shape(key, of: model, options).fields, below: [])
        let rule = model.compiled.rules(of: entity).keys
        for (index, relationship) in entity.relationships.enumerated()
        where relationship.relationship.isExportable || model.compiled.isKeyPart(relationship) {
            guard let domain = Self.domain(of: relationship, in: model.compiled) else { continue }
            let declared = relationship.relationship
            guard let name = declared.remoteKey ?? Self.idKey(of: declared, rule) else { continue }
            let path = RemoteKeyPath.keys(name)
            members.append(Member(path: path, domain: domain, destination: relationship.destination))
            keyPaths[.relationship(index)] = path
        }
        let parts = entity.keySlot.map { [.attribute($0)] } ?? entity.compositeKey?.parts ?? []
        self.members = members
        self.kind = kind
        self.keyPaths = parts.compactMap { keyPaths[$0] }
        guard !parts.isEmpty, self.keyPaths.count == parts.count else {
            throw SyncError(.keylessEntity, "rows without a key of their own are not sent", entity: entity.name)
        }
    }

    /// A record with its own id, each part in its place.
    package func naming(_ record: JSONValue, _ id: JSONValue) -> JSONValue {
        guard keyPaths.count > 1, case .array(let parts) = id, parts.count == keyPaths.count else {
            return keyPaths.first.map { record.setting(id, at: $0) } ?? record
        }
        return zip(keyPaths, parts).reduce(record) { $0.setting($1.1, at: $1.0) }
    }

    /// `project_id`, `tag_ids`.
    private static func idKey(of relationship: SyncModel.Relationship, _ rule: KeyCase?) -> String? {
        var one = relationship
        if relationship.isToMany { one.name = Inflection.singular(relationship.name) }
        return AttributeNaming.idKeys(for: one, rule).first
    }

    /// The domain that a relationship is on this side of its link; nil where the other side has it.
    private static func domain(of relationship: CompiledRelationship, in model: CompiledModel) -> Field? {
        let link = model[relationship.link]
        switch link.storage {
        case .foreignKey: return relationship.end == .first ? .toOne(link.id) : nil
        case .joinTable:
            guard sender(of: link, in: model) == relationship.end else { return nil }
            return .pairs(link.id, relationship.end)
        }
    }
}

extension OutgoingSchema {
    /// The end of a many-to-many whose rows are sent with the ids of the others: the one that exports it. Where both do, the
    /// one whose entity has more relationships, as a task has that has tags; of two that are alike the first.
    private static func sender(of link: CompiledAssociation, in model: CompiledModel) -> CompiledAssociation.End {
        func isExporting(_ end: CompiledAssociation.End) -> Bool { link.side(end).relationship?.isExportable == true }
        guard isExporting(.first), isExporting(.second) else { return isExporting(.first) ? .first : .second }
        func count(_ end: CompiledAssociation.End) -> Int { model.entities[link.side(end).entity].relationships.count }
        return count(.second) > count(.first) ? .second : .first
    }
}

extension JSONValue {
    /// The value that keys lead to; nil if there is none.
    package func value(at path: some Collection<String>) -> JSONValue? {
        guard let key = path.first else { return self }
        guard case .object(let members) = self else { return nil }
        return members.last { $0.key.utf8.elementsEqual(key.utf8) }?.value.value(at: path.dropFirst())
    }

    /// The same with another value where keys lead, in objects made on the way.
    package func setting(_ value: JSONValue, at path: some Collection<String>) -> JSONValue {
        guard let key = path.first else { return value }
        var members: [Member] = []
        if case .object(let own) = self { members = own }
        let place = members.firstIndex { $0.key.utf8.elementsEqual(key.utf8) }
        let inner = (place.map { members[$0].value } ?? .object([])).setting(value, at: path.dropFirst())
        if let place { members[place].value = inner } else { members.append(Member(key, inner)) }
        return .object(members)
    }
}
