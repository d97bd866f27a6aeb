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

    init(_ engine: SQLiteEngineStore, _ db: Database) throws {
        self.engine = engine
        self.db = db
        reader = try ExportReader(db, engine.stack.layout)
        exporter = RecordExporter(
            model: engine.model, options: ExportOptions(relationships: .none), source: reader)
    }

    func record(of key: DatabaseValue, _ table: TrackedTable) throws -> JSONValue {
        let kind = try table.kind(of: key, engine.model.compiled, in: db)
        let select = RecordSQL(kind, engine.stack.layout)
        var record = JSONValue.object([])
        try reader.forEachRow(select, "FROM \(select.from) WHERE \(select.rowKey) = ?", [key]) { row in
            record = try exporter.record(row, of: kind)
        }
        return record
    }

    /// Returns the remote ID of a row, as the service spells it; the primary key if the row has no remote ID.
    func remoteID(of key: DatabaseValue, _ table: TrackedTable) throws -> JSONValue {
        try EngineLedger(db).spelledID(of: key, table) ?? table.json(key, in: db)
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
