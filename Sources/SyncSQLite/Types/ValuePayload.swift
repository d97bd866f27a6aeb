package import GRDB
package import SyncCore
import SyncStore

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
    ///   - areNew: Whether the values are new rows, also if a save generated keys for them before.
    /// - Throws: ``SyncError`` `unknownEntity`. `typeMismatch` for a value that cannot be encoded, or for an attribute
    ///   that a sync cannot read back from JSON.
    package func payload<Value: EntityRecord>(
        of values: [Value], in db: Database, replacesLists: Bool, isWhole: Bool = false, areNew: Bool = false
    ) throws -> ValuePayload {
        let source = TypedSource(
            model: model.compiled,
            context: SaveContext(stack: self, db: db, added: AddedRows(values, self), ignoresFetchedRows: isWhole),
            replacesLists: replacesLists, encoded: EncodedRows())
        var payload = ValuePayload(rows: source.encoded)
        let all = values.map { ChangedValue(value: $0, base: nil, isNew: areNew) }
        payload.append(try records(Value.self, all, source), Value.self)
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
                try exporter.record(try source.row(value, since: changed.base, isNew: changed.isNew), of: entity)
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
            let isOneToMany = relationship.isToMany && !model[relationship.link].isManyToMany
            let known = Dictionary(base?.related[name]?.rows.map { ($0.key, $0) } ?? []) { first, _ in first }
            for row in rows {
                let key = row.key(in: stack.identity)
                if isOneToMany, known[key] == nil { found[relationship.link, default: []].insert(key) }
                try add(row, since: known[key] ?? row.syncFetchedRow.contents(in: stack.identity), to: &found)
            }
        }
    }
}
