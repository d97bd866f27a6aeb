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
        guard entity.keySlot != nil, try EngineSchema.isThere(in: db) else { return nil }
        let table = layout[entity.table]
        let names = model.compiled.entities.filter { $0.table == entity.table }.map(\.name.literal).joined(
            separator: ", ")
        let later = try DatabaseValue.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT a.k FROM sync_alias AS a JOIN sync_entity AS n ON n.e = a.e
                    WHERE n.name IN (\(names)) AND a.old = ?
                      AND NOT EXISTS (SELECT 1 FROM \(table.name.quoted) WHERE \(table.keyColumn.quoted) = a.old)
                    """), arguments: [key.databaseValue])
        return later.flatMap { RowKey($0) }
    }
}
