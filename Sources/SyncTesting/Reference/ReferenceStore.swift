package import SyncCore

/// A reference implementation of syncs, in simple code and with all rows in dictionaries. Tests compare the real store
/// with it.
///
/// The type implements the mapping contract (`Docs/MappingContract.md`) independently. The type shares only the model,
/// the naming rules, predicates, and the conversion of single values and keys with the real store. A reference store is
/// slow. Later syncs do not change a copy, because the store is a value type.
package struct ReferenceStore: Sendable {
    /// The model of the store.
    package let model: SyncModel
    /// The rows, by an internal number.
    var rows: [ReferenceRow.ID: ReferenceRow] = [:]
    /// The rows to which a row at an end of an association has links, in order.
    var targets: [ReferenceSide: [ReferenceRow.ID]] = [:]
    /// The entries of the last list of an ordered relationship. Other linked rows come after these.
    var listed: [ReferenceSide: [ReferenceListEntry]] = [:]
    /// Pending references, in the order of the payload.
    var pending: [ReferencePending] = []
    /// The JSON keys of relationships, computed once and shared by all copies of the store.
    let names = ReferenceNames()
    private var lastID = 0

    /// Creates an empty store.
    package init(model: SyncModel) { self.model = model }

    /// Adds a row and returns its number.
    ///
    /// - Parameter key: The composite key of the row, which never changes. Ignored for an entity with a single key
    ///   attribute.
    mutating func addRow(of entity: CompiledEntity, key: StoredValue? = nil) -> ReferenceRow.ID {
        lastID += 1
        let compositeKey = entity.compositeKey == nil ? nil : key
        rows[lastID] = ReferenceRow(entity: entity, values: newValues(of: entity), compositeKey: compositeKey)
        return lastID
    }

    private func newValues(of entity: CompiledEntity) -> [String: StoredValue] {
        entity.slots.reduce(into: [:]) { values, slot in
            let attribute = model.compiled[entity.table].attributes[slot]
            values[attribute.name] = entity.keySlots.contains(slot) ? .null : attribute.defaultValue ?? .null
        }
    }

    /// Changes the entity of a row to a subentity.
    mutating func setEntity(_ row: ReferenceRow.ID, as entity: CompiledEntity) {
        let values = newValues(of: entity)
        rows[row]?.values.merge(values) { known, _ in known }
        rows[row]?.entity = entity
    }

    /// Returns the key of a row; nil for a keyless row, and for a row with a temporary key.
    func key(of row: ReferenceRow) -> StoredValue? {
        row.compositeKey ?? (row.entity.keySlot == nil ? nil : key(of: row.entity, row.values) { _ in nil })
    }

    /// Returns the key that values and the keys of referenced rows form; nil if a part is missing.
    ///
    /// - Parameter target: A function that returns the key of the referenced row of a relationship.
    func key(
        of entity: CompiledEntity, _ values: [String: StoredValue], target: (CompiledRelationship) -> StoredValue?
    ) -> StoredValue? {
        let attributes = model.compiled[entity.table].attributes
        func value(_ slot: Int) -> StoredValue? { values[attributes[slot].name].flatMap { $0.isNull ? nil : $0 } }
        if let slot = entity.keySlot { return value(slot) }
        guard let parts = entity.compositeKey?.parts else { return nil }
        let found = parts.compactMap { part in
            switch part {
            case .attribute(let slot): value(slot)?.jsonForm
            case .relationship(let index): target(entity.relationships[index])?.jsonForm
            }
        }
        return found.count == parts.count ? key(.array(found), of: entity) : nil
    }

    /// Returns a JSON value as a key; nil if it is not a valid key.
    func key(_ id: JSONValue, of entity: CompiledEntity) -> StoredValue? {
        guard let slot = entity.keySlot else {
            return model.compiled.rowKey(id, of: entity).map {
                .json($0.recordKey(model.compiled.keyType(of: entity.id)).json)
            }
        }
        let value = Coercion.storedValue(id, as: model.compiled[entity.table].attributes[slot].type)
        return value.flatMap { $0.isNull ? nil : $0 }
    }

    /// Returns the names of the key attributes of an entity.
    func keyNames(of entity: CompiledEntity) -> [String] {
        entity.keySlots.map { model.compiled[entity.table].attributes[$0].name }
    }

    /// Returns the row with a key, of an entity or of any entity in its inheritance hierarchy with the same keys; nil
    /// if there is none.
    func row(_ entity: CompiledEntity, key: StoredValue) -> ReferenceRow.ID? {
        rows.first { $0.value.entity.keyOwner == entity.keyOwner && self.key(of: $0.value) == key }?.key
    }

    func isKind(_ row: ReferenceRow.ID, of entity: Int) -> Bool {
        rows[row].map { model.compiled.entity($0.entity.id, isKindOf: entity) } ?? false
    }

    /// Returns whether a row has a temporary key.
    func isLocal(_ id: ReferenceRow.ID) -> Bool {
        rows[id].map { $0.entity.isKeyed && key(of: $0) == nil } ?? false
    }

    /// Returns the rows of an entity and its subentities, oldest first.
    func rows(of entity: CompiledEntity) -> [ReferenceRow.ID] {
        rows.keys.filter { isKind($0, of: entity.id) }.sorted()
    }
}

/// A row: its entity, and a value for each attribute.
struct ReferenceRow: Sendable {
    typealias ID = Int

    var entity: CompiledEntity
    var values: [String: StoredValue]
    /// The composite key, which may contain keys of other rows.
    var compositeKey: StoredValue?
}

/// A row at one end of an association.
struct ReferenceSide: Hashable, Sendable {
    var row: ReferenceRow.ID
    var link: AssociationID
    var end: CompiledAssociation.End
}

/// A reference to a row that is not stored yet.
struct ReferencePending: Sendable {
    var side: ReferenceSide
    var relationship: CompiledRelationship
    var target: ReferenceTarget
}

/// The target of a reference: the key of a row, and the index of the entity that the payload names for it.
struct ReferenceTarget: Hashable, Sendable {
    var key: StoredValue
    var kind: Int
}

/// An entry of a list: a row, or a reference to a row that is not stored yet.
enum ReferenceListEntry: Hashable, Sendable {
    case row(ReferenceRow.ID)
    /// A pending reference.
    case pending(ReferenceTarget)
}

/// A cache of the JSON keys of relationships.
struct ReferenceNames: Sendable {
    typealias Keys = (objects: [String], ids: [String])

    private struct LinkEnd: Hashable {
        let link: AssociationID
        let end: CompiledAssociation.End
        /// The index of the entity of the record. Each entity can have its own key case.
        let entity: Int
    }

    private let known = Locked<[LinkEnd: Keys]>([:])

    /// Returns the object keys and the ID keys of a relationship, in order of precedence.
    func keys(of relationship: CompiledRelationship, as entity: CompiledEntity, in model: CompiledModel) -> Keys {
        known.withLock { known in
            let end = LinkEnd(link: relationship.link, end: relationship.end, entity: entity.id)
            if let keys = known[end] { return keys }
            let rules = model.rules(of: entity)
            let keys = (
                objects: AttributeNaming.objectKeys(for: relationship.relationship, rules.keys),
                ids: AttributeNaming.idKeys(for: relationship.relationship, rules.keys)
                    .filter { !model.names(of: entity).ignoresByName($0) }
            )
            known[end] = keys
            return keys
        }
    }
}

// MARK: - Discriminators

// Finds the entity of records with a discriminator.
extension ReferenceStore {
    /// Returns the entity of a record where records of the entity `asked` are expected; nil if the sync skips the
    /// record.
    func entity(of record: JSONValue, as asked: CompiledEntity) -> CompiledEntity? {
        guard let (discriminator, owner) = model.compiled.discriminator(of: asked.id) else { return asked }
        let itself = asked.isAbstract ? nil : asked
        guard let kind = Self.value(at: discriminator.key, of: record) else { return itself }
        guard let named = entity(ofKind: kind, discriminator) else {
            return discriminator.fallback == .parent ? itself : nil
        }
        // A value that names the expected entity, or a parent of it, adds no information.
        if model.compiled.entity(asked.id, isKindOf: named.id) { return itself }
        guard model.compiled.entity(named.id, isKindOf: asked.id) else { return nil }
        // The named entity may have its own discriminator for its subentities.
        let isTold = model.compiled.discriminator(of: named.id)?.owner != owner
        return isTold ? entity(of: record, as: named) : named.isAbstract ? nil : named
    }

    /// Returns the entity of the row that a to-one relationship references; nil if the type is unknown. The type is a
    /// member next to the ID, such as `commentable_type`.
    func entity(beside relationship: CompiledRelationship, in record: JSONValue) -> CompiledEntity? {
        let destination = model.compiled.entities[relationship.destination]
        guard !relationship.isToMany, let (discriminator, _) = model.compiled.discriminator(of: destination.id),
            case .object(let members) = record
        else { return destination }
        let keys = Self.kindKeys(beside: relationship.relationship)
        guard let kind = members.last(where: { keys.contains($0.key) })?.value, kind != .null else {
            return destination
        }
        if let named = entity(ofKind: kind, discriminator),
            model.compiled.entity(named.id, isKindOf: destination.id)
        {
            return named
        }
        return discriminator.fallback == .parent ? destination : nil
    }

    private func entity(ofKind kind: JSONValue, _ discriminator: SyncModel.Discriminator) -> CompiledEntity? {
        let text: String
        switch kind {
        case .string(let value): text = value
        case .number(let value): text = "\(value)"
        default: return nil
        }
        let name = discriminator.kinds.first { $0.value == text }?.entity
        return name.flatMap { name in model.compiled.entities.first { $0.name == name } }
    }

    /// Returns the possible keys of the type member: `commentable_type`, `commentableType`. A remote key determines the
    /// spelling.
    private static func kindKeys(beside relationship: SyncModel.Relationship) -> [String] {
        guard let remote = relationship.remoteKey else {
            return ["\(Inflection.snakeCase(relationship.name))_type", "\(relationship.name)Type"]
        }
        let endings = ["_id": "_type", "Id": "Type", "ID": "Type", "-id": "-type"]
        for (ending, kind) in endings where remote.hasSuffix(ending) {
            return [remote.dropLast(ending.count) + kind]
        }
        return [remote + "_type", remote + "Type"]
    }

    /// Returns the value at a path of keys; nil if it is missing or null.
    private static func value(at path: String, of record: JSONValue) -> JSONValue? {
        var value = record
        for key in path.split(separator: ".", omittingEmptySubsequences: false) {
            guard case .object(let members) = value, let member = members.last(where: { $0.key == String(key) })
            else { return nil }
            value = member.value
        }
        // In a ternary expression, `nil` would become a JSON null.
        guard value != .null else { return nil }
        return value
    }
}

// MARK: - Predicates

extension ReferenceStore {
    /// Returns whether a row matches a predicate on an entity.
    func matches(_ id: ReferenceRow.ID, _ predicate: RowPredicate, of entity: CompiledEntity) throws -> Bool {
        try predicate.resolved(on: entity, in: model.compiled).holds(for: ConditionRow(store: self, id: id))
    }

    /// An adapter of a row for the evaluation of predicates.
    private struct ConditionRow: PredicateRow {
        let store: ReferenceStore
        let id: ReferenceRow.ID

        func predicateValue(of attribute: String) -> StoredValue { store.rows[id]?.values[attribute] ?? .null }

        func predicateTargets(of relationship: String) -> [ConditionRow] {
            guard let found = store.rows[id]?.entity.relationship(named: relationship) else { return [] }
            return store.targets(of: id, found).map { ConditionRow(store: store, id: $0) }
        }
    }
}
