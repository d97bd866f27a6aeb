import GRDB
import SyncCore
import SyncStore

// A row that was made here gets the key that the service gives it. Whoever has kept the former one still finds the row.
extension DataStack {
    /// The condition that a row of the entity has this key, or had it before the service gave it another; nil if none can.
    func condition(
        _ key: RowKey, of entity: CompiledEntity, in db: Database
    ) throws -> (String, StatementArguments)? {
        condition(try laterKey(of: key, entity, in: db) ?? key, of: entity)
    }

    /// The key that a row has by now which had this one; nil where a row has it, or nobody knows of one that did.
    private func laterKey(of key: RowKey, _ entity: CompiledEntity, in db: Database) throws -> RowKey? {
        guard key.isLocal, entity.keySlot != nil, try EngineSchema.isThere(in: db) else { return nil }
        let (table, own) = (layout[entity.table], key.databaseValue)
        let isStored = "SELECT 1 FROM \(table.name.quoted) WHERE \(table.keyColumn.quoted) = ?"
        if try db.finds(sql: isStored, arguments: [own]) { return nil }
        let numbers = model.compiled.engineNumbers(of: entity.table)
        return try KeyAliases.later(than: own, ofEntities: numbers, in: db).flatMap { RowKey($0) }
    }

    /// The last integer that was the local key of a row of the entity's table: it is not given again, since the row is found by it.
    func lastFormerKey(of entity: CompiledEntity, in db: Database) throws -> Int64? {
        guard try EngineSchema.isThere(in: db) else { return nil }
        return try Int64.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT max((
                      SELECT old FROM sync_alias AS a WHERE a.e = n.e AND old < \(TemporaryKey.integerBound) ORDER BY old DESC LIMIT 1))
                    FROM (\(model.compiled.engineNumbers(of: entity.table))) AS n
                    """))
    }
}
