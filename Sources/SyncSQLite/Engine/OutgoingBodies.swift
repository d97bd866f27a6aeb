import GRDB
import SyncCore
import SyncStore

/// What rows are as records of the service: as an export writes them, with the ids of the rows that they point to.
final class OutgoingBodies {
    private let engine: SQLiteEngine
    private let db: Database
    private let reader: ExportReader
    private var exporter: RecordExporter<ExportReader>

    init(_ engine: SQLiteEngine, _ db: Database) throws {
        self.engine = engine
        self.db = db
        reader = try ExportReader(db, engine.stack.layout)
        exporter = RecordExporter(
            model: engine.model, options: ExportOptions(relationships: .none), source: reader)
    }

    func record(of key: DatabaseValue, _ table: EngineTable) throws -> JSONValue {
        let select = RecordSQL(table.entity, engine.stack.layout)
        var record = JSONValue.object([])
        try reader.forEachRow(select, "FROM \(select.from) WHERE \(select.rowKey) = ?", [key]) { row in
            record = try exporter.record(row, of: table.entity)
        }
        return record
    }

    /// What the service calls a row.
    func remoteID(of key: DatabaseValue, _ table: EngineTable) throws -> JSONValue {
        let statement = try db.cachedStatement(sql: "SELECT remote FROM sync_known WHERE e = ? AND k = ?")
        let spelled = try String.fetchOne(statement, arguments: [table.number, key])
        return try spelled.map { try JSONValue(parsing: $0) } ?? table.json(key)
    }

    /// The id of a row that another one points to.
    func reference(_ key: DatabaseValue, destination: TableID?) throws -> JSONValue {
        if key.isNull { return .null }
        if let table = engine.tables.first(where: { $0.entity.table == destination }) {
            return try remoteID(of: key, table)
        }
        guard let destination, let rowKey = RowKey(key) else { return .null }
        let tree = engine.model.compiled[destination]
        return rowKey.recordKey(engine.model.compiled.keyType(of: tree.root)).json
    }
}
