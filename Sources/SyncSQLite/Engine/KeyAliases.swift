import GRDB
import SyncCore

/// The former keys of rows whose keys the engine replaced.
enum KeyAliases {
    /// Returns the current key of the row that had this key before; nil if no row had it.
    ///
    /// - Parameter entities: The SQL of the numbers of the entities that the row may belong to: a list or a query.
    static func later(
        than key: DatabaseValue, ofEntities entities: String, from table: String = "sync_former_key", in db: Database
    ) throws -> DatabaseValue? {
        try DatabaseValue.fetchOne(
            db.cachedStatement(sql: "SELECT k FROM \(table) WHERE e IN (\(entities)) AND old = ?"), arguments: [key])
    }
}

extension CompiledModel {
    /// Returns the SQL query for the numbers of the registered entities whose rows are in a table.
    func engineNumbers(of table: TableID) -> String {
        let names = entities.filter { $0.table == table }.map(\.name.literal).joined(separator: ", ")
        return "SELECT e FROM sync_entity WHERE name IN (\(names))"
    }
}
