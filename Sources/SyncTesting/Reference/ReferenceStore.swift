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
    var listed: [ReferenceSide: [ReferenceListed]] = [:]
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
    var link: LinkID
    var end: Link.End
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
enum ReferenceListed: Hashable, Sendable {
    case row(ReferenceRow.ID)
    /// Of a row that is not there yet.
    case awaited(ReferenceTarget)
}
