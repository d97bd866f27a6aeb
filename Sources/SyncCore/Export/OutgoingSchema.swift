/// The members of the records that an engine sends for an entity: the fields, the primary key and the
/// discriminators.
package struct OutgoingSchema: Sendable {
    /// A part of a row that the engine merges and sends separately.
    package enum Field: Sendable, Hashable {
        case attribute(slot: Int)
        /// The discriminators, if the entity has any.
        case kind
        /// The foreign key of a to-one relationship, sent as an ID.
        case toOne(AssociationID)
        /// The join rows of a many-to-many relationship, sent as a list of IDs.
        case joinRows(AssociationID, CompiledAssociation.End)
    }

    /// A field, and the path of its member in a record.
    package struct Member: Sendable {
        package let path: [String]
        package let field: Field
        /// The index of the entity whose IDs the field contains; nil if the field contains no IDs.
        package let destination: Int?
    }

    package let members: [Member]
    /// The path of each part of the primary key, in the order of the model. Most keys have one part.
    package let keyPaths: [[String]]
    /// The path and value of each discriminator.
    package let kinds: [(path: [String], value: String)]

    /// Creates the schema of an entity.
    ///
    /// - Throws: ``SyncError`` `keylessEntity` if the entity has no primary key, or if exports omit a part of the key.
    package init(_ entity: CompiledEntity, of model: SyncModel) throws {
        let options = ExportOptions(relationships: .none)
        let key = ExportSchemaKey(entity: entity.id, destination: entity.id, isNested: false)
        var members: [Member] = []
        var keyPaths: [CompositeKey.Part: [String]] = [:]
        var kinds: [(path: [String], value: String)] = []
        func add(_ fields: [ExportSchema.Field], below path: [String]) {
            for field in fields {
                let path = path + [field.key]
                switch field.content {
                case .attribute(let slot, _, _):
                    if entity.keySlots.contains(slot) {
                        keyPaths[.attribute(slot)] = path
                    } else {
                        members.append(Member(path: path, field: .attribute(slot: slot), destination: nil))
                    }
                case .object(let inner): add(inner, below: path)
                case .kind(let value): kinds.append((path, value))
                case .relationship: break
                }
            }
        }
        add(try ExportSchemaBuilder.shape(key, of: model, options).fields, below: [])
        let rule = model.compiled.rules(of: entity).keys
        for (index, relationship) in entity.relationships.enumerated()
        where relationship.relationship.isExported || model.compiled.isKeyPart(relationship) {
            guard let field = Self.field(of: relationship, in: model.compiled) else { continue }
            let declared = relationship.relationship
            guard let name = declared.remoteKey ?? Self.idKey(of: declared, rule) else { continue }
            let path = RemoteKeyPath.keys(name)
            members.append(Member(path: path, field: field, destination: relationship.destination))
            keyPaths[.relationship(index)] = path
        }
        let parts = entity.keySlot.map { [.attribute($0)] } ?? entity.compositeKey?.parts ?? []
        self.members = members
        self.kinds = kinds
        self.keyPaths = parts.compactMap { keyPaths[$0] }
        guard !parts.isEmpty, self.keyPaths.count == parts.count else {
            throw SyncError(
                .keylessEntity, "'\(entity.name)' has no primary key; send its rows with their owners",
                entity: entity.name)
        }
    }

    /// Returns a copy of a record with the primary key set to an ID. Each part of a composite key is set at a separate
    /// path.
    package func naming(_ record: JSONValue, _ id: JSONValue) -> JSONValue {
        guard keyPaths.count > 1, case .array(let parts) = id, parts.count == keyPaths.count else {
            return keyPaths.first.map { record.setting(id, at: $0) } ?? record
        }
        return zip(keyPaths, parts).reduce(record) { $0.setting($1.1, at: $1.0) }
    }

    /// Returns the JSON key for the IDs of a relationship, such as `project_id` or `tag_ids`; nil if the relationship
    /// has a remote key.
    private static func idKey(of relationship: SyncModel.Relationship, _ rule: KeyCase?) -> String? {
        var one = relationship
        if relationship.isToMany { one.name = Inflection.singular(relationship.name) }
        return AttributeNaming.idKeys(for: one, rule).first
    }

    /// Returns the field of a relationship; nil if the engine sends the links with the rows of the other end.
    private static func field(of relationship: CompiledRelationship, in model: CompiledModel) -> Field? {
        let link = model[relationship.link]
        switch link.storage {
        case .foreignKey: return relationship.end == .first ? .toOne(link.id) : nil
        case .joinTable:
            guard sender(of: link, in: model) == relationship.end else { return nil }
            return .joinRows(link.id, relationship.end)
        }
    }
}

extension OutgoingSchema {
    /// Returns the end of a many-to-many association whose records contain the links.
    ///
    /// It is the end whose relationship is exported. If both are exported, it is the end whose entity has more
    /// relationships, or the first end if both have the same number.
    package static func sender(of link: CompiledAssociation, in model: CompiledModel) -> CompiledAssociation.End {
        func isExporting(_ end: CompiledAssociation.End) -> Bool { link.side(end).relationship?.isExported == true }
        guard isExporting(.first), isExporting(.second) else { return isExporting(.first) ? .first : .second }
        func count(_ end: CompiledAssociation.End) -> Int { model.entities[link.side(end).entity].relationships.count }
        return count(.second) > count(.first) ? .second : .first
    }
}

extension JSONValue {
    /// Returns the value at a path of keys, or nil if there is no value.
    package func value(at path: some Collection<String>) -> JSONValue? {
        guard let key = path.first else { return self }
        guard case .object(let members) = self else { return nil }
        return members.last { $0.key.utf8.elementsEqual(key.utf8) }?.value.value(at: path.dropFirst())
    }

    /// Returns a copy of the object with a value set at a path of keys. Missing objects are created, and other values
    /// on the path are replaced with objects.
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
