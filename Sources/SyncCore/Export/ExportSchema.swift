/// The members of the exported records of an entity. A key with dots becomes nested objects.
package struct ExportSchema {
    /// One member of an exported object.
    package struct Field {
        package let key: String
        /// The key and a colon as JSON text, because each record has them.
        let keyText: [UInt8]
        package internal(set) var content: Content

        fileprivate init(key: String, content: Content) {
            self.key = key
            var text: [UInt8] = []
            JSONText.append(quoted: key, to: &text)
            keyText = text + [.colon]
            self.content = content
        }
    }

    package indirect enum Content {
        /// An attribute. `isLink` is whether a sync also reads the key as the ID of a relationship, such as
        /// `company_id` for the relationship `company`.
        case attribute(slot: Int, conversion: ValueConversion?, isLink: Bool)
        case relationship(CompiledRelationship)
        case object([Field])
        /// A discriminator, with the value that leads to the entity.
        case kind(String)
    }

    package let fields: [Field]
    /// The attributes and relationships that the schema omits, and that the model does not exclude from exports.
    package let omissions: [ExportOmission]
}

/// The parameters that determine an export schema.
package struct ExportSchemaKey: Hashable {
    /// The index of the entity of the row.
    let entity: Int
    /// The index of the entity that the call or the relationship to the row names: the entity of the row, or an
    /// ancestor of that entity.
    let destination: Int
    /// Whether the row is inside another row, in the form ``ExportOptions/Relationships/nested``.
    let isNested: Bool

    package init(entity: Int, destination: Int, isNested: Bool) {
        self.entity = entity
        self.destination = destination
        self.isNested = isNested
    }
}

/// Builds the export schema of an entity.
///
/// A sync must be able to read each attribute and relationship back from its exported key. If a key is already used, an
/// attribute gets another possible key, such as the name of the attribute. An attribute without a free key is omitted.
/// A relationship whose key is already used is omitted.
package struct ExportSchemaBuilder {
    private let model: SyncModel
    private let options: ExportOptions
    private let entity: CompiledEntity
    private let destination: CompiledEntity
    private let isNested: Bool
    private var fields: [ExportSchema.Field] = []
    private var omissions: [ExportOmission] = []
    /// The key case that the model sets for the destination entity; nil if it sets none.
    private let rule: KeyCase?

    package static func shape(
        _ key: ExportSchemaKey, of model: SyncModel, _ options: ExportOptions
    ) throws -> ExportSchema {
        var builder = ExportSchemaBuilder(key, model, options)
        return try builder.shape()
    }

    private init(_ key: ExportSchemaKey, _ model: SyncModel, _ options: ExportOptions) {
        self.model = model
        self.options = options
        entity = model.compiled.entities[key.entity]
        destination = model.compiled.entities[key.destination]
        isNested = key.isNested
        rule = model.compiled.rules(of: destination).keys
    }

    private mutating func shape() throws -> ExportSchema {
        let objects = entity.relationships.flatMap { AttributeNaming.objectKeys(for: $0.relationship, rule) }.map(
            Self.path)
        let linkKeys = Set(
            entity.relationships.flatMap { AttributeNaming.keys(for: $0.relationship, rule) }
                .map { RemoteKeyPath.text(Self.path($0)) })
        for attribute in try attributes() {
            // A sync would read a key inside a relationship's object as an attribute of the destination row.
            let free = attribute.paths.first { path in
                !objects.contains { path.count > $0.count && path.starts(with: $0) } && isFree(path)
            }
            guard let free else {
                omissions.append(.init(entity, attribute.name, .noKey))
                continue
            }
            let isLink = linkKeys.contains(RemoteKeyPath.text(free))
            insert(.attribute(slot: attribute.slot, conversion: attribute.conversion, isLink: isLink), at: free)
        }
        addDiscriminators()
        // Always export relationships that are part of the primary key, because they identify the row.
        let relationships =
            options.relationships == .none
            ? entity.relationships.filter { model.compiled.isKeyPart($0) } : entity.relationships
        for relationship in relationships where relationship.relationship.isExported || options.exportsAll {
            let path = path(of: relationship.relationship)
            if isFree(path) {
                insert(.relationship(relationship), at: path)
            } else {
                omissions.append(.init(entity, relationship.name, .noKey))
            }
        }
        return ExportSchema(fields: fields, omissions: omissions)
    }

    /// Adds the discriminators that lead to the entity, nearest first, unless an attribute uses the key.
    ///
    /// The value of a discriminator names the entity, or an ancestor from which nearer discriminators lead to it.
    private mutating func addDiscriminators() {
        let ancestry = model.compiled.ancestry(of: entity.id).map { model.compiled.entities[$0] }
        // The entities that a value may name. The entity itself is preferred.
        var targets = ancestry.prefix(1)
        for (discriminator, owner) in model.compiled.discriminators(of: entity.id) {
            let kinds = targets.compactMap { target in discriminator.kinds.first { $0.entity == target.name } }
            guard let kind = kinds.first else { continue }
            let path = Self.path(discriminator.key)
            if isFree(path) { insert(.kind(kind.value), at: path) }
            if let index = ancestry.firstIndex(where: { $0.id == owner }) { targets = ancestry.prefix(through: index) }
        }
    }

    // MARK: Keys

    /// Returns the exported attributes, each with its possible keys in order of preference.
    ///
    /// Attributes with shorter paths come first. If there are attributes for both `place` and `place.city`, the key
    /// `place` is then that of the attribute for `place`.
    private mutating func attributes() throws -> [Candidate] {
        var attributes: [Candidate] = []
        for slot in entity.slots {
            let attribute = model.compiled[entity.table].attributes[slot]
            guard attribute.isExported || options.exportsAll else { continue }
            let conversion = model.conversion(of: attribute)
            guard attribute.type != .transformable, conversion?.canExport ?? true else {
                omissions.append(.init(entity, attribute.name, .noExportingTransformer))
                continue
            }
            attributes.append(
                Candidate(
                    slot: slot, name: attribute.name, conversion: conversion.flatMap(used),
                    paths: try keys(of: attribute, slot).map(Self.path)))
        }
        return attributes.sorted { ($0.paths.first?.count ?? 0) < ($1.paths.first?.count ?? 0) }
    }

    private struct Candidate {
        let slot: Int
        let name: String
        let conversion: ValueConversion?
        let paths: [[String]]
    }

    /// Returns the conversion of values in this export; nil if it leaves them unchanged. A date format of the options
    /// replaces that of the attribute.
    private func used(_ conversion: ValueConversion) -> ValueConversion? {
        let used = options.dateFormat == .attribute ? conversion : conversion.withoutFormat
        return used.flatMap { $0.isUnchangedOnExport ? nil : $0 }
    }

    /// Returns the possible keys of an attribute, in order of preference. Omits keys that a sync reads another
    /// attribute from.
    private func keys(of attribute: SyncModel.Attribute, _ slot: Int) throws -> [String] {
        let name = attribute.name
        let key = try model.remoteKey(
            forAttribute: name, of: entity.name, case: options.keyCase ?? rule ?? .snake, nested: isNested)
        return [key, Inflection.snakeCase(name), name].filter { key in
            let filled =
                model.compiled.names(of: destination).attribute(forPath: key)
                ?? model.compiled.names(of: entity).attribute(forPath: key)
            return filled == nil || filled?.slot == slot
        }
    }

    private func path(of relationship: SyncModel.Relationship) -> [String] {
        let spelling = options.keyCase ?? rule ?? .snake
        let isAsNamed = spelling == .camel && rule != .camel
        let key = relationship.remoteKey ?? (isAsNamed ? relationship.name : spelling.key(for: relationship.name))
        guard options.relationships == .nested else { return Self.path(key) }
        return Self.path(key + Self.nestedEnding(spelling))
    }

    private static func nestedEnding(_ spelling: KeyCase) -> String {
        switch spelling {
        case .snake, .exact: "_attributes"
        case .camel, .pascal: "Attributes"
        case .kebab: "-attributes"
        }
    }

    /// Splits a dotted key into the keys of nested objects.
    private static func path(_ key: String) -> [String] { RemoteKeyPath.keys(key) }

    // MARK: Places

    private func isFree(_ path: [String]) -> Bool {
        var fields = fields
        for (index, key) in path.enumerated() {
            guard let field = fields.first(where: { $0.key.utf8.elementsEqual(key.utf8) }) else { return true }
            guard case .object(let inner) = field.content, index + 1 < path.count else { return false }
            fields = inner
        }
        return false
    }

    private mutating func insert(_ content: ExportSchema.Content, at path: [String]) {
        Self.insert(content, at: path[...], in: &fields)
    }

    private static func insert(
        _ content: ExportSchema.Content, at path: ArraySlice<String>, in fields: inout [ExportSchema.Field]
    ) {
        guard let key = path.first else { return }
        guard path.count > 1 else {
            fields.append(.init(key: key, content: content))
            return
        }
        let index = fields.firstIndex { $0.key.utf8.elementsEqual(key.utf8) }
        var inner: [ExportSchema.Field] = []
        if let index, case .object(let found) = fields[index].content { inner = found }
        insert(content, at: path.dropFirst(), in: &inner)
        if let index {
            fields[index].content = .object(inner)
        } else {
            fields.append(.init(key: key, content: .object(inner)))
        }
    }
}

// MARK: - Outgoing records

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
