package import GRDB
package import SyncCore
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
    /// The keys of the rows of saved values.
    let keys: SavedKeys
    /// Whether the lists of the values replace the stored links.
    let replacesLists: Bool
    let encoded: EncodedRows

    /// Returns a row without the values and links that are as they were fetched or last saved.
    ///
    /// - Parameter contents: The contents to compare the value with; nil for those that the value knows.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`, `unknownRelationship`, `typeMismatch`.
    func row<Value: EntityRecord>(_ value: Value, since contents: RowContents? = nil) throws -> ExportRow {
        let entity = try model.entity(named: Value.entityName)
        let given = try EntityRowEncoder(encoding: value)
        let base = try keys.base(of: value, since: contents, entity)
        let changes = try ChangedRelatedRows(given, of: value.syncID, since: base, entity, keys, replacesLists)
        let related = changes.rows
        let saved = try RowContents(given, key: value.syncID)
        encoded.append(value.syncFetchedRow, replacesLists ? saved : saved.addingRelated(of: base))
        encoded.append(changes.changed)
        var values = [StoredValue](repeating: .null, count: model[entity.table].attributes.count)
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
        }
        let omittedSlots = base.map { base in
            Set(base.unchangedAttributes(of: given).compactMap { entity.slotByName[$0.name] })
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
        var id = value.syncID
        if let slot = entity.keySlot {
            let isKeyed = model.rowKey(id, of: entity) != nil
            if let saved = try isKeyed ? currentKey(id, entity.id) : keys.temporaryKey(of: entity) {
                values[slot] = saved
                id = saved.jsonForm
            }
        }
        let key = model.rowKey(id, of: entity)?.recordKey(model.keyType(of: entity.id))
        return ExportRow(
            entity: entity, identity: ExportedRowID(table: entity.table, key: key ?? .text("")), key: key ?? .text(""),
            values: values, omitting: omittedSlots.map { $0.subtracting(entity.keySlots) },
            group: Links(references, related), index: 0)
    }

    /// Returns a stored row with its key only, which links the row and changes nothing else.
    private func row(_ stored: SyncRow) throws -> ExportRow {
        let entity = stored.type
        let slots = Set(model[entity.table].attributes.indices).subtracting(entity.keySlots)
        var values = stored.values
        if let slot = entity.keySlot, let key = model.rowKey(stored.key.json, of: entity) {
            // A temporary key is not among the values of a row.
            values[slot] = try keys.storedValue(key.databaseValue, of: entity) ?? .null
        }
        return ExportRow(
            entity: entity, identity: ExportedRowID(table: entity.table, key: stored.key), key: stored.key,
            values: values, omitting: slots, group: Links([:], [:]), index: 0)
    }

    /// Returns the current key of a row whose temporary key an engine replaced; nil for any other key.
    private func currentKey(_ key: JSONValue, _ entity: Int?) throws -> StoredValue? {
        guard let entity, let key = model.rowKey(key, of: model.entities[entity]) else { return nil }
        return try keys.currentKey(key, of: model.entities[entity])
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

/// The keys of rows that are saved inside a transaction.
struct SavedKeys {
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
            contents.key == value.syncID, try isStored(value.syncID, of: entity)
        else { return nil }
        return contents
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

extension DataStack {
    /// Returns a diagnostic for each to-many relationship with loaded rows. Use this method if a sync does not allow
    /// changes of to-many relationships.
    package func ignoredRelationships<Value: EntityRecord>(of values: [Value]) throws -> [SyncDiagnostic] {
        let entity = try model.compiled.entity(named: Value.entityName)
        var counts: [String: Int] = [:]
        for value in values {
            let row = try EntityRowEncoder(encoding: value)
            for (name, rows) in row.related where entity.relationship(named: name)?.isToMany == true {
                counts[name, default: 0] += rows.count
            }
        }
        return counts.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { name, count in
            SyncDiagnostic(
                .ignoredRelationship, entity: entity.name, path: name,
                message: "the operations do not allow changes of '\(name)', so its loaded rows are ignored",
                suggestion: "allow .insertRelationships, .updateRelationships or .deleteRelationships", count: count)
        }
    }

    /// Returns values and their loaded related rows as a JSON payload, without what is as it was fetched or last saved.
    ///
    /// Related rows that the app changed without changing their links are records of their own. They are in the same
    /// payload, because a row that one list omits may be in another list.
    ///
    /// - Parameters:
    ///   - replacesLists: Whether the lists of the values replace the stored links.
    ///   - isWhole: Whether the payload has all contents of the values.
    /// - Throws: ``SyncError`` `unknownEntity`. `typeMismatch` for a value that cannot be encoded, or for an attribute
    ///   that a sync cannot read back from JSON.
    package func payload<Value: EntityRecord>(
        of values: [Value], in db: Database, replacesLists: Bool, isWhole: Bool = false
    ) throws -> ValuePayload {
        let source = TypedSource(
            model: model.compiled,
            keys: SavedKeys(stack: self, db: db, added: AddedRows(values, self), ignoresFetchedRows: isWhole),
            replacesLists: replacesLists, encoded: EncodedRows())
        var payload = ValuePayload(rows: source.encoded)
        payload.append(try records(Value.self, values.map { ChangedValue(value: $0, base: nil) }, source), Value.self)
        while let changed = source.encoded.takeChanged() {
            try append(changed, like: changed[0].value, to: &payload, source)
        }
        return payload
    }

    private func append<Value: EntityRecord>(
        _ changed: [ChangedValue], like first: Value, to payload: inout ValuePayload, _ source: TypedSource
    ) throws {
        payload.append(try records(Value.self, changed, source), Value.self)
    }

    private func records<Value: EntityRecord>(
        _ type: Value.Type, _ values: [ChangedValue], _ source: TypedSource
    ) throws -> [JSONValue] {
        var options = ExportOptions()
        options.exportsAll = true
        if let omission = try model.exportOmissions(of: Value.entityName, options: options).first {
            throw SyncError(.typeMismatch, omission.message, entity: Value.entityName)
        }
        let entity = try model.compiled.entity(named: Value.entityName)
        var exporter = RecordExporter(model: model, options: options, source: source)
        return try values.compactMap { changed in
            try (changed.value as? Value).map { value in
                try exporter.record(try source.row(value, since: changed.base), of: entity)
            }
        }
    }

    /// Records that rows were written, so that a later save of their values writes what changed since.
    ///
    /// - Parameter isCertain: Whether all contents are stored if the transaction of the stack commits. False if the
    ///   caller may roll back the writes, or if the sync may have skipped some contents.
    package func recordSave(of payload: ValuePayload, isCertain: Bool, in db: Database) throws {
        let rows = payload.rows.rows
        guard isCertain else { return try rows.forEach { try $0.row.addPossible($0.contents) } }
        let restore = rows.map { row, contents in row.setSaved(contents, in: identity) }
        // A state that was set twice gets its first contents back.
        watch.transactionEnd.afterTransaction(of: db, onRollback: { _ in restore.reversed().forEach { $0() } })
    }
}

/// Values of Swift types as JSON.
package struct ValuePayload {
    private var lists: [(type: any EntityRecord.Type, records: [JSONValue])] = []
    fileprivate let rows: EncodedRows

    fileprivate init(rows: EncodedRows) { self.rows = rows }

    fileprivate mutating func append(_ records: [JSONValue], _ type: any EntityRecord.Type) {
        if let index = lists.firstIndex(where: { $0.type.entityName == type.entityName }) {
            lists[index].records += records
        } else {
            lists.append((type, records))
        }
    }

    /// The records of the only entity, or an object with a list for each entity.
    package var json: JSONValue {
        if lists.count == 1 { return .array(lists[0].records) }
        return .object(lists.enumerated().map { JSONValue.Member("\($0)", .array($1.records)) })
    }

    /// The Swift types of the records.
    var types: [any SyncEntity.Type] { lists.map(\.type) }
    var recordCount: Int { lists.reduce(0) { $0 + $1.records.count } }

    /// Returns options for the lists of the payload.
    package func options(_ options: SyncOptions) -> SyncOptions {
        var options = options
        if lists.count > 1 {
            options.entities = lists.enumerated().map { PayloadList(path: "\($0)", entity: $1.type.entityName) }
        }
        return options
    }
}

/// The rows that are encoded for a payload, with their contents.
final class EncodedRows {
    private(set) var rows: [(row: FetchedRow, contents: RowContents)] = []
    /// The rows that are still to be encoded as values of their own.
    private var changed: [ChangedValue] = []

    func append(_ row: FetchedRow, _ contents: RowContents) { rows.append((row, contents)) }

    func append(_ values: [ChangedValue]) { changed += values }

    /// Removes and returns changed values of one type; nil if there are none.
    func takeChanged() -> [ChangedValue]? {
        guard let first = changed.first else { return nil }
        let taken = changed.filter { type(of: $0.value) == type(of: first.value) }
        changed.removeAll { type(of: $0.value) == type(of: first.value) }
        return taken
    }
}

/// The rows that the app added to one-to-many relationships of the values of one save.
///
/// Such a row has one owner. So a list of the same relationship that omits the row must not keep it.
final class AddedRows {
    private let values: [any EntityRecord]
    private let stack: DataStack
    private lazy var keys: Result<[AssociationID: Set<JSONValue>], any Error> = Result { try findKeys() }

    init(_ values: [any EntityRecord], _ stack: DataStack) { (self.values, self.stack) = (values, stack) }

    func contains(_ key: JSONValue, to relationship: CompiledRelationship) throws -> Bool {
        try keys.get()[relationship.link]?.contains(key) ?? false
    }

    private func findKeys() throws -> [AssociationID: Set<JSONValue>] {
        var found: [AssociationID: Set<JSONValue>] = [:]
        for value in values {
            try add(value, since: value.syncFetchedRow.contents(in: stack.identity), to: &found)
        }
        return found
    }

    private func add(
        _ value: any EntityRecord, since base: RowContents?, to found: inout [AssociationID: Set<JSONValue>]
    ) throws {
        let model = stack.model.compiled
        let entity = try model.entity(named: type(of: value).entityName)
        for (name, rows) in try EntityRowEncoder(encoding: value).related {
            guard let relationship = entity.relationship(named: name) else { continue }
            let link = model[relationship.link]
            let isOneToMany = relationship.isToMany && !(link.first.isToMany && link.second.isToMany)
            let known = Dictionary(base?.related[name]?.rows.map { ($0.key, $0) } ?? []) { first, _ in first }
            for row in rows {
                if isOneToMany, known[row.syncID] == nil { found[relationship.link, default: []].insert(row.syncID) }
                try add(row, since: known[row.syncID] ?? row.syncFetchedRow.contents(in: stack.identity), to: &found)
            }
        }
    }
}
