import GRDB
import SyncCore
import SyncStore

// The service replaces the temporary key of a new row. Apps that kept the temporary key still find the row by it.
extension DataStack {
    /// Returns the condition that a row has this key, or had it before the service assigned another; nil if no row can
    /// have it.
    func condition(
        _ key: RowKey, of entity: CompiledEntity, in db: Database
    ) throws -> (String, StatementArguments)? {
        condition(try laterKey(of: key, entity, in: db) ?? key, of: entity)
    }

    /// Returns the current key of the row that formerly had this key; nil if a stored row has the key, or none had it.
    private func laterKey(of key: RowKey, _ entity: CompiledEntity, in db: Database) throws -> RowKey? {
        guard key.isLocal, entity.keySlot != nil, try EngineSchema.isThere(in: db) else { return nil }
        let (table, own) = (layout[entity.table], key.databaseValue)
        let isStored = "SELECT 1 FROM \(table.name.quoted) WHERE \(table.keyColumn.quoted) = ?"
        if try db.finds(sql: isStored, arguments: [own]) { return nil }
        let numbers = model.compiled.engineNumbers(of: entity.table)
        return try KeyAliases.later(than: own, ofEntities: numbers, in: db).flatMap { RowKey($0) }
    }

    /// Returns the greatest integer that was a temporary key in the entity's table. It is not used again, because the
    /// row is still found by it.
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
