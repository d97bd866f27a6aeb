package import SyncCore

/// A condition as SQL, to stand in a `WHERE`.
///
/// The expression is true or false for every row, never NULL, so that it may be negated. Values are bound, never spliced.
/// What databases spell differently, and what functions of ours it uses, is its dialect's.
package struct PredicateSQL: Sendable {
    package let sql: String
    package let arguments: [SQLArgument]

    /// Compiles a condition on the rows of an entity. It does not say that rows are of the entity's family:
    /// ``familyCondition(_:layout:alias:dialect:)`` does.
    ///
    /// - Parameters:
    ///   - alias: What the entity's table is called in the statement.
    ///   - preceding: How many values the statement has before those of the condition.
    /// - Throws: ``SyncError`` `invalidPredicate`, naming what there is where a name is unknown.
    package init(
        _ predicate: RecordPredicate, on entity: CompiledEntity, layout: StoreLayout, alias: String,
        dialect: any SQLDialect, after preceding: Int = 0
    ) throws {
        var compiler = PredicateCompiler(
            layout: layout, alias: alias, dialect: dialect, arguments: SQLArguments(after: preceding))
        let resolved = try predicate.resolved(on: entity, in: layout.model)
        sql = "(\(compiler.condition(resolved, from: entity, alias)))"
        arguments = compiler.arguments.values
        guard arguments.count <= dialect.maximumArguments else {
            throw SyncError(
                .invalidPredicate, "the condition has more than \(dialect.maximumArguments) values",
                entity: entity.name)
        }
    }

    /// That a row is of the entity or one below it; nil where the table has no other rows.
    package static func familyCondition(
        _ entity: CompiledEntity, layout: StoreLayout, alias: String, dialect: any SQLDialect
    ) -> String? {
        let model = layout.model
        guard layout[entity.table].hasEntityColumn, entity.id != model[entity.table].root else { return nil }
        return dialect.entityCondition(entity.family, layout, alias: alias)
    }
}
