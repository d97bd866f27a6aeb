/// A kind of row: its own attributes and relationships, without those it inherits.
///
/// An `Entity` is what a model source declares. ``Model`` checks the declarations together.
public struct Entity: Sendable, Hashable {
    public var name: String
    /// The entity this one inherits attributes, relationships and the primary key from.
    public var parent: String?
    /// Whether only its sub-entities have rows.
    public var isAbstract: Bool
    /// The name of the key attribute, if declared on the entity. A marked attribute or one called
    /// `id` or `remoteID` is the key otherwise.
    public var primaryKey: String?
    public var attributes: [Attribute]
    public var relationships: [Relationship]
    /// The name this entity had in an earlier model.
    public var renamedFrom: String?

    public init(
        _ name: String, parent: String? = nil, isAbstract: Bool = false, primaryKey: String? = nil,
        attributes: [Attribute] = [], relationships: [Relationship] = [], renamedFrom: String? = nil
    ) {
        self.name = name
        self.parent = parent
        self.isAbstract = isAbstract
        self.primaryKey = primaryKey
        self.attributes = attributes
        self.relationships = relationships
        self.renamedFrom = renamedFrom
    }
}
