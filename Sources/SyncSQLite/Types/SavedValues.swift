import GRDB
import SyncCore
import SyncStore

/// Supplies values of Swift types to the exporter, which converts them to JSON that a sync can read.
struct TypedSource: ExportSource {
    /// The references of a value, and the related rows that the sync of the value writes or links.
    private final class Links {
        let references: [String: JSONValue]
        let related: [String: [RelatedRow]]

        init(_ references: [String: JSONValue], _ related: [String: [RelatedRow]]) {
            self.references = references
            self.related = related
        }
    }

    let model: CompiledModel
    /// The transaction that saves the values.
    let context: SaveContext
    /// Whether the lists of the values replace the stored links.
    let replacesLists: Bool
    let encoded: EncodedRows

    /// Returns a row without the values and links that are as they were fetched or last saved.
    ///
    /// - Parameters:
    ///   - contents: The contents to compare the value with; nil for those that the value knows.
    ///   - isNew: Whether the value is a new row, also if a save generated a key for it before.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`, `unknownRelationship`, `typeMismatch`.
    func row<Value: EntityRecord>(
        _ value: Value, since contents: RowContents? = nil, isNew: Bool = false
    ) throws -> ExportRow {
        let entity = try model.entity(named: Value.entityName)
        let given = try EntityRowEncoder(encoding: value)
        let base = isNew ? nil : try context.base(of: value, since: contents, entity)
        var id = try isNew ? value.syncID : base?.key ?? context.storedKey(of: value, entity)
        let changes = try ChangedRelatedRows(given, of: id, since: base, entity, context, replacesLists)
        let related = changes.rows
        encoded.append(changes.changed)
        var values = [StoredValue](repeating: .null, count: model[entity.table].attributes.count)
        // The model of the store may have attributes that the type does not have.
        var omittedSlots = Set(values.indices)
        for attribute in given.attributes {
            let name = attribute.name
            guard let slot = entity.slotByName[name] else {
                throw SyncError(
                    .unknownAttribute, "the type \(Value.self) has '\(name)', which is no attribute of \(entity.name)",
                    entity: entity.name, path: name)
            }
            guard attribute.value.hasJSONForm else {
                throw SyncError(
                    .typeMismatch, "\(attribute.value) cannot be written as JSON", entity: entity.name, path: name)
            }
            values[slot] = attribute.value
            omittedSlots.remove(slot)
        }
        if let base {
            omittedSlots.formUnion(base.unchangedAttributes(of: given).compactMap { entity.slotByName[$0.name] })
            try addUnknownMembers(to: &values, except: omittedSlots, since: base, entity)
        }
        let relationships = given.references.map(\.relationship) + given.related.keys
        if let name = relationships.first(where: { entity.relationship(named: $0) == nil }) {
            throw SyncError.unknownRelationship(name, of: entity)
        }
        var references: [String: JSONValue] = [:]
        for reference in given.references where related[reference.relationship]?.isEmpty ?? true {
            let isKeyPart = entity.relationship(named: reference.relationship).map(model.isKeyPart) ?? false
            if !isKeyPart, base?.has(reference) == true { continue }
            // A row number has no meaning in JSON, so this reference is omitted.
            if reference.isRowNumber, !reference.key.isNull { continue }
            // GRDB does not read a key that is in the table of the related row, so nil does not mean that there is none.
            let isUnknown =
                reference.key.isNull && related[reference.relationship] == nil
                && base?.key(of: reference)?.isNull != false
            if isUnknown, entity.relationship(named: reference.relationship)?.end == .second { continue }
            let key = reference.key.jsonForm
            let current = try currentKey(key, entity.relationship(named: reference.relationship)?.destination)
            references[reference.relationship] = current?.jsonForm ?? key
        }
        var savedKey = id
        if let slot = entity.keySlot {
            if let key = model.rowKey(id, of: entity) {
                if value.syncID == .null, let known = try context.storedValue(key.databaseValue, of: entity) {
                    values[slot] = known
                }
                if let current = try currentKey(id, entity.id) {
                    values[slot] = current
                    id = current.jsonForm
                }
            } else if let generated = try context.temporaryKey(of: entity) {
                values[slot] = generated
                id = generated.jsonForm
                savedKey = id
            }
        }
        let saved = try RowContents(given, key: savedKey)
        encoded.append(value.syncFetchedRow, replacesLists ? saved : saved.addingRelated(of: base))
        let key = model.rowKey(id, of: entity)?.recordKey(model.keyType(of: entity.id))
        return ExportRow(
            entity: entity, identity: ExportedRowID(table: entity.table, key: key ?? .text("")), key: key ?? .text(""),
            values: values, omitting: omittedSlots.subtracting(entity.keySlots), group: Links(references, related),
            index: 0)
    }

    /// Adds the members of stored JSON objects that a `Codable` type does not have to the changed values of the type.
    private func addUnknownMembers(
        to values: inout [StoredValue], except omittedSlots: Set<Int>, since base: RowContents, _ entity: CompiledEntity
    ) throws {
        let objects = values.indices.filter { slot in
            if !omittedSlots.contains(slot), case .json(.object) = values[slot] { true } else { false }
        }
        guard !objects.isEmpty, let stored = try context.row(base.key, of: entity) else { return }
        for slot in objects {
            guard case .json(let value) = values[slot], case .json(let now) = stored.values[slot],
                case .json(let before)? = base.value(of: model[entity.table].attributes[slot].name)
            else { continue }
            values[slot] = .json(value.addingMembers(of: now, unknownIn: before))
        }
    }

    /// Returns a stored row with its key only, which links the row and changes nothing else.
    private func row(_ stored: SyncRow) throws -> ExportRow {
        let entity = stored.type
        let slots = Set(model[entity.table].attributes.indices).subtracting(entity.keySlots)
        var values = stored.values
        if let slot = entity.keySlot, let key = model.rowKey(stored.key.json, of: entity) {
            // A temporary key is not among the values of a row.
            values[slot] = try context.storedValue(key.databaseValue, of: entity) ?? .null
        }
        return ExportRow(
            entity: entity, identity: ExportedRowID(table: entity.table, key: stored.key), key: stored.key,
            values: values, omitting: slots, group: Links([:], [:]), index: 0)
    }

    /// Returns the current key of a row whose temporary key an engine replaced; nil for any other key.
    private func currentKey(_ key: JSONValue, _ entity: Int?) throws -> StoredValue? {
        guard let entity, let key = model.rowKey(key, of: model.entities[entity]) else { return nil }
        return try context.currentKey(key, of: model.entities[entity])
    }

    private func links(of row: ExportRow) -> Links? { row.group as? Links }

    func targets(of row: ExportRow, along relationship: CompiledRelationship) throws -> [ExportRow] {
        try (links(of: row)?.related[relationship.name] ?? []).map { related in
            switch related {
            case .value(let value): try self.row(value)
            case .stored(let row): try self.row(row)
            }
        }
    }

    var hasPendingReferences: Bool { true }

    /// To-many relationships that are not loaded are treated like pending references: the export omits them.
    func isPending(_ row: ExportRow, along relationship: String) -> Bool {
        let links = links(of: row)
        return links?.related[relationship] == nil && links?.references[relationship] == nil
            && row.entity.relationship(named: relationship)?.isToMany == true
    }

    func reference(_ row: ExportRow, along relationship: CompiledRelationship) -> JSONValue? {
        links(of: row)?.references[relationship.name]
    }
}

/// The transaction that saves values: reads the stored rows, and makes keys for new ones.
struct SaveContext {
    let stack: DataStack
    let db: Database
    let added: AddedRows
    /// Whether all contents of a value are written, also if the value was fetched or saved before.
    let ignoresFetchedRows: Bool

    /// Returns a key for a new row whose value has none.
    func temporaryKey(of entity: CompiledEntity) throws -> StoredValue? {
        try storedValue(try stack.makeTemporaryKey(for: entity, in: db), of: entity)
    }

    /// Returns the current key of a row whose temporary key an engine replaced; nil for any other key.
    func currentKey(_ key: RowKey, of entity: CompiledEntity) throws -> StoredValue? {
        try stack.layout.laterKey(of: key, entity, in: db).flatMap { try storedValue($0.databaseValue, of: entity) }
    }

    /// Returns the current key of a row in the form of stored rows, or the key itself if no engine replaced it.
    func currentKey(_ key: JSONValue, of entity: CompiledEntity) throws -> JSONValue {
        let model = stack.model.compiled
        guard let known = model.rowKey(key, of: entity) else { return key }
        let current = try stack.layout.laterKey(of: known, entity, in: db) ?? known
        return current.recordKey(model.keyType(of: entity.id)).json
    }

    /// Returns the contents of a row, as its value was fetched or last saved. Returns nil if all values must be written,
    /// because the value was not fetched from this store, has another key, or is no longer stored.
    ///
    /// - Parameter contents: The contents to use; nil for those that the value knows.
    func base<Value: EntityRecord>(
        of value: Value, since contents: RowContents?, _ entity: CompiledEntity
    ) throws -> RowContents? {
        guard !ignoresFetchedRows, let contents = try contents ?? value.syncFetchedRow.contents(in: stack.identity),
            contents.key == key(of: value), try isStored(contents.key, of: entity)
        else { return nil }
        return contents
    }

    /// Returns the primary key of a value as JSON: its own, or the one that an earlier save generated for it.
    func key(of value: any EntityRecord) -> JSONValue { value.key(in: stack.identity) }

    /// Returns the primary key of a value as JSON. If the value has none, returns the key that an earlier save generated
    /// for it, or null if no row has that key any more.
    func storedKey(of value: any EntityRecord, _ entity: CompiledEntity) throws -> JSONValue {
        let key = key(of: value)
        return try value.syncID != .null || isStored(key, of: entity) ? key : .null
    }

    func isStored(_ key: JSONValue, of entity: CompiledEntity) throws -> Bool {
        guard let key = stack.model.compiled.rowKey(key, of: entity) else { return false }
        return try stack.isStored(key, of: entity, in: db)
    }

    /// Returns the row with a key; nil if no row has it.
    func row(_ key: JSONValue, of entity: CompiledEntity) throws -> SyncRow? {
        try stack.model.compiled.rowKey(key, of: entity).flatMap { try stack.fetch(entity, key: $0, in: db) }
    }

    func storedValue(_ key: DatabaseValue, of entity: CompiledEntity) throws -> StoredValue? {
        entity.keySlot.map {
            ColumnValue.storedValue(key, as: stack.model.compiled[entity.table].attributes[$0].type)
        }
    }
}

extension JSONValue {
    /// Returns an object with the members of a stored object that a type does not have. `before` is the stored object as
    /// the type encoded it. If it has a member that the stored object lacks, returns the object unchanged: the type
    /// encodes the object in another form, or others changed it.
    fileprivate func addingMembers(of stored: JSONValue, unknownIn before: JSONValue) -> JSONValue {
        guard case .object(let own) = self, case .object(let stored) = stored, case .object(let before) = before else {
            return self
        }
        let known = Dictionary(before.map { ($0.key, $0.value) }) { first, _ in first }
        let there = Dictionary(stored.map { ($0.key, $0.value) }) { first, _ in first }
        guard known.keys.allSatisfy({ there[$0] != nil }) else { return self }
        let names = Set(own.map(\.key))
        return .object(
            own.map { member in
                guard let now = there[member.key], let former = known[member.key] else { return member }
                return Member(member.key, member.value.addingMembers(of: now, unknownIn: former))
            } + stored.filter { !names.contains($0.key) && known[$0.key] == nil })
    }
}
