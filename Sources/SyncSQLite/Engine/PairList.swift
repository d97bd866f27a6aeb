import GRDB
import SyncCore
import SyncStore

/// The rows that a row is paired with: in their order, or by key.
struct PairList {
    private let sql: String

    init(_ pairs: EngineTable.Pairs, _ layout: StoreLayout) {
        let order = [pairs.table.place, pairs.table.other].compactMap(\.self).joined(separator: ", ")
        sql = "SELECT \(pairs.table.other) FROM \(pairs.table.table) WHERE \(pairs.table.mine) = ? ORDER BY \(order)"
    }

    func others(of key: DatabaseValue, in db: Database) throws -> [DatabaseValue] {
        try DatabaseValue.fetchAll(db.cachedStatement(sql: sql), arguments: [key])
    }

    /// As a column of the engine's keeps them.
    static func text(_ keys: [DatabaseValue]) -> DatabaseValue {
        JSONValue.array(
            keys.map { key in
                switch key.storage {
                case .int64(let value): JSONValue(value)
                case .double(let value): JSONValue(floatLiteral: value)
                case .string(let text): .string(text)
                case .null, .blob: .null
                }
            }
        ).text.databaseValue
    }

    static func keys(_ text: DatabaseValue) throws -> [DatabaseValue] {
        guard let text = String.fromDatabaseValue(text), case .array(let elements) = try JSONValue(parsing: text) else {
            return []
        }
        return elements.map { element in
            switch element {
            case .number(let text): Int64(text)?.databaseValue ?? Double(text)?.databaseValue ?? .null
            case .string(let text): text.databaseValue
            default: .null
            }
        }
    }
}
