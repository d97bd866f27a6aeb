import GRDB
import SyncCore
import SyncStore

/// The former keys of rows whose keys the engine replaced.
enum KeyAliases {
    /// Returns the current key of the row that had this key before; nil if no row had it. `entities` is the SQL of the
    /// numbers of the entities that the row may belong to: a list or a query.
    static func later(
        than key: DatabaseValue, ofEntities entities: String, from table: String = "sync_former_key", in db: Database
    ) throws -> DatabaseValue? {
        try db.value("SELECT k FROM \(table) WHERE e IN (\(entities)) AND old = ?", key)
    }
}

extension CompiledModel {
    /// Returns the SQL query for the numbers of the registered entities whose rows are in a table.
    func engineNumbers(of table: TableID) -> String {
        let names = entities.filter { $0.table == table }.map(\.name.literal).joined(separator: ", ")
        return "SELECT e FROM sync_entity WHERE name IN (\(names))"
    }
}

// The engine replaces the temporary key of a new row when the service assigns an ID. Apps that kept the temporary key
// still find the row by it.
extension DataStack {
    /// Returns the condition that a row has this key now, or had it as its temporary key; nil if no row can have the
    /// key.
    func condition(_ key: RowKey, of entity: CompiledEntity, in db: Database) throws -> (String, StatementArguments)? {
        condition(try laterKey(of: key, entity, in: db) ?? key, of: entity)
    }

    /// Returns the current key of a row by its former temporary key. Returns nil if no row had that key, or if a stored
    /// row has it.
    private func laterKey(of key: RowKey, _ entity: CompiledEntity, in db: Database) throws -> RowKey? {
        guard key.isLocal, entity.keySlot != nil, let names = try EngineSchema.names(in: db) else { return nil }
        let (table, own) = (layout[entity.table], key.databaseValue)
        let isStored = "SELECT 1 FROM \(table.sql) WHERE \(table.keySQL) = ?"
        if try db.finds(isStored, own) { return nil }
        let numbers = model.compiled.engineNumbers(of: entity.table)
        return try KeyAliases.later(than: own, ofEntities: numbers, from: names.formerKeys, in: db).flatMap {
            RowKey($0)
        }
    }

    /// Returns the greatest integer that is recorded as a former temporary key in the entity's table; nil if there is
    /// none. It must not be used again, because it still identifies a row.
    func lastFormerKey(of entity: CompiledEntity, in db: Database) throws -> Int64? {
        guard let names = try EngineSchema.names(in: db) else { return nil }
        return try db.first(
            Int64.self,
            """
            SELECT max((
              SELECT old FROM \(names.formerKeys) AS a WHERE a.e = n.e AND old < \(TemporaryKey.integerBound) ORDER BY old DESC LIMIT 1))
            FROM (\(model.compiled.engineNumbers(of: entity.table))) AS n
            """)
    }
}
