/// A model with every name resolved to an index: inheritance flattened, relationships paired into links.
///
/// Entities are referred to by their position in the array here, trees and links by ``TableID`` and ``AssociationID``.
package final class CompiledModel: Sendable {
    package let entities: [CompiledEntity]
    package let trees: [EntityHierarchy]
    package let links: [CompiledAssociation]
    /// The entities as they were declared.
    package let declarations: [SyncModel.Entity]
    /// Whether any of them says by which member of a record its entity is known.
    package let hasKinds: Bool
    private let entityIDs: [String: Int]
    private let keyTypes: [KeyType?]
    /// By entity, as far as they were asked for.
    private let names = Locked<[Int: EntityKeyMap]>([:])
    /// By entity: how its keys are spelled, and which of them nothing is wanted of.
    private let rules: [EntityRules]

    /// Resolves entities that ``ModelValidator`` has accepted, in name order.
    init(_ entities: [SyncModel.Entity], _ rules: KeyRules = KeyRules()) {
        let compiler = ModelCompiler(entities)
        self.rules = EntityRules.all(of: entities, compiler.compiled, in: rules)
        declarations = entities
        hasKinds = entities.contains { $0.discriminator != nil }
        self.entityIDs = compiler.entityIDs
        self.trees = compiler.trees
        self.links = compiler.links
        self.entities = compiler.compiled
        keyTypes = compiler.compiled.map { KeyType(of: $0, compiler.compiled, compiler.trees) }
        let keys = Set(compiler.compiled.flatMap { entity in entity.keySlots.map { [entity.table.index, $0] } })
        let hasLinksInKeys = compiler.links.contains { $0.isKeyPart }
        canRefuseRows =
            hasLinksInKeys
            || compiler.trees.contains { tree in
                tree.hasSubEntities
                    || tree.attributes.enumerated().contains { slot, attribute in
                        !attribute.isOptional && attribute.defaultValue == nil && !keys.contains([tree.id.index, slot])
                    }
            }
    }

    /// Whether a record can be refused only once the store is asked: its row is of a sibling entity, or a new one that
    /// lacks a required value, or a row that its key is made of.
    let canRefuseRows: Bool

    package subscript(_ id: TableID) -> EntityHierarchy { trees[id.index] }

    package subscript(_ id: AssociationID) -> CompiledAssociation { links[id.index] }

    /// What the keys of an entity are; nil for a keyless one.
    package func keyType(of entity: Int) -> KeyType? { keyTypes[entity] }

    /// The names of the parts of an entity's key; none for a keyless one.
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

    /// Whether rows are told apart by where a relationship leads.
    package func isKeyPart(_ relationship: CompiledRelationship) -> Bool {
        self[relationship.link].isKeyPart && relationship.end == .first
    }

    package func entityID(_ name: String) -> Int? { entityIDs[name] }

    /// - Throws: ``SyncError`` `unknownEntity`, naming the entities there are.
    package func entity(named name: String) throws -> CompiledEntity {
        guard let id = entityIDs[name] else {
            let known = TruncatedList(entities.lazy.map(\.name)).text
            throw SyncError(
                .unknownEntity,
                "unknown entity '\(name)'; the model has \(known.isEmpty ? "none" : known)"
                    + SimilarName.hint(for: name, among: entities.lazy.map(\.name)), entity: name)
        }
        return entities[id]
    }

    /// Which JSON keys an entity's members are read from.
    package func names(of entity: CompiledEntity) -> EntityKeyMap {
        names.withLock { known in
            if let names = known[entity.id] { return names }
            let names = EntityKeyMap(entity, of: self)
            known[entity.id] = names
            return names
        }
    }

    package func rules(of entity: CompiledEntity) -> EntityRules { rules[entity.id] }

    /// Whether rows of `entity` count as rows of `ancestor`.
    package func entity(_ entity: Int, isKindOf ancestor: Int) -> Bool {
        var current: Int? = entity
        while let id = current {
            if id == ancestor { return true }
            current = entities[id].parent
        }
        return false
    }
}

/// An entity with what it inherits.
package final class CompiledEntity: Sendable {
    package let id: Int
    package let name: String
    package let parent: Int?
    package let isAbstract: Bool
    /// The table its rows are in, that of its tree.
    package let table: TableID
    /// Itself and every entity below it.
    package let family: [Int]
    /// The slots of its attributes in the tree's rows, inherited ones first.
    package let slots: [Int]
    /// Attribute name → slot.
    package let slotByName: [String: Int]
    /// The slot of a primary key that is one attribute.
    package let keySlot: Int?
    /// Any other primary key.
    package let compositeKey: CompositeKey?
    /// The topmost entity that has this key: rows of its family share one set of keys.
    package let keyOwner: Int?
    /// Its relationships, inherited ones first.
    package let relationships: [CompiledRelationship]
    /// Relationship name → position in `relationships`.
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

    /// Whether its rows can be told apart by values of theirs.
    package var isKeyed: Bool { keyOwner != nil }

    /// The slots of the attributes that its key is made of.
    package var keySlots: [Int] { keySlot.map { [$0] } ?? compositeKey?.slots ?? [] }

    /// The first to-one relationship to the entity itself: a root-level sync compares only rows where it is nil.
    package var rootScope: CompiledRelationship? {
        relationships.first { !$0.isToMany && family.contains($0.destination) && $0.destination == id }
    }

    package func relationship(named name: String) -> CompiledRelationship? {
        relationshipByName[name].map { relationships[$0] }
    }
}

/// The entities of one inheritance tree, which share a table. Most trees are a single entity.
package struct EntityHierarchy: Sendable {
    package let id: TableID
    package let root: Int
    package let entities: [Int]
    /// The attributes of all its entities; a row has one slot for each.
    package let attributes: [SyncModel.Attribute]
    /// The slot whose value is the table's primary key; nil if rows have a hidden key.
    package let keySlot: Int?
    /// The links whose foreign key column is in this tree's table.
    package let foreignKeys: [AssociationID]
    /// Whether rows must say which entity they are of.
    package var hasSubEntities: Bool { entities.count > 1 }
}

/// A relationship as seen from one entity.
package struct CompiledRelationship: Sendable {
    package let relationship: SyncModel.Relationship
    /// The entity that declares it.
    package let owner: Int
    package let destination: Int
    package let link: AssociationID
    /// Which end of the link its owner is.
    package let end: CompiledAssociation.End
    package var name: String { relationship.name }
    package var isToMany: Bool { relationship.isToMany }
    package var isOrdered: Bool { relationship.isOrdered }
}

/// A pair of inverse relationships, or one relationship without inverse: what the store keeps once.
///
/// A foreign key's `first` end has the column; a join table is named after its `first` end.
package struct CompiledAssociation: Sendable {
    package enum Storage: Sendable {
        /// A column in the table of the first end, with the row key of the row at the second.
        case foreignKey
        /// A table of pairs of row keys.
        case joinTable
    }

    package enum End: Int, Sendable {
        /// Where a foreign key's column is; what a join table is named after.
        case first = 0
        /// Where a foreign key points to.
        case second = 1
        package var other: End { self == .first ? .second : .first }
    }

    /// One side of a link.
    package struct Role: Sendable {
        package let entity: Int
        package let table: TableID
        /// The relationship that leads from here to the other side, if there is one.
        package let relationship: SyncModel.Relationship?
        /// Whether a row here can have several links.
        package let isToMany: Bool
        package var isOrdered: Bool { isToMany && (relationship?.isOrdered ?? false) }
    }

    package let id: AssociationID
    package let storage: Storage
    package let first: Role
    package let second: Role
    /// Whether a relationship is its own inverse, so that each pair is stored in both directions.
    package let isSymmetric: Bool
    /// Whether rows at the first end are told apart by it: such a link goes only with its row, and the row with its
    /// target.
    package var isKeyPart = false

    package func side(_ end: End) -> Role { end == .first ? first : second }
    package var isOneToOne: Bool { !first.isToMany && !second.isToMany }
}

/// A primary key of several parts, or of one that is a relationship: rows are stored under a hidden key.
package struct CompositeKey: Sendable {
    package enum Part: Sendable, Hashable {
        /// An attribute, by its slot.
        case attribute(Int)
        /// A to-one relationship, by its position in the entity: the key of the row it leads to.
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

    /// Whether an attribute is a part.
    package func contains(slot: Int) -> Bool { slots.contains(slot) }
}

/// What holds for the keys of an entity's records, from itself, its ancestors and the model.
package struct EntityRules: Sendable {
    /// How they are spelled: by the nearest of these that says so.
    package let keys: KeyCase?
    /// Those that nothing is wanted of, by all of these together.
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

/// Which link: the position of a ``CompiledAssociation`` in ``CompiledModel/links``.
package struct AssociationID: Hashable, Comparable, Sendable {
    /// The position as it is stored: other modules read it without a call, which loops over millions of rows notice.
    package let number: Int32

    package init(_ index: Int) { number = Int32(truncatingIfNeeded: index) }

    package var index: Int { Int(number) }

    package static func < (left: AssociationID, right: AssociationID) -> Bool { left.number < right.number }
}

/// Which table: the position of an ``EntityHierarchy`` in ``CompiledModel/trees``.
package struct TableID: Hashable, Comparable, Sendable {
    /// The position as it is stored: other modules read it without a call, which loops over millions of rows notice.
    package let number: Int32

    package init(_ index: Int) { number = Int32(truncatingIfNeeded: index) }

    @inlinable package var index: Int { Int(number) }

    package static func < (left: TableID, right: TableID) -> Bool { left.number < right.number }
}

// MARK: - KeyType+Entity

extension KeyType {
    /// What the keys of an entity are; nil for a keyless one.
    init?(of entity: CompiledEntity, _ entities: [CompiledEntity], _ trees: [EntityHierarchy]) {
        let attributes = trees[entity.table.index].attributes
        if let slot = entity.keySlot {
            self = .single(attributes[slot].type)
        } else if let key = entity.compositeKey {
            self = .composite(
                key.parts.compactMap { part in
                    switch part {
                    case .attribute(let slot): .single(attributes[slot].type)
                    case .relationship(let index):
                        KeyType(of: entities[entity.relationships[index].destination], entities, trees)
                    }
                })
        } else {
            return nil
        }
    }
}

// MARK: - KeyedBy+Slot

extension KeyedBy {
    /// The slot of the attribute in the rows of an entity; nil if it has none of this name, or no key of one attribute.
    package func slot(in entity: CompiledEntity, of model: CompiledModel) -> Int? {
        switch self {
        case .primaryKey: entity.keySlot
        case .attribute(let name): entity.slotByName[name] ?? model.names(of: entity).attribute(forKey: name)?.slot
        }
    }
}

// MARK: - AttributeNaming+Compiled

extension AttributeNaming {
    /// The reserved word that an attribute's name is the prefixed form of.
    static func reservedWord(of attribute: String, _ entity: CompiledEntity, _ model: CompiledModel) -> String? {
        let lineage = lineage(entity, model)
        return reservedWords.first { prefixedNames(of: $0, lineage).contains(attribute) }
    }

    /// The names of an entity and its ancestors, the nearest first.
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
