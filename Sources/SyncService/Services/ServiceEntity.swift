public import SyncCore

/// The record format of an entity, as the engine sends and reads it. A service whose records have value types of its
/// own converts values with this information and needs no configuration.
public struct ServiceEntity: Sendable, Hashable {
    /// The type of a field.
    public enum FieldType: Sendable, Hashable {
        /// A value in the export format of its type.
        case value(AttributeType)
        /// A value that a format or transformers of the model convert.
        case converted
        /// The ID of a row of another entity.
        case reference(to: String)
        /// A list of IDs of rows of another entity.
        case references(to: String)
    }

    /// A field of the records.
    public struct Field: Sendable, Hashable {
        /// The name of the attribute or relationship.
        public let name: String
        /// The key path of the field in a record.
        public let keyPath: [String]
        /// Whether the model sets the remote key, so that the service must not rename the field.
        package let hasExplicitKey: Bool
        /// The type of the field.
        public let type: FieldType
        /// Whether it may be null.
        package let isOptional: Bool
        /// The value that a missing field means, for services that omit empty values; nil if a missing field means
        /// nothing.
        package let nullValue: JSONValue?
        /// Whether the order of a list is significant.
        package let isOrdered: Bool

        /// Creates a field.
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
    /// All other fields that are sent, including fields of subentities.
    public let fields: [Field]

    /// Creates an entity.
    package init(_ name: String, keyPaths: [[String]], fields: [Field]) {
        self.name = name
        self.keyPaths = keyPaths
        self.fields = fields
    }
}

extension ServiceEntity {
    /// Returns entities of a model.
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

    /// Returns the name of a relationship with the key case of the entity, without a suffix for IDs.
    private static func named(_ relationship: SyncModel.Relationship?, _ rule: KeyCase?) -> String {
        let name = relationship?.name ?? ""
        return rule.map { $0.key(for: name) } ?? name
    }

    /// The default value, or null for an optional attribute.
    private static func absence(of attribute: SyncModel.Attribute, _ isConverted: Bool) -> JSONValue? {
        if let value = attribute.defaultValue { return isConverted ? JSONValue?.none : value.jsonForm }
        return attribute.isOptional ? .null : JSONValue?.none
    }
}
