import GRDB
import SyncCore
import SyncStore

/// Builds the records that are sent for stored rows, in the format of an export, with the remote IDs of referenced
/// rows.
final class OutgoingRecordBuilder {
    let engine: SQLiteEngineStore
    let db: Database
    private let reader: ExportReader
    private var exporter: RecordExporter<ExportReader>
    /// The records of rows that ``load(_:_:)`` read.
    private var records: [BinaryComparedValue: JSONValue] = [:]

    init(_ engine: SQLiteEngineStore, _ db: Database) throws {
        self.engine = engine
        self.db = db
        reader = try ExportReader(db, engine.stack.layout)
        exporter = RecordExporter(
            model: engine.model, options: ExportOptions(relationships: .none), source: reader)
    }

    /// Reads rows together, for later calls of ``record(of:_:)``.
    func load(_ keys: [DatabaseValue], _ table: TrackedTable) throws {
        records = [:]
        // Rows of a hierarchy have different columns.
        guard keys.count > 1, !table.table.hasEntityColumn else { return }
        try forEachRow(of: table.entity, withKeys: keys) { key, record in records[key.exact] = record }
    }

    /// Discards the rows that were read together.
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
            try reader.forEachRow(
                select, "FROM \(select.from) WHERE \(select.rowKey) IN (\(list.placeholders))", list.arguments
            ) { row in try body(row.record.rowKey, exporter.record(row, of: entity)) }
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
}
