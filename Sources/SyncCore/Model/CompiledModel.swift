/// A model with each name resolved to an index, inherited members added to each entity, and inverse relationships
/// paired to associations.
///
/// An entity is identified by its index in `entities`, a table by its ``TableID``, an association by its
/// ``AssociationID``.
package final class CompiledModel: Sendable {
    package let entities: [CompiledEntity]
    package let hierarchies: [EntityHierarchy]
    package let links: [CompiledAssociation]
    /// The entities as declared, without inherited members.
    package let declarations: [SyncModel.Entity]
    /// Whether any entity has a discriminator.
    package let hasKinds: Bool
    private let entityIDs: [String: Int]
    private let keyTypes: [KeyType?]
    /// The key maps of entities, created on first use.
    private let names = Locked<[Int: EntityKeyMap]>([:])
    /// The key rules of each entity.
    private let rules: [EntityRules]

    /// Resolves entities that ``ModelValidator`` accepted, in name order.
    init(_ entities: [SyncModel.Entity], _ rules: KeyRules = KeyRules()) {
        let compiler = ModelCompiler(entities)
        self.rules = EntityRules.all(of: entities, compiler.compiled, in: rules)
        declarations = entities
        hasKinds = entities.contains { $0.discriminator != nil }
        self.entityIDs = compiler.entityIDs
        self.hierarchies = compiler.hierarchies
        self.links = compiler.links
        self.entities = compiler.compiled
        keyTypes = compiler.compiled.map { KeyType(of: $0, compiler.compiled, compiler.hierarchies) }
        let keys = Set(compiler.compiled.flatMap { entity in entity.keySlots.map { [entity.table.index, $0] } })
        let hasLinksInKeys = compiler.links.contains { $0.isKeyPart }
        canRefuseRows =
            hasLinksInKeys
            || compiler.hierarchies.contains { hierarchy in
                hierarchy.hasSubEntities
                    || hierarchy.attributes.enumerated().contains { slot, attribute in
                        !attribute.isOptional && attribute.defaultValue == nil
                            && !keys.contains([hierarchy.id.index, slot])
                    }
            }
    }

    /// Whether the store may reject a record: its row is of a sibling entity, or is new and lacks a required value or a
    /// row that is part of its key.
    let canRefuseRows: Bool

    package subscript(_ id: TableID) -> EntityHierarchy { hierarchies[id.index] }

    package subscript(_ id: AssociationID) -> CompiledAssociation { links[id.index] }

    /// Returns the key type of an entity; nil for a keyless one.
    package func keyType(of entity: Int) -> KeyType? { keyTypes[entity] }

    /// Returns the names of the parts of an entity's key; empty for a keyless one.
    package func keyNames(of entity: CompiledEntity) -> [String] {
        let attributes = self[entity.table].attributes
        if let slot = entity.keySlot { return [attributes[slot].name] }
        return (entity.compositeKey?.parts ?? []).map { part in
            switch part {
            case .attribute(let slot): attributes[slot].name
            case .relationship(let index): entity.relationships[index].name
            }
        }
    }

    /// Returns whether a relationship is a part of the primary key.
    package func isKeyPart(_ relationship: CompiledRelationship) -> Bool {
        self[relationship.link].isKeyPart && relationship.end == .first
    }

    package func entityID(_ name: String) -> Int? { entityIDs[name] }

    /// Returns the entity with a name.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`. The message lists the known entities.
    package func entity(named name: String) throws -> CompiledEntity {
        guard let id = entityIDs[name] else {
            let known = TruncatedList(entities.lazy.map(\.name)).text
            throw SyncError(
                .unknownEntity,
                "unknown entity '\(name)'; the model has \(known.isEmpty ? "no entities" : known)"
                    + SimilarName.hint(for: name, among: entities.lazy.map(\.name)), entity: name)
        }
        return entities[id]
    }

    /// Returns the JSON keys that the attributes and relationships of an entity are read from.
    package func names(of entity: CompiledEntity) -> EntityKeyMap {
        names.withLock { known in
            if let names = known[entity.id] { return names }
            let names = EntityKeyMap(entity, of: self)
            known[entity.id] = names
            return names
        }
    }

    package func rules(of entity: CompiledEntity) -> EntityRules { rules[entity.id] }

    /// Returns whether an entity is another one or inherits from it.
    package func entity(_ entity: Int, isKindOf ancestor: Int) -> Bool {
        var current: Int? = entity
        while let id = current {
            if id == ancestor { return true }
            current = entities[id].parent
        }
        return false
    }
}

/// An entity with its inherited attributes and relationships.
package final class CompiledEntity: Sendable {
    package let id: Int
    package let name: String
    package let parent: Int?
    package let isAbstract: Bool
    /// The table of its rows, which is that of its hierarchy.
    package let table: TableID
    /// The entity itself and all its sub-entities, at any depth.
    package let family: [Int]
    /// The slots of its attributes in the rows of the hierarchy, inherited ones first.
    package let slots: [Int]
    /// The slot of each attribute, by name.
    package let slotByName: [String: Int]
    /// The slot of the primary key, if it is a single attribute.
    package let keySlot: Int?
    /// The primary key, if it is not a single attribute.
    package let compositeKey: CompositeKey?
    /// The topmost entity with the same key. Keys are unique among the rows of its family.
    package let keyOwner: Int?
    /// Its relationships, inherited ones first.
    package let relationships: [CompiledRelationship]
    /// The index of each relationship in `relationships`, by name.
    package let relationshipByName: [String: Int]

    init(
        id: Int, name: String, parent: Int?, isAbstract: Bool, table: TableID, family: [Int], slots: [Int],
        slotByName: [String: Int], keySlot: Int?, compositeKey: CompositeKey?, keyOwner: Int?,
        relationships: [CompiledRelationship], relationshipByName: [String: Int]
    ) {
        self.id = id
        self.name = name
        self.parent = parent
        self.isAbstract = isAbstract
        self.table = table
        self.family = family
        self.slots = slots
        self.slotByName = slotByName
        self.keySlot = keySlot
        self.compositeKey = compositeKey
        self.keyOwner = keyOwner
        self.relationships = relationships
        self.relationshipByName = relationshipByName
    }

    /// Whether the entity has a primary key.
    package var isKeyed: Bool { keyOwner != nil }

    /// The slots of the attributes that are part of its key.
    package var keySlots: [Int] { keySlot.map { [$0] } ?? compositeKey?.slots ?? [] }

    /// The first to-one relationship to the entity itself. By default a sync has only rows in scope whose relationship
    /// is null.
    package var rootScope: CompiledRelationship? {
        relationships.first { !$0.isToMany && family.contains($0.destination) && $0.destination == id }
    }

    package func relationship(named name: String) -> CompiledRelationship? {
        relationshipByName[name].map { relationships[$0] }
    }
}

/// The entities of an inheritance hierarchy, which share a table. Most hierarchies have one entity.
package struct EntityHierarchy: Sendable {
    package let id: TableID
    package let root: Int
    package let entities: [Int]
    /// The attributes of all its entities. A row has one slot for each.
    package let attributes: [SyncModel.Attribute]
    /// The slot of the table's primary key; nil if the table has a surrogate key.
    package let keySlot: Int?
    /// The associations whose foreign key column is in the table.
    package let foreignKeys: [AssociationID]
    /// Whether rows need to store their entity.
    package var hasSubEntities: Bool { entities.count > 1 }
}

/// A relationship of an entity.
package struct CompiledRelationship: Sendable {
    package let relationship: SyncModel.Relationship
    /// The entity that declares the relationship.
    package let owner: Int
    package let destination: Int
    package let link: AssociationID
    /// The end of the association that the owner is at.
    package let end: CompiledAssociation.End
    package var name: String { relationship.name }
    package var isToMany: Bool { relationship.isToMany }
    package var isOrdered: Bool { relationship.isOrdered }
}

/// A pair of inverse relationships, or a relationship without inverse, stored once.
///
/// A foreign key's column is in the table of the `first` end. A join table is named after its `first` end.
package struct CompiledAssociation: Sendable {
    package enum Storage: Sendable {
        /// A column in the table of the first end, with the row key of the referenced row.
        case foreignKey
        /// A join table.
        case joinTable
    }

    package enum End: Int, Sendable {
        /// The end with the foreign key column, or that the join table is named after.
        case first = 0
        /// The end with the referenced rows.
        case second = 1
        package var other: End { self == .first ? .second : .first }
    }

    /// One end of an association.
    package struct Role: Sendable {
        package let entity: Int
        package let table: TableID
        /// The relationship to the other end, if it is declared.
        package let relationship: SyncModel.Relationship?
        /// Whether a row at this end can have several links.
        package let isToMany: Bool
        package var isOrdered: Bool { isToMany && (relationship?.isOrdered ?? false) }
    }

    package let id: AssociationID
    package let storage: Storage
    package let first: Role
    package let second: Role
    /// Whether the relationship is its own inverse. Each link is then stored in both directions.
    package let isSymmetric: Bool
    /// Whether the foreign key is part of the primary key of the rows at the first end. Such a link is only removed
    /// with its row, and the row is deleted with the referenced row.
    package var isKeyPart = false

    package func side(_ end: End) -> Role { end == .first ? first : second }
    package var isOneToOne: Bool { !first.isToMany && !second.isToMany }
}

/// A primary key that is not a single attribute. Its table has a surrogate key.
package struct CompositeKey: Sendable {
    package enum Part: Sendable, Hashable {
        /// An attribute, by its slot.
        case attribute(Int)
        /// A to-one relationship, by its index in the entity. Its value is the key of the referenced row.
        case relationship(Int)
    }

    package let parts: [Part]

    /// The slots of the parts that are attributes.
    package var slots: [Int] {
        parts.compactMap { part in
            guard case .attribute(let slot) = part else { return nil }
            return slot
        }
    }

    /// Returns whether an attribute is a part of the key.
    package func contains(slot: Int) -> Bool { slots.contains(slot) }
}

/// The key rules of an entity, merged with those of its ancestors and the model.
package struct EntityRules: Sendable {
    /// The spelling of the nearest entity that declares one, or of the model.
    package let keys: KeyCase?
    /// The ignored keys of all of them together.
    package let ignored: IgnoredKeys

    static func all(of entities: [SyncModel.Entity], _ compiled: [CompiledEntity], in model: KeyRules) -> [EntityRules]
    {
        compiled.map { entity in
            let line = sequence(first: entity) { $0.parent.map { compiled[$0] } }.map { entities[$0.id] }
            return EntityRules(
                keys: line.lazy.compactMap(\.keys).first ?? model.keys,
                ignored: IgnoredKeys(line.flatMap(\.ignore) + model.ignore))
        }
    }
}

/// The index of a ``CompiledAssociation`` in ``CompiledModel/links``.
package struct AssociationID: Hashable, Comparable, Sendable {
    /// The index as it is stored. Other modules read the property without a function call, which matters in loops over
    /// millions of rows.
    package let number: Int32

    package init(_ index: Int) { number = Int32(truncatingIfNeeded: index) }

    package var index: Int { Int(number) }

    package static func < (left: AssociationID, right: AssociationID) -> Bool { left.number < right.number }
}

/// The index of an ``EntityHierarchy`` in ``CompiledModel/hierarchies``.
package struct TableID: Hashable, Comparable, Sendable {
    /// The index as it is stored. Other modules read the property without a function call, which matters in loops over
    /// millions of rows.
    package let number: Int32

    package init(_ index: Int) { number = Int32(truncatingIfNeeded: index) }

    @inlinable package var index: Int { Int(number) }

    package static func < (left: TableID, right: TableID) -> Bool { left.number < right.number }
}

// MARK: - KeyType+Entity

extension KeyType {
    /// Creates the key type of an entity; nil for a keyless one.
    init?(of entity: CompiledEntity, _ entities: [CompiledEntity], _ hierarchies: [EntityHierarchy]) {
        let attributes = hierarchies[entity.table.index].attributes
        if let slot = entity.keySlot {
            self = .single(attributes[slot].type)
        } else if let key = entity.compositeKey {
            self = .composite(
                key.parts.compactMap { part in
                    switch part {
                    case .attribute(let slot): .single(attributes[slot].type)
                    case .relationship(let index):
                        KeyType(of: entities[entity.relationships[index].destination], entities, hierarchies)
                    }
                })
        } else {
            return nil
        }
    }
}

// MARK: - KeyedBy+Slot

extension KeyedBy {
    /// Returns the slot of the attribute in the rows of an entity; nil if there is no such attribute, or if the key is
    /// composite.
    package func slot(in entity: CompiledEntity, of model: CompiledModel) -> Int? {
        switch self {
        case .primaryKey: entity.keySlot
        case .attribute(let name): entity.slotByName[name] ?? model.names(of: entity).attribute(forKey: name)?.slot
        }
    }
}

// MARK: - AttributeNaming+Compiled

extension AttributeNaming {
    /// Returns the reserved word that an attribute's name has as its suffix; nil if there is none.
    static func reservedWord(of attribute: String, _ entity: CompiledEntity, _ model: CompiledModel) -> String? {
        let lineage = lineage(entity, model)
        return reservedWords.first { prefixedNames(of: $0, lineage).contains(attribute) }
    }

    /// Returns the names of an entity and its ancestors, the nearest first.
    static func lineage(_ entity: CompiledEntity, _ model: CompiledModel) -> [String] {
        sequence(first: entity) { $0.parent.map { model.entities[$0] } }.map(\.name)
    }
}

// MARK: - EntityKeyMap+Compiled

extension EntityKeyMap {
    convenience init(_ entity: CompiledEntity, of model: CompiledModel) {
        let attributes = model[entity.table].attributes
        self.init(
            entity.slots.map { ($0, attributes[$0]) }, entity.relationships.map(\.relationship),
            lineage: AttributeNaming.lineage(entity, model), keys: model.rules(of: entity).keys,
            ignored: model.rules(of: entity).ignored)
    }
}
