import Foundation

/// The properties of a model that mapping needs for every value. They are computed once, and looked up by index.
struct MappingTables: Sendable {
    /// The relationships, by entity and by index in the entity.
    let relationships: [[RelationshipMapping]]
    /// The table of each entity.
    let tableOf: [TableID]
    /// The attributes, by table and slot.
    let attributes: [[AttributeMapping]]
    /// The conversions, by table and slot; empty for a table without conversions.
    let conversions: [[ValueConversion?]]
    let kinds: DiscriminatorResolver
    /// The maximum length of a composite key in bytes.
    let keyLength: Int

    /// Computes the mapping properties of a model.
    ///
    /// - Parameters:
    ///   - swiftTypes: The Swift types that the caller reads rows as. Their value checks replace those of the model.
    ///   - capabilities: The values that the store can keep. Each limit becomes a part of the conversion of an
    ///     attribute, so attributes without a limit need no check.
    init(
        _ source: SyncModel, checking swiftTypes: [any SyncEntity.Type] = [],
        keeping capabilities: StoreCapabilities = .unlimited
    ) {
        let model = source.compiled
        keyLength = capabilities.keyLength ?? .max
        let checks = Self.checks(of: swiftTypes, in: model)
        relationships = model.entities.map { entity in
            entity.relationships.map { RelationshipMapping($0, of: model) }
        }
        tableOf = model.entities.map(\.table)
        let conversions = model.hierarchies.map { tree in
            let limits = Self.limits(of: tree, in: model, capabilities)
            let found = tree.attributes.enumerated().map { slot, attribute in
                source.conversion(
                    of: attribute, check: checks[tree.id]?[slot] ?? attribute.check,
                    limit: limits.isEmpty ? nil : limits[slot])
            }
            return found.allSatisfy { $0 == nil } ? [] : found
        }
        self.conversions = conversions
        attributes = model.hierarchies.map { tree in
            tree.attributes.enumerated().map { slot, attribute in
                AttributeMapping(
                    type: attribute.type, isRequired: !attribute.isOptional, isKey: slot == tree.keySlot,
                    hasConversion: conversions[tree.id.index].first != nil && conversions[tree.id.index][slot] != nil)
            }
        }
        kinds = DiscriminatorResolver(model)
    }

    /// Returns the limits of a store for the attributes of a table, by slot; empty for a store without limits.
    private static func limits(
        of hierarchy: EntityHierarchy, in model: CompiledModel, _ capabilities: StoreCapabilities
    ) -> [ValueLimit?] {
        if capabilities.areUnlimited { return [] }
        let keySlots = Set(hierarchy.entities.flatMap { model.entities[$0].keySlots })
        return hierarchy.attributes.enumerated().map { slot, attribute in
            capabilities.limit(of: attribute.type, isKey: keySlots.contains(slot))
        }
    }

    /// Returns the value checks of Swift types, by table and slot.
    private static func checks(
        of types: [any SyncEntity.Type], in model: CompiledModel
    ) -> [TableID: [Int: ValueCheck]] {
        var checks: [TableID: [Int: ValueCheck]] = [:]
        for declared in types.map({ $0.syncEntity }) {
            guard let id = model.entityID(declared.name) else { continue }
            let entity = model.entities[id]
            for attribute in declared.attributes {
                guard let check = attribute.check, let slot = entity.slotByName[attribute.name],
                    model[entity.table].attributes[slot].type == attribute.type
                else { continue }
                checks[entity.table, default: [:]][slot] = check
            }
        }
        return checks
    }

    /// Returns a description of the keys that the store can keep, which follows the name of the entity in a message;
    /// empty if the store can keep all keys.
    func limitText(ofKeyOf entity: CompiledEntity, in model: CompiledModel) -> String {
        guard let slot = entity.keySlot else {
            return keyLength == .max ? "" : ", a list of at most \(keyLength) bytes"
        }
        let conversions = conversions[entity.table.index]
        guard !conversions.isEmpty, let limit = conversions[slot]?.limitText, !limit.isEmpty else { return "" }
        return ", \(MappingDiagnostics.article(model[entity.table].attributes[slot].type))\(limit)"
    }

    /// The largest number of attributes of any table.
    var maximumWidth: Int { attributes.map(\.count).max() ?? 0 }
}

/// The properties of an attribute that mapping needs. It has no references, so that a copy needs no reference counting.
struct AttributeMapping {
    let type: AttributeType
    /// Whether the attribute must not be null.
    let isRequired: Bool
    /// Whether the attribute is the primary key of the table.
    let isKey: Bool
    let hasConversion: Bool
}

/// The properties of a relationship that mapping needs. It has no references, so that a copy needs no reference
/// counting.
struct RelationshipMapping {
    let link: AssociationID
    /// The end of the association that the owner is at.
    let end: CompiledAssociation.End
    /// The entity at the other end of the association. It does not change when `destination` is narrowed.
    let linkedEntity: Int
    private(set) var destination: Int
    let isToMany: Bool
    /// Whether the inverse is to-one, so that each row is in the list of one owner only.
    let isInverseToOne: Bool
    let isSymmetric: Bool
    /// Whether rows of the destination have primary keys, so that a payload can reference them by ID.
    private(set) var isKeyed: Bool
    /// Whether the keys of the destination are composite, so that an ID can be an array or an object.
    private(set) var hasCompositeIDs: Bool
    /// The index of the destination's key part that is the inverse of this relationship; nil if there is none. The
    /// owner supplies that part.
    private(set) var suppliedPart: Int?
    /// The slot that object keys fill, if the value is an object with the targets as members; -1 if the relationship
    /// has no `keyedBy`.
    let nameSlot: Int
    /// Whether `nameSlot` is the primary key.
    let areNamesKeys: Bool

    init(_ relationship: CompiledRelationship, of model: CompiledModel) {
        let destination = model.entities[relationship.destination]
        link = relationship.link
        end = relationship.end
        linkedEntity = model[link].side(end.other).entity
        self.destination = destination.id
        isToMany = relationship.isToMany
        isInverseToOne = !model[link].side(end.other).isToMany
        isSymmetric = model[link].isSymmetric
        isKeyed = destination.isKeyed
        hasCompositeIDs = destination.compositeKey != nil
        suppliedPart = Self.suppliedPart(destination, relationship.link, relationship.end)
        nameSlot = relationship.relationship.keyedBy?.slot(in: destination, of: model) ?? -1
        areNamesKeys = nameSlot >= 0 && nameSlot == destination.keySlot
    }

    private static func suppliedPart(
        _ destination: CompiledEntity, _ link: AssociationID, _ end: CompiledAssociation.End
    ) -> Int? {
        destination.compositeKey?.parts.firstIndex { part in
            guard case .relationship(let index) = part else { return false }
            let back = destination.relationships[index]
            return back.link == link && back.end == end.other
        }
    }

    /// Narrows the destination to one of its subentities.
    mutating func narrow(to entity: Int, of model: CompiledModel) {
        let kind = model.entities[entity]
        destination = entity
        isKeyed = kind.isKeyed
        hasCompositeIDs = kind.compositeKey != nil
        suppliedPart = Self.suppliedPart(kind, link, end)
    }

    /// The effect of a list of objects on rows that it omits.
    var listKind: LinkBatch.Replacement.Kind { isToMany && isInverseToOne ? .delete : .unlink }
}

/// The association through which a parent lists the rows of an entity.
struct ParentLink {
    let parent: CompiledEntity
    let link: AssociationID
    /// The end that the parent is at.
    let end: CompiledAssociation.End

    /// Resolves the association from the names in a call.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownRelationship`, or `ambiguousRelationship`, whose message lists
    ///   the candidates.
    init(of child: CompiledEntity, parent name: String, relationship: String?, _ model: CompiledModel) throws {
        parent = try model.entity(named: name)
        let candidates = Self.candidates(child, parent, model)
        if let relationship {
            guard let chosen = candidates.first(where: { $0.name == relationship }) else {
                let known = TruncatedList(candidates.map(\.name)).text
                throw SyncError(
                    .unknownRelationship,
                    "unknown relationship '\(relationship)' of \(name) to \(child.name); available: "
                        + "\(known.isEmpty ? "none" : known)"
                        + SimilarName.hint(for: relationship, among: candidates.map(\.name)), entity: name)
            }
            (link, end) = (chosen.link, chosen.end)
            return
        }
        guard let only = candidates.first else {
            throw SyncError(.unknownRelationship, "no relationship of \(name) to \(child.name)", entity: name)
        }
        guard candidates.count == 1 else {
            let names = TruncatedList(candidates.map(\.name)).text
            throw SyncError(
                .ambiguousRelationship, "\(name) has several relationships to \(child.name); name one of \(names)",
                entity: name)
        }
        (link, end) = (only.link, only.end)
    }

    /// Returns the parent's to-many relationships to the child entity, and the child's to-one relationships to the
    /// parent that have no inverse. A relationship without an inverse has the name that the child gives it.
    private static func candidates(
        _ child: CompiledEntity, _ parent: CompiledEntity, _ model: CompiledModel
    ) -> [(name: String, link: AssociationID, end: CompiledAssociation.End)] {
        var found: [(name: String, link: AssociationID, end: CompiledAssociation.End)] = []
        for relationship in parent.relationships
        where relationship.isToMany && model.entity(child.id, isKindOf: relationship.destination) {
            found.append((relationship.name, relationship.link, relationship.end))
        }
        for relationship in child.relationships
        where !relationship.isToMany && relationship.relationship.inverse == nil
            && model.entity(parent.id, isKindOf: relationship.destination)
        {
            found.append((relationship.name, relationship.link, relationship.end.other))
        }
        return found
    }
}

/// A mapper of the attributes of one JSON record. The mapper ignores relationships.
package struct AttributeMapper {
    /// The values by attribute name. An attribute has no entry if the record omits the attribute, or has an invalid
    /// value for it.
    package let values: [String: StoredValue]
    package let diagnostics: [SyncDiagnostic]

    /// Maps the attributes of a record.
    ///
    /// - Parameter capabilities: The values that the store can keep.
    /// - Throws: ``SyncError`` `recordExpected`, `nestingTooDeep`, or `typeMismatch` for a number whose text is not a
    ///   JSON number.
    package init(
        _ record: JSONValue, of entity: CompiledEntity, in model: SyncModel,
        keeping capabilities: StoreCapabilities = .unlimited
    ) throws {
        guard case .object = record else {
            throw SyncError(.recordExpected, "expected a record (JSON object)", entity: entity.name, path: "$")
        }
        var builder = JSONTapeBuilder()
        try builder.read(record)
        let graph = PayloadGraph(model: model.compiled, entity: entity.id, operations: .all, payload: Data())
        var mapper = PayloadMapper(
            graph, options: SyncOptions(), MappingTables(model, keeping: capabilities))
        let slots = try builder.bytes.withUnsafeBufferPointer { try mapper.attributes(builder.tape, of: entity, $0) }
        var values: [String: StoredValue] = [:]
        builder.bytes.withUnsafeBufferPointer { bytes in
            mapper.graph.arena.withUnsafeBufferPointer { arena in
                let pool = TextPool(payload: bytes, arena: arena)
                for slot in entity.slots {
                    let attribute = model.compiled[entity.table].attributes[slot]
                    values[attribute.name] = StoredValue(slots[slot], as: attribute.type, pool)
                }
            }
        }
        self.values = values
        diagnostics = mapper.reader.diagnostics.reported
    }
}

/// The attribute values of the record that is being read. Each slot also has the strength of the key that filled it.
///
/// An array would check for shared storage at each write. This type cannot be copied, so it needs no such check. It
/// checks each access against `width`.
struct ScratchRow: ~Copyable {
    private let slots: UnsafeMutablePointer<PackedValue>
    private let strengths: UnsafeMutablePointer<UInt8>
    private let width: Int

    /// - Parameter width: The largest number of attributes of any table.
    init(width: Int) {
        self.width = width
        slots = .allocate(capacity: width)
        strengths = .allocate(capacity: width)
        reset(width)
    }

    deinit {
        slots.deallocate()
        strengths.deallocate()
    }

    /// Makes the first `count` slots absent.
    @inline(__always)
    mutating func reset(_ count: Int) {
        precondition(count <= width)
        slots.initialize(repeating: .absent, count: count)
        strengths.initialize(repeating: .max, count: count)
    }

    @inline(__always)
    subscript(slot: Int) -> PackedValue {
        get {
            precondition(slot >= 0 && slot < width)
            return slots[slot]
        }
        set {
            precondition(slot >= 0 && slot < width)
            slots[slot] = newValue
        }
    }

    /// Makes a slot absent, so that any key may fill it.
    mutating func clear(_ slot: Int) {
        precondition(slot >= 0 && slot < width)
        slots[slot] = .absent
        strengths[slot] = .max
    }

    /// Returns whether a key may fill a slot, and if so records its strength. A strength above the recorded one is not
    /// admitted.
    @inline(__always)
    mutating func admits(_ strength: UInt8, in slot: Int) -> Bool {
        precondition(slot >= 0 && slot < width)
        if strength > strengths[slot] { return false }
        strengths[slot] = strength
        return true
    }

    func first(_ count: Int) -> UnsafeBufferPointer<PackedValue> {
        precondition(count <= width)
        return UnsafeBufferPointer(start: slots, count: count)
    }
}

// MARK: - SyncModel+PrimaryKeyValue

extension SyncModel {
    /// Returns the primary key that a JSON record states. Parts that are missing or null come from `current`. Returns
    /// `current` if the key is invalid.
    ///
    /// - Parameter capabilities: The keys that the store can keep. Other keys are invalid.
    /// - Throws: The errors of ``AttributeMapper``.
    package func key(
        of entity: CompiledEntity, in record: JSONValue, else current: RowKey,
        keeping capabilities: StoreCapabilities = .unlimited
    ) throws -> RowKey {
        let values = try AttributeMapper(record, of: entity, in: self, keeping: capabilities).values
        guard let slot = entity.keySlot else {
            return compiled.key(of: entity, in: record, else: current, keeping: capabilities)
        }
        let given = values[compiled[entity.table].attributes[slot].name] ?? .null
        return given.isNull ? current : compiled.rowKey(given.jsonForm, of: entity) ?? current
    }
}
