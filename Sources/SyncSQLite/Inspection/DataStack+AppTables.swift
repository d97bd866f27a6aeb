import Foundation
import GRDB
package import SyncCore
import SyncStore

extension DataStack {
    /// A store in memory that adopts the tables of its model, which are made as an app might have: without strict
    /// types, with foreign keys that hold at once and do nothing, and with a column of the app's own in each.
    ///
    /// Nil for a model whose tables cannot be adopted.
    package static func adopted(_ model: SyncModel, transformers: TransformerPolicy) throws -> DataStack? {
        let layout = StoreLayout(model.compiled)
        if layout.tables.contains(where: { $0.hasHiddenKey && $0.hasEntityColumn }) { return nil }
        let queue = try DatabaseQueue()
        try queue.write { db in
            for statement in SchemaSQL(layout).statements where !SchemaSQL.ownTables.contains(statement) {
                if !statement.hasPrefix("CREATE VIEW") { try db.execute(sql: appLike(statement)) }
            }
        }
        return try DataStack(model: model, adopting: queue, transformers: transformers)
    }

    private static func appLike(_ statement: String) -> String {
        guard statement.hasPrefix("CREATE TABLE"), statement.hasSuffix(") STRICT") else { return statement }
        let lines = String(statement.dropLast(" STRICT".count))
            .replacing(" ON UPDATE CASCADE ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED", with: "")
            .replacing(" ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED", with: " ON DELETE CASCADE")
            .replacing(" (\n", with: " (\n  \"mine of the app\" TEXT NOT NULL DEFAULT 'app',\n", maxReplacements: 1)
        return lines
    }
}
