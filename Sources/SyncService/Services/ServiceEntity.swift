public import SyncCore

/// The format in which the engine sends and reads the records of an entity. A service with another JSON format uses
/// this information to convert records.
public struct ServiceEntity: Sendable, Hashable {
    /// The kind of value that a field has in a record.
    public enum FieldType: Sendable, Hashable {
        /// An attribute of this type. The value has the same format as in an export.
        case value(AttributeType)
        /// An attribute whose values are converted by a date format or by transformers of the model.
        case converted
        /// A to-one relationship: the ID of a row of the entity `to`, or null.
        case reference(to: String)
        /// A to-many relationship: a list of IDs of rows of the entity `to`.
        case references(to: String)
    }

    /// A field of a record: an attribute or a relationship.
    public struct Field: Sendable, Hashable {
        /// The name of the attribute or relationship in the model. If the model sets a ``KeyCase`` for the entity, the
        /// name of a relationship is converted to that spelling.
        public let name: String
        /// The key path of the field in a record.
        public let keyPath: [String]
        /// True if the attribute or relationship has a remote key, or if a key case applies to the attribute. The
        /// service must not rename such a field.
        package let hasExplicitKey: Bool
        /// The kind of value that the field has.
        public let type: FieldType
        /// Whether the value of an attribute may be null; always true for a relationship.
        package let isOptional: Bool
        /// The value that a missing field represents if the service omits empty values; nil if the value is unknown.
        package let nullValue: JSONValue?
        /// Whether the order of the IDs in a list is significant.
        package let isOrdered: Bool

        package init(
            _ name: String, keyPath: [String], hasExplicitKey: Bool = false, type: FieldType, isOptional: Bool = true,
            nullValue: JSONValue? = .null, isOrdered: Bool = false
        ) {
            self.name = name
            self.keyPath = keyPath
            self.hasExplicitKey = hasExplicitKey
            self.type = type
            self.isOptional = isOptional
            self.nullValue = nullValue
            self.isOrdered = isOrdered
        }
    }

    /// The name of the entity in the model.
    public let name: String
    /// The key path of each part of the ID of a record. Most IDs have one part.
    package let keyPaths: [[String]]
    /// The fields that the engine sends, including the fields of subentities. Attributes of the primary key and the
    /// discriminator are not included.
    public let fields: [Field]

    package init(_ name: String, keyPaths: [[String]], fields: [Field]) {
        self.name = name
        self.keyPaths = keyPaths
        self.fields = fields
    }
}

extension ServiceEntity {
    /// Returns the record formats of the named entities of a model.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity`.
    static func all(_ names: [String], of model: SyncModel) throws -> [ServiceEntity] {
        try names.map { try ServiceEntity(model.compiled.entity(named: $0), of: model) }
    }

    private init(_ entity: CompiledEntity, of model: SyncModel) throws {
        var members: [Field] = []
        for kind in entity.family.map({ model.compiled.entities[$0] }) {
            for member in try OutgoingSchema(kind, of: model).members
            where !members.contains(where: { $0.keyPath == member.path }) {
                members.append(Self.member(member, of: kind, in: model))
            }
        }
        self.init(entity.name, keyPaths: try OutgoingSchema(entity, of: model).keyPaths, fields: members)
    }

    private static func member(
        _ member: OutgoingSchema.Member, of entity: CompiledEntity, in model: SyncModel
    ) -> Field {
        let rule = model.compiled.rules(of: entity).keys
        let destination = member.destination.map { model.compiled.entities[$0].name } ?? ""
        switch member.field {
        case .attribute(let slot):
            let attribute = model.compiled[entity.table].attributes[slot]
            let isConverted = attribute.format != nil || !attribute.transformers.isEmpty
            return Field(
                attribute.name, keyPath: member.path, hasExplicitKey: attribute.remoteKey != nil || rule != nil,
                type: isConverted ? .converted : .value(attribute.type), isOptional: attribute.isOptional,
                nullValue: absence(of: attribute, isConverted))
        case .kind: return Field("", keyPath: member.path, type: .value(.string))
        case .toOne(let link):
            let relationship = model.compiled[link].first.relationship
            return Field(
                named(relationship, rule), keyPath: member.path, hasExplicitKey: relationship?.remoteKey != nil,
                type: .reference(to: destination))
        case .joinRows(let link, let end):
            let relationship = model.compiled[link].side(end).relationship
            return Field(
                named(relationship, rule), keyPath: member.path, hasExplicitKey: relationship?.remoteKey != nil,
                type: .references(to: destination), nullValue: [], isOrdered: relationship?.isOrdered ?? false)
        }
    }

    /// Returns the name of a relationship in the key case of the entity, without a suffix such as `_id`.
    private static func named(_ relationship: SyncModel.Relationship?, _ rule: KeyCase?) -> String {
        let name = relationship?.name ?? ""
        return rule.map { $0.key(for: name) } ?? name
    }

    /// Returns the value that a missing field stands for: the default value, or null for an optional attribute. Returns
    /// nil for a required attribute without a default value, and for a default value that the model converts.
    private static func absence(of attribute: SyncModel.Attribute, _ isConverted: Bool) -> JSONValue? {
        if let value = attribute.defaultValue { return isConverted ? JSONValue?.none : value.jsonForm }
        return attribute.isOptional ? .null : JSONValue?.none
    }
}
