import GRDB
package import SyncCore
import SyncStore

extension SQLiteSession {
    package func unsentRows(of table: TableID) throws -> Set<RowKey> {
        guard try EngineSchema.isThere(in: db) else { return [] }
        // Entities that inherit may be registered each by itself.
        let names = layout.model.entities.filter { $0.table == table }.map(\.name.literal).joined(separator: ", ")
        let keys = try DatabaseValue.fetchAll(
            db, sql: "SELECT c.k FROM sync_change AS c JOIN sync_entity AS n ON n.e = c.e WHERE n.name IN (\(names))")
        return Set(keys.compactMap { RowKey($0) })
    }
}
