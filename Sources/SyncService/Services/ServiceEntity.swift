public import SyncCore

/// What a service is told of an entity that it carries: the members of its records as the engine sends and reads them, and what
/// they are. A service whose records have values of their own kinds turns them into those, without anything being configured.
public struct ServiceEntity: Sendable, Hashable {
    /// What a member holds.
    public enum FieldType: Sendable, Hashable {
        /// A value, as an export writes those of its type.
        case value(AttributeType)
        /// A value that a format or transformers of the model write in their own way.
        case converted
        /// The id of a row of another entity.
        case reference(to: String)
        /// Ids of rows of another entity, as a list.
        case references(to: String)
    }

    /// A member of the records.
    public struct Field: Sendable, Hashable {
        /// The attribute or relationship.
        public let name: String
        /// The keys that lead to it.
        public let path: [String]
        /// Whether the model says how it is called there, so that a service has no say in it.
        public let isNamedByModel: Bool
        /// What it holds.
        public let content: FieldType
        /// Whether it may be null.
        public let isOptional: Bool
        /// What a record says that lacks it, where services leave out what has no value; nil where that says nothing.
        public let absence: JSONValue?
        /// Whether the order of a list counts.
        public let isOrdered: Bool

        /// A member of the records.
        public init(
            _ name: String, path: [String], isNamedByModel: Bool = false, content: FieldType, isOptional: Bool = true,
            absence: JSONValue? = .null, isOrdered: Bool = false
        ) {
            self.name = name
            self.path = path
            self.isNamedByModel = isNamedByModel
            self.content = content
            self.isOptional = isOptional
            self.absence = absence
            self.isOrdered = isOrdered
        }
    }

    /// The name in the model.
    public let name: String
    /// The keys that lead to each part of the id of a record; most ids are one part.
    public let keyPaths: [[String]]
    /// All other members that are sent, those of entities that inherit too.
    public let members: [Field]

    /// An entity that a service carries.
    public init(_ name: String, keyPaths: [[String]], members: [Field]) {
        self.name = name
        self.keyPaths = keyPaths
        self.members = members
    }
}

extension ServiceEntity {
    /// Entities of a model.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity`.
    static func all(_ names: [String], of model: SyncModel) throws -> [ServiceEntity] {
        try names.map { try ServiceEntity(model.compiled.entity(named: $0), of: model) }
    }

    private init(_ entity: CompiledEntity, of model: SyncModel) throws {
        var members: [Field] = []
        for kind in entity.family.map({ model.compiled.entities[$0] }) {
            for member in try OutgoingSchema(kind, of: model).members
            where !members.contains(where: { $0.path == member.path }) {
                members.append(Self.member(member, of: kind, in: model))
            }
        }
        self.init(entity.name, keyPaths: try OutgoingSchema(entity, of: model).keyPaths, members: members)
    }

    private static func member(
        _ member: OutgoingSchema.Member, of entity: CompiledEntity, in model: SyncModel
    ) -> Field {
        let rule = model.compiled.rules(of: entity).keys
        let destination = member.destination.map { model.compiled.entities[$0].name } ?? ""
        switch member.domain {
        case .attribute(let slot):
            let attribute = model.compiled[entity.table].attributes[slot]
            let isConverted = attribute.format != nil || !attribute.transformers.isEmpty
            return Field(
                attribute.name, path: member.path, isNamedByModel: attribute.remoteKey != nil || rule != nil,
                content: isConverted ? .converted : .value(attribute.type), isOptional: attribute.isOptional,
                absence: absence(of: attribute, isConverted))
        case .kind: return Field("", path: member.path, content: .value(.string))
        case .toOne(let link):
            let relationship = model.compiled[link].first.relationship
            return Field(
                named(relationship, rule), path: member.path, isNamedByModel: relationship?.remoteKey != nil,
                content: .reference(to: destination))
        case .pairs(let link, let end):
            let relationship = model.compiled[link].side(end).relationship
            return Field(
                named(relationship, rule), path: member.path, isNamedByModel: relationship?.remoteKey != nil,
                content: .references(to: destination), absence: [], isOrdered: relationship?.isOrdered ?? false)
        }
    }

    /// A relationship without what would only say that its member holds ids.
    private static func named(_ relationship: SyncModel.Relationship?, _ rule: KeyCase?) -> String {
        let name = relationship?.name ?? ""
        return rule.map { $0.key(for: name) } ?? name
    }

    /// What new rows get, or null.
    private static func absence(of attribute: SyncModel.Attribute, _ isConverted: Bool) -> JSONValue? {
        if let value = attribute.defaultValue { return isConverted ? JSONValue?.none : value.jsonForm }
        return attribute.isOptional ? .null : JSONValue?.none
    }
}
