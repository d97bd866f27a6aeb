import GRDB
package import SyncCore
import SyncStore

extension SQLiteSession {
    package func unsentRows(of table: TableID) throws -> Set<RowKey> {
        guard try EngineSchema.isThere(in: db) else { return [] }
        let keys = try DatabaseValue.fetchAll(
            db, sql: "SELECT k FROM sync_change WHERE e IN (\(layout.model.engineNumbers(of: table)))")
        return Set(keys.compactMap { RowKey($0) })
    }
}
