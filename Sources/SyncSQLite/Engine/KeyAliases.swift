import GRDB
import SyncCore

/// The former keys of rows, which the service replaced by others.
enum KeyAliases {
    /// Returns the current key of the row that formerly had this key.
    ///
    /// - Parameter entities: The SQL of the numbers of the entities that the row may be of.
    static func later(
        than key: DatabaseValue, ofEntities entities: String, in db: Database
    ) throws -> DatabaseValue? {
        try DatabaseValue.fetchOne(
            db.cachedStatement(sql: "SELECT k FROM sync_alias WHERE e IN (\(entities)) AND old = ?"), arguments: [key])
    }
}

extension CompiledModel {
    /// Returns the SQL of the engine's numbers of the entities whose rows are in a table. Each entity may be registered
    /// by itself.
    func engineNumbers(of table: TableID) -> String {
        let names = entities.filter { $0.table == table }.map(\.name.literal).joined(separator: ", ")
        return "SELECT e FROM sync_entity WHERE name IN (\(names))"
    }
}
