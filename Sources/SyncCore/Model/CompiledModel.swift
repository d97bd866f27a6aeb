/// A model whose names are resolved to indexes. Each entity includes its inherited attributes and relationships, and
/// inverse relationships are paired into associations.
///
/// An entity is identified by its index in `entities`, a table by its ``TableID``, an association by its
/// ``AssociationID``.
package final class CompiledModel: Sendable {
    package let entities: [CompiledEntity]
    package let hierarchies: [EntityHierarchy]
    package let links: [CompiledAssociation]
    /// The entities as declared, without inherited attributes and relationships.
    package let declarations: [SyncModel.Entity]
    /// Whether any entity has a discriminator.
    package let hasDiscriminators: Bool
    private let entityIDs: [String: Int]
    private let keyTypes: [KeyType?]
    /// The JSON key map of each entity, by the entity's index. A map is created on first use.
    private let names = Locked<[Int: EntityKeyMap]>([:])
    /// The rules for JSON keys of each entity: their spelling, and the ignored keys.
    private let rules: [EntityRules]

    /// Compiles the entities of a model. The entities must be valid and sorted by name.
    init(_ entities: [SyncModel.Entity], _ rules: KeyRules = KeyRules()) {
        let compiler = ModelCompiler(entities)
        self.rules = EntityRules.all(of: entities, compiler.compiled, in: rules)
        declarations = entities
        hasDiscriminators = entities.contains { $0.discriminator != nil }
        self.entityIDs = compiler.entityIDs
        self.hierarchies = compiler.hierarchies
        self.links = compiler.links
        self.entities = compiler.compiled
        keyTypes = compiler.compiled.map { KeyType(of: $0, compiler.compiled, compiler.hierarchies) }
        let keys = Set(compiler.compiled.flatMap { entity in entity.keySlots.map { [entity.table.index, $0] } })
        let hasLinksInKeys = compiler.links.contains { $0.isKeyPart }
        canRejectRecords =
            hasLinksInKeys
            || compiler.hierarchies.contains { hierarchy in
                hierarchy.hasSubEntities
                    || hierarchy.attributes.enumerated().contains { slot, attribute in
                        !attribute.isOptional && attribute.defaultValue == nil
                            && !keys.contains([hierarchy.id.index, slot])
                    }
            }
    }

    /// Whether the store can reject a record of this model.
    ///
    /// The store rejects these records:
    ///
    /// - A record whose stored row is neither of the record's entity nor of a subentity.
    /// - A record of a new row, if the entity is abstract or a required value is missing.
    /// - A record whose primary key contains the key of a row that is neither stored nor inserted.
    let canRejectRecords: Bool

    package subscript(_ id: TableID) -> EntityHierarchy { hierarchies[id.index] }

    package subscript(_ id: AssociationID) -> CompiledAssociation { links[id.index] }

    /// Returns the type of an entity's primary key, or nil for a keyless entity.
    package func keyType(of entity: Int) -> KeyType? { keyTypes[entity] }

    /// Returns the names of the parts of an entity's primary key. The array is empty for a keyless entity.
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

    /// Returns whether a relationship is a part of an entity's primary key.
    package func isKeyPart(_ relationship: CompiledRelationship) -> Bool {
        self[relationship.link].isKeyPart && relationship.end == .first
    }

    /// Returns the attributes of an entity, with inherited attributes first.
    package func attributes(of entity: CompiledEntity) -> [SyncModel.Attribute] {
        entity.slots.map { self[entity.table].attributes[$0] }
    }

    package func entityID(_ name: String) -> Int? { entityIDs[name] }

    /// Returns the entity with the given name.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`. The message lists known entities.
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

    /// Returns the JSON keys of the attributes and relationships of an entity.
    package func names(of entity: CompiledEntity) -> EntityKeyMap {
        names.withLock { known in
            if let names = known[entity.id] { return names }
            let names = EntityKeyMap(entity, of: self)
            known[entity.id] = names
            return names
        }
    }

    package func rules(of entity: CompiledEntity) -> EntityRules { rules[entity.id] }

    /// Returns whether an entity is `ancestor` or one of the subentities of `ancestor`, at any depth.
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
    /// The table of the entity's rows. All entities of a hierarchy share a table.
    package let table: TableID
    /// The entity itself and all its subentities, at any depth.
    package let family: [Int]
    /// The slots of the entity's attributes, with inherited attributes first. A slot is an index in
    /// ``EntityHierarchy/attributes``.
    package let slots: [Int]
    /// The slot of each of the entity's attributes, by name.
    package let slotByName: [String: Int]
    /// The slot of the primary key; nil if the entity is keyless or its key is not a single attribute.
    package let keySlot: Int?
    /// The primary key, if the key is not a single attribute; nil otherwise.
    package let compositeKey: CompositeKey?
    /// The topmost entity with the same primary key, among this entity and its ancestors; nil for a keyless entity. Key
    /// values are unique among the rows of all entities with the same key owner.
    package let keyOwner: Int?
    /// The entity's relationships, with inherited relationships first.
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

    /// The slots of the attributes that are part of the primary key.
    package var keySlots: [Int] { keySlot.map { [$0] } ?? compositeKey?.slots ?? [] }

    /// The first to-one relationship whose destination is the entity itself. By default, a row is in the scope of a
    /// sync only if this relationship is null.
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
    /// The attributes of all entities of the hierarchy. The index of an attribute is its slot.
    package let attributes: [SyncModel.Attribute]
    /// The slot of the table's primary key; nil if the table has a surrogate key.
    package let keySlot: Int?
    /// The associations whose foreign key column is in the table.
    package let foreignKeys: [AssociationID]
    /// Whether the hierarchy has several entities. If so, each row stores the name of its entity.
    package var hasSubEntities: Bool { entities.count > 1 }
}

/// A relationship, with its entities and its association as indexes.
package struct CompiledRelationship: Sendable {
    package let relationship: SyncModel.Relationship
    /// The entity that declares the relationship.
    package let owner: Int
    package let destination: Int
    package let link: AssociationID
    /// The end of the association at which `owner` is.
    package let end: CompiledAssociation.End
    package var name: String { relationship.name }
    package var isToMany: Bool { relationship.isToMany }
    package var isOrdered: Bool { relationship.isOrdered }
}

/// A pair of inverse relationships, or one relationship without an inverse. Each link is stored once, or in both
/// directions if the association is symmetric (``isSymmetric``).
///
/// A foreign key column is in the table of the `first` end. By default, a join table is named after the entity and the
/// relationship at the `first` end.
package struct CompiledAssociation: Sendable {
    package enum Storage: Sendable {
        /// A column in the table of the first end. The column holds the primary key or the surrogate key of the
        /// referenced row.
        case foreignKey
        /// A join table.
        case joinTable
    }

    package enum End: Int, Sendable {
        /// The end whose table has the foreign key column. By default, a join table is named after the relationship at
        /// this end.
        case first = 0
        /// The other end. The rows that a foreign key references are at this end.
        case second = 1
        package var other: End { self == .first ? .second : .first }
    }

    /// The entity, table and relationship at one end of an association.
    package struct Role: Sendable {
        package let entity: Int
        package let table: TableID
        /// The relationship to the other end; nil if the model declares none.
        package let relationship: SyncModel.Relationship?
        /// Whether a row at this end can have several links.
        package let isToMany: Bool
        package var isOrdered: Bool { isToMany && (relationship?.isOrdered ?? false) }
    }

    package let id: AssociationID
    package let storage: Storage
    package let first: Role
    package let second: Role
    /// Whether the relationship is its own inverse. The store then has each link in both directions.
    package let isSymmetric: Bool
    /// Whether the foreign key is part of the primary key of the rows at the first end. A sync that deletes the
    /// referenced row then also deletes the row at the first end, unless the delete rule is `deny`.
    package var isKeyPart = false
    /// Whether a deletion of a row at the second end cascades to the rows at the first end that reference it.
    package var cascadesToFirst: Bool { second.relationship?.deleteRule == .cascade || isKeyPart }

    package func side(_ end: End) -> Role { end == .first ? first : second }
    package var isOneToOne: Bool { !first.isToMany && !second.isToMany }
    package var isManyToMany: Bool { first.isToMany && second.isToMany }
}

/// A primary key that is not a single attribute. The table of the entity has a surrogate key.
package struct CompositeKey: Sendable {
    package enum Part: Sendable, Hashable {
        /// An attribute, given by its slot.
        case attribute(Int)
        /// A to-one relationship, given by its index in ``CompiledEntity/relationships``. The value of this part is the
        /// key of the referenced row.
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
}

/// The rules for JSON keys of an entity, merged with the rules of its ancestors and of the model.
package struct EntityRules: Sendable {
    /// The declared spelling of the entity, or else of its nearest ancestor, or else of the model; nil if no spelling
    /// is declared.
    package let keys: KeyCase?
    /// The ignored keys of the entity, its ancestors and the model.
    package let ignored: IgnoredKeys

    static func all(of entities: [SyncModel.Entity], _ compiled: [CompiledEntity], in model: KeyRules) -> [EntityRules]
    {
        compiled.map { entity in
            let line = sequence(first: entity) { $0.parent.map { compiled[$0] } }.map { entities[$0.id] }
            return EntityRules(
                keys: line.lazy.compactMap(\.keyCase).first ?? model.keyCase,
                ignored: IgnoredKeys(line.flatMap(\.ignoredKeys) + model.ignoredKeys))
        }
    }
}

/// The index of a ``CompiledAssociation`` in ``CompiledModel/links``.
package struct AssociationID: Hashable, Comparable, Sendable {
    /// The index. Other modules read a stored property without a function call, which matters in loops over millions of
    /// rows.
    package let number: Int32

    package init(_ index: Int) { number = Int32(truncatingIfNeeded: index) }

    package var index: Int { Int(number) }

    package static func < (left: AssociationID, right: AssociationID) -> Bool { left.number < right.number }
}

/// The index of an ``EntityHierarchy`` in ``CompiledModel/hierarchies``.
package struct TableID: Hashable, Comparable, Sendable {
    /// The index. Other modules read a stored property without a function call, which matters in loops over millions of
    /// rows.
    package let number: Int32

    package init(_ index: Int) { number = Int32(truncatingIfNeeded: index) }

    @inlinable package var index: Int { Int(number) }

    package static func < (left: TableID, right: TableID) -> Bool { left.number < right.number }
}

// MARK: - KeyType+Entity

extension KeyType {
    /// Creates the type of an entity's primary key, or returns nil for a keyless entity.
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
    /// Returns the slot of the attribute whose values are the object keys of the JSON object. Returns nil if the entity
    /// has no such attribute, or, for `primaryKey`, if the key of the entity is not one attribute.
    package func slot(in entity: CompiledEntity, of model: CompiledModel) -> Int? {
        switch self {
        case .primaryKey: entity.keySlot
        case .attribute(let name): entity.slotByName[name] ?? model.names(of: entity).attribute(forKey: name)?.slot
        }
    }
}

// MARK: - AttributeNaming+Compiled

extension AttributeNaming {
    /// Returns the reserved word that an attribute's name ends with after the name of the entity or an ancestor: `type`
    /// for `userType`. Returns nil if there is none.
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
            lineage: AttributeNaming.lineage(entity, model), keyCase: model.rules(of: entity).keys,
            ignored: model.rules(of: entity).ignored)
    }
}
