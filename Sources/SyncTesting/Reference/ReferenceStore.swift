public import SyncCore

/// A store in dictionaries and obvious code: a second opinion on what a sync does.
///
/// Written from `Docs/MappingContract.md` alone, it shares with the real store only the model, the names and the
/// conversion of single values. It is slow, keeps everything in memory, and is a value: a copy is a snapshot.
public struct ReferenceStore: Sendable {
    /// The entities whose rows it keeps.
    public let model: SyncModel
    /// The rows by a number that only means something here.
    var rows: [ReferenceRow.ID: ReferenceRow] = [:]
    /// What each row is linked with, by link end, in order.
    var targets: [ReferenceSide: [ReferenceRow.ID]] = [:]
    /// What the last list of an ordered relationship named, in its order. Other rows come after.
    var listed: [ReferenceSide: [ReferenceListEntry]] = [:]
    /// References to rows that are not there yet, in payload order.
    var pending: [ReferencePending] = []
    /// Where relationships stand in JSON, worked out once for all copies of the store.
    let names = ReferenceNames()
    private var lastID = 0

    /// An empty store.
    public init(model: SyncModel) { self.model = model }

    /// - Parameter key: That of several parts, which the row never loses.
    mutating func addRow(of entity: CompiledEntity, key: StoredValue? = nil) -> ReferenceRow.ID {
        lastID += 1
        let partedKey = entity.compositeKey == nil ? nil : key
        rows[lastID] = ReferenceRow(entity: entity, values: newValues(of: entity), partedKey: partedKey)
        return lastID
    }

    private func newValues(of entity: CompiledEntity) -> [String: StoredValue] {
        entity.slots.reduce(into: [:]) { values, slot in
            let attribute = model.compiled[entity.table].attributes[slot]
            values[attribute.name] = entity.keySlots.contains(slot) ? .null : attribute.defaultValue ?? .null
        }
    }

    /// Makes a row one of a sub-entity of what it is.
    mutating func refine(_ row: ReferenceRow.ID, as entity: CompiledEntity) {
        let values = newValues(of: entity)
        rows[row]?.values.merge(values) { known, _ in known }
        rows[row]?.entity = entity
    }

    /// The key of a row; nil for a keyless row and for one whose key is local.
    func key(of row: ReferenceRow) -> StoredValue? {
        row.partedKey ?? (row.entity.keySlot == nil ? nil : key(of: row.entity, row.values) { _ in nil })
    }

    /// The key that values are, and the keys of the rows that relationships lead to; nil if a part is missing.
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

    /// The key that JSON is; nil if it is none.
    func key(_ id: JSONValue, of entity: CompiledEntity) -> StoredValue? {
        guard let slot = entity.keySlot else {
            return model.compiled.rowKey(id, of: entity).map {
                .json($0.recordKey(model.compiled.keyType(of: entity.id)).json)
            }
        }
        let value = Coercion.storedValue(id, as: model.compiled[entity.table].attributes[slot].type)
        return value.flatMap { $0.isNull ? nil : $0 }
    }

    /// The names of the attributes that an entity's keys are made of.
    func keyNames(of entity: CompiledEntity) -> [String] {
        entity.keySlots.map { model.compiled[entity.table].attributes[$0].name }
    }

    /// The row of an entity, or of one that has the key in common with it, with this key.
    func row(_ entity: CompiledEntity, key: StoredValue) -> ReferenceRow.ID? {
        rows.first { $0.value.entity.keyOwner == entity.keyOwner && self.key(of: $0.value) == key }?.key
    }

    func isKind(_ row: ReferenceRow.ID, of entity: Int) -> Bool {
        rows[row].map { model.compiled.entity($0.entity.id, isKindOf: entity) } ?? false
    }

    /// A key no row is known by elsewhere.
    func isLocal(_ id: ReferenceRow.ID) -> Bool {
        rows[id].map { $0.entity.isKeyed && key(of: $0) == nil } ?? false
    }

    /// The rows of an entity and its sub-entities, oldest first.
    func rows(of entity: CompiledEntity) -> [ReferenceRow.ID] {
        rows.keys.filter { isKind($0, of: entity.id) }.sorted()
    }
}

/// A row: its entity and a value for every attribute.
struct ReferenceRow: Sendable {
    typealias ID = Int

    var entity: CompiledEntity
    var values: [String: StoredValue]
    /// A key of several parts, some of which may be keys of other rows.
    var partedKey: StoredValue?
}

/// One row's side of a link.
struct ReferenceSide: Hashable, Sendable {
    var row: ReferenceRow.ID
    var link: AssociationID
    var end: CompiledAssociation.End
}

/// A reference to a row that is not there yet.
struct ReferencePending: Sendable {
    var side: ReferenceSide
    var relationship: CompiledRelationship
    var target: ReferenceTarget
}

/// What a reference names: the key of a row, and the entity it says the row is of.
struct ReferenceTarget: Hashable, Sendable {
    var key: StoredValue
    var kind: Int
}

/// A place in a list.
enum ReferenceListEntry: Hashable, Sendable {
    case row(ReferenceRow.ID)
    /// Of a row that is not there yet.
    case awaited(ReferenceTarget)
}

/// Under which JSON keys the relationships of a model stand, for those that somebody asked about.
struct ReferenceNames: Sendable {
    typealias Keys = (objects: [String], ids: [String])

    private struct LinkEnd: Hashable {
        let link: AssociationID
        let end: CompiledAssociation.End
        /// Each may spell its keys in its own way.
        let entity: Int
    }

    private let known = Locked<[LinkEnd: Keys]>([:])

    /// Keys of objects and of ids, the strongest first.
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

// MARK: - Kinds

// Records that say by a member of which entity they are.
extension ReferenceStore {
    /// The entity of a record that is asked for as one of an entity; nil if it is skipped.
    func entity(of record: JSONValue, as asked: CompiledEntity) -> CompiledEntity? {
        guard let (discriminator, owner) = model.compiled.discriminator(of: asked.id) else { return asked }
        let itself = asked.isAbstract ? nil : asked
        guard let kind = Self.value(at: discriminator.key, of: record) else { return itself }
        guard let named = entity(ofKind: kind, discriminator) else {
            return discriminator.otherwise == .parent ? itself : nil
        }
        // That it is what it was asked for as, or something above that, says nothing new.
        if model.compiled.entity(asked.id, isKindOf: named.id) { return itself }
        guard model.compiled.entity(named.id, isKindOf: asked.id) else { return nil }
        // The kind may have kinds of its own.
        let isTold = model.compiled.discriminator(of: named.id)?.owner != owner
        return isTold ? entity(of: record, as: named) : named.isAbstract ? nil : named
    }

    /// The entity that the row of a to-one relationship is of, by the kind that stands beside it; nil if that is unknown.
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
        return discriminator.otherwise == .parent ? destination : nil
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

    /// `commentable_type`, `commentableType`; with a remote key its own ending.
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

    /// What stands at the end of a path of keys; nil if that is nothing or null.
    private static func value(at path: String, of record: JSONValue) -> JSONValue? {
        var value = record
        for key in path.split(separator: ".", omittingEmptySubsequences: false) {
            guard case .object(let members) = value, let member = members.last(where: { $0.key == String(key) })
            else { return nil }
            value = member.value
        }
        // A ternary would take this `nil` for a JSON null.
        guard value != .null else { return nil }
        return value
    }
}

// MARK: - Predicates

extension ReferenceStore {
    /// Whether a condition on the rows of an entity holds for one of them.
    func matches(_ id: ReferenceRow.ID, _ predicate: RowPredicate, of entity: CompiledEntity) throws -> Bool {
        try predicate.resolved(on: entity, in: model.compiled).holds(for: ConditionRow(store: self, id: id))
    }

    /// A row as conditions see it.
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
