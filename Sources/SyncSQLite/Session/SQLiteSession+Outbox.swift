import GRDB
package import SyncCore
import SyncStore

extension SQLiteSession {
    package func unsentRows(of table: TableID) throws -> Set<RowKey> {
        guard try EngineSchema.isThere(in: db) else { return [] }
        let entity = layout.model.entities[layout.model[table].root].name
        let keys = try DatabaseValue.fetchAll(
            db, sql: "SELECT c.k FROM sync_change AS c JOIN sync_entity AS n ON n.e = c.e WHERE n.name = ?",
            arguments: [entity])
        return Set(keys.compactMap { RowKey($0) })
    }
}
