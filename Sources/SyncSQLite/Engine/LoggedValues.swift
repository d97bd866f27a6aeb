import GRDB
import SyncCore
import SyncStore

/// What the log of conflicts has of the values of a table, as an export writes them.
struct LoggedValues: Sendable {
    private let model: SyncModel
    private let columns: [String: EngineTable.Column]
    private let attributes: [SyncModel.Attribute]

    init(_ table: EngineTable, _ model: SyncModel) {
        self.model = model
        columns = Dictionary(table.columns.map { ($0.name, $0) }) { first, _ in first }
        attributes = model.compiled[table.entity.table].attributes
    }

    /// - Parameter domain: The column; empty for a whole row, whose record is logged.
    func json(_ value: DatabaseValue, domain: String) -> JSONValue {
        guard !value.isNull else { return .null }
        guard let column = columns[domain] else {
            if domain.isEmpty, case .string(let text) = value.storage, let record = try? JSONValue(parsing: text) {
                return record
            }
            return value.json
        }
        switch column.domain {
        case .attribute(let slot):
            let attribute = attributes[slot]
            let stored = ColumnValue.storedValue(value, as: attribute.type)
            // What the model cannot read is shown as it is.
            guard !stored.isNull, let json = ExportValues().json(stored, model.conversion(of: attribute)) else {
                return value.json
            }
            return json
        case .toOne, .pairs:
            guard let destination = column.destination else { return value.json }
            let tree = model.compiled[destination]
            return RowKey(value)?.recordKey(model.compiled.keyType(of: tree.root)).json ?? value.json
        }
    }
}
