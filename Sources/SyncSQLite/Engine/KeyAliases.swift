import GRDB
import SyncCore

/// The keys that rows had before the server gave them others.
enum KeyAliases {
    /// The key that a row has by now which had this one.
    ///
    /// - Parameter entities: The numbers of the entities that it may be of, as SQL.
    static func later(
        than key: DatabaseValue, ofEntities entities: String, in db: Database
    ) throws -> DatabaseValue? {
        try DatabaseValue.fetchOne(
            db.cachedStatement(sql: "SELECT k FROM sync_alias WHERE e IN (\(entities)) AND old = ?"), arguments: [key])
    }
}

extension CompiledModel {
    /// The engine's numbers of the entities whose rows are in a table, as SQL: each may be registered by itself.
    func engineNumbers(of table: TableID) -> String {
        let names = entities.filter { $0.table == table }.map(\.name.literal).joined(separator: ", ")
        return "SELECT e FROM sync_entity WHERE name IN (\(names))"
    }
}
