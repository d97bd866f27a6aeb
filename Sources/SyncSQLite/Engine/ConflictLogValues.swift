import GRDB
import SyncCore
import SyncStore

/// Converts values of the conflict log to JSON. Attributes that the model can read have the form of an export.
struct ConflictLogValues {
    private let engine: SQLiteEngineStore
    private let db: Database
    private let table: TrackedTable
    private let columns: [String: TrackedTable.Column]
    private let attributes: [SyncModel.Attribute]

    init(_ engine: SQLiteEngineStore, _ table: TrackedTable, _ db: Database) {
        self.engine = engine
        self.db = db
        self.table = table
        columns = Dictionary(table.columns.map { ($0.name, $0) }) { first, _ in first }
        attributes = engine.model.compiled[table.entity.table].attributes
    }

    /// Returns a logged value as JSON.
    ///
    /// - Parameter field: The field name in the engine's tables; empty if the value is a whole record.
    func json(_ value: DatabaseValue, field: String) throws -> JSONValue {
        guard !value.isNull else { return .null }
        if let joinTable = table.joinTables.first(where: { $0.field == field }) {
            return .array(try LinkedRowList.keys(value).map { try engine.id($0, of: joinTable.destination, in: db) })
        }
        guard let column = columns[field] else {
            if field.isEmpty, case .string(let text) = value.storage, let record = try? JSONValue(parsing: text) {
                return record
            }
            return value.json
        }
        switch column.field {
        case .attribute(let slot):
            let attribute = attributes[slot]
            let stored = ColumnValue.storedValue(value, as: attribute.type)
            let conversion = engine.model.conversion(of: attribute)
            // If the model cannot read the value, show it unchanged.
            return stored.isNull ? value.json : ExportValues().json(stored, conversion) ?? value.json
        case .kind: return value.json
        case .toOne, .joinRows: return try engine.id(value, of: column.destination, in: db)
        }
    }
}
