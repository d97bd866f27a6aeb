package import GRDB
package import SyncCore
package import SyncStore

extension PredicateSQL {
    /// Compiles a condition for SQLite, with the functions that ``install(in:)`` adds.
    ///
    /// - Parameter alias: What the entity's table is called in the statement.
    /// - Throws: ``SyncError`` `invalidPredicate`, naming what there is where a name is unknown.
    package init(
        _ predicate: RecordPredicate, on entity: CompiledEntity, layout: StoreLayout, alias: String
    ) throws {
        try self.init(predicate, on: entity, layout: layout, alias: alias, dialect: SQLiteDialect())
    }

    /// The values, to be bound in their order.
    package var databaseValues: [DatabaseValue] { arguments.map(\.databaseValue) }

    /// That a row is of the entity or one below it; nil where the table has no other rows.
    package static func familyCondition(_ entity: CompiledEntity, layout: StoreLayout, alias: String) -> String? {
        familyCondition(entity, layout: layout, alias: alias, dialect: SQLiteDialect())
    }
}
