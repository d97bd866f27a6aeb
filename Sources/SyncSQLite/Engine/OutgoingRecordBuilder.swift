import Foundation
import GRDB
import SyncCore
import SyncStore

/// Builds the records that are sent for stored rows, in the format of an export, with the remote IDs of referenced
/// rows.
final class OutgoingRecordBuilder {
    let engine: SQLiteEngineStore
    let db: Database
    private let reader: ExportReader
    private var exporter: RecordExporter
    /// The records of rows that ``load(_:_:)`` read.
    private var records: [BinaryComparedValue: JSONValue] = [:]

    init(_ engine: SQLiteEngineStore, _ db: Database) throws {
        (self.engine, self.db) = (engine, db)
        reader = try ExportReader(SQLiteReader(db, engine.stack))
        exporter = RecordExporter(model: engine.model, options: ExportOptions(relationships: .none), source: reader)
    }

    /// Reads rows together, for later calls of ``record(of:_:)``.
    func load(_ keys: [DatabaseValue], _ table: TrackedTable) throws {
        records = [:]
        // Rows of a hierarchy have different columns.
        guard keys.count > 1, !table.table.hasEntityColumn else { return }
        try forEachRow(of: table.entity, withKeys: keys) { key, record in records[key.exact] = record }
    }

    func discard() { records = [:] }

    func record(of key: DatabaseValue, _ table: TrackedTable) throws -> JSONValue {
        if let record = records[key.exact] { return record }
        var record = JSONValue.object([])
        try forEachRow(of: table.kind(of: key, engine.model.compiled, in: db), withKeys: [key]) { record = $1 }
        return record
    }

    private func forEachRow(
        of entity: CompiledEntity, withKeys keys: [DatabaseValue], _ body: (DatabaseValue, JSONValue) throws -> Void
    ) throws {
        let select = RecordSQL(entity, engine.stack.layout)
        for list in KeyList.lists(of: keys) {
            let condition = "\(select.rowKey) IN (\(list.placeholders))"
            let statement = try db.cachedStatement(
                sql: "SELECT \(select.columns) FROM \(select.from) WHERE \(condition)")
            try reader.forEachRow(SQLiteRowCursor(select, statement, list.arguments)) { row in
                try body(reader.rowKey(of: row)?.databaseValue ?? .null, exporter.record(row, of: entity))
            }
        }
    }

    /// Returns the remote ID of a row, as the service spells it; the primary key if the row has no remote ID.
    func remoteID(of key: DatabaseValue, _ table: TrackedTable) throws -> JSONValue {
        try remoteID(of: key, table, EngineLedger(db).knownRow(key, table))
    }

    func remoteID(of key: DatabaseValue, _ table: TrackedTable, _ known: KnownRow?) throws -> JSONValue {
        try known?.spelledID() ?? table.json(key, in: db)
    }

    /// Returns the ID of a referenced row: its remote ID if the row is synced, otherwise its primary key.
    func reference(_ key: DatabaseValue, destination: TableID?) throws -> JSONValue {
        if key.isNull { return .null }
        if let table = try engine.table(destination, holding: key, in: db) { return try remoteID(of: key, table) }
        guard let destination else { return .null }
        let root = engine.model.compiled.entities[engine.model.compiled[destination].root]
        return try TrackedKey(root, engine.stack.layout)?.recordKey(key, in: db)?.json ?? .null
    }

    /// Returns whether a field references a row with a temporary key that no engine sends. The service must not get the
    /// temporary key. The row gets another key when an engine syncs its entity.
    func hasTemporaryReference(_ field: OutgoingField) throws -> Bool {
        guard let destination = field.column?.destination ?? field.joinTable?.destination else { return false }
        let tables = engine.tables + engine.otherTables
        return try (field.joinTable == nil ? [field.value] : field.others).contains { key in
            guard !key.isNull else { return false }
            guard let table = try engine.table(destination, holding: key, among: tables, in: db) else {
                return try reference(key, destination: destination).hasTemporaryKey
            }
            return try TemporaryKey.isLocal(key) && !table.key.isSurrogate
                && EngineLedger(db).knownRow(key, table) == nil
        }
    }
}

extension JSONValue {
    /// Whether an ID or one of its parts is a temporary key.
    fileprivate var hasTemporaryKey: Bool {
        switch self {
        case .number(let text): Int64(text).map { $0 < TemporaryKey.integerBound } ?? false
        case .string(let text): TemporaryKey.isLocal(text)
        case .array(let parts): parts.contains { $0.hasTemporaryKey }
        default: false
        }
    }
}

// The bodies of requests.
extension OutgoingRecordBuilder {
    /// An error for a row that cannot be sent as it is.
    struct Unsendable: LocalizedError {
        let reason: String
        var errorDescription: String? { reason }
    }

    /// Returns the body of a request: a record with the given fields. `newID` is the ID that the client assigns to a
    /// new row; nil if the service assigns it. Ignored for other rows. Also returns the members of the natural key.
    /// They are nil if the entity has none, or if all values are null, because any record without these values would
    /// match. Throws ``Unsendable`` if the row or a value cannot be sent.
    func body(
        of key: DatabaseValue, _ table: TrackedTable, _ fields: [OutgoingField], newID: JSONValue?, isNew: Bool
    ) throws -> (body: JSONValue, naturalKey: JSONValue?) {
        let (shape, record): (OutgoingSchema, JSONValue)
        do {
            shape = try table.shape(of: key, engine.model.compiled, in: db)
            record = try self.record(of: key, table)
        } catch let error as SyncError {
            throw Unsendable(reason: error.message)
        }
        let unread = UnreadableValues(engine, table, db)
        var body = JSONValue.object([])
        if isNew, let newID { body = shape.naming(body, newID) }
        if fields.contains(where: { $0.column?.field == .kind }) {
            for kind in shape.kinds { body = body.setting(.string(kind.value), at: kind.path) }
        }
        for member in shape.members {
            guard let field = fields.first(where: { $0.matches(member.field) }) else { continue }
            let value: JSONValue
            switch member.field {
            case .attribute(let slot):
                let type = engine.model.compiled[table.entity.table].attributes[slot].type
                let there = isNew && !field.value.isNull ? nil : try unread.value(field.name, of: key)
                value = try there ?? sendable(record.value(at: member.path), field, type)
            case .kind: continue
            case .toOne: value = try reference(field.value, destination: field.column?.destination)
            case .joinRows:
                value = .array(try field.others.map { try reference($0, destination: field.joinTable?.destination) })
            }
            body = body.setting(value, at: member.path)
        }
        return (body, naturalKey(table, shape, record))
    }

    private func sendable(_ value: JSONValue?, _ field: OutgoingField, _ type: AttributeType) throws -> JSONValue {
        guard let value, Double.fromDatabaseValue(field.value)?.isFinite != false else {
            throw Unsendable(reason: "the value of '\(field.name)' cannot be written as JSON")
        }
        guard field.value.isReadable(as: type) else {
            throw Unsendable(reason: "the value of '\(field.name)' is not of type \(type.rawValue)")
        }
        return value
    }

    private func naturalKey(_ table: TrackedTable, _ shape: OutgoingSchema, _ record: JSONValue) -> JSONValue? {
        let slots = Set(table.registration.naturalKey.compactMap { table.entity.slotByName[$0] })
        guard !slots.isEmpty else { return nil }
        var natural = JSONValue.object([])
        var isEmpty = true
        for member in shape.members {
            guard case .attribute(let slot) = member.field, slots.contains(slot) else { continue }
            let value = record.value(at: member.path) ?? .null
            natural = natural.setting(value, at: member.path)
            if value != .null { isEmpty = false }
        }
        return isEmpty ? nil : natural
    }
}

extension DatabaseValue {
    /// Returns whether the value can be read as this type. SQLite stores values of any type, and an unreadable value
    /// would be sent as null.
    func isReadable(as type: AttributeType) -> Bool {
        switch (type, storage) {
        case (_, .null), (.transformable, _): true
        case (.decimal, .string(let text)): Double(text) != nil
        default: ColumnValue.storedValue(self, as: type) != .null
        }
    }
}
