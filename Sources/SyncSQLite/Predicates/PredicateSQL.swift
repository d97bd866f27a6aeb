package import GRDB
package import SyncCore
package import SyncStore

/// A condition as SQL, to stand in a `WHERE`.
///
/// The expression is 1 or 0 for every row, never NULL, so that it may be negated. Values are bound, never spliced. It
/// uses functions and a collation of ours: see ``install(in:)``.
package struct PredicateSQL: Sendable {
    package let sql: String
    package let arguments: [DatabaseValue]

    /// Compiles a condition on the rows of an entity. It does not say that rows are of the entity's family:
    /// ``familyCondition(_:layout:alias:)`` does.
    ///
    /// - Parameter alias: what the entity's table is called in the statement.
    /// - Throws: ``SyncError`` `invalidPredicate`, naming what there is where a name is unknown.
    package init(
        _ predicate: RecordPredicate, on entity: CompiledEntity, layout: StoreLayout, alias: String
    ) throws {
        var compiler = PredicateCompiler(layout: layout, root: entity, alias: alias)
        sql = "(\(compiler.condition(try predicate.resolved(on: entity, in: layout.model))))"
        arguments = compiler.arguments
        guard arguments.count <= Self.maximumArguments else {
            throw SyncError(
                .invalidPredicate, "the condition has more than \(Self.maximumArguments) values", entity: entity.name)
        }
    }

    /// SQLite's limit on bound values, less room for those of the statement around the condition.
    private static let maximumArguments = 32_000

    /// That a row is of the entity or one below it; nil where the table has no other rows.
    package static func familyCondition(_ entity: CompiledEntity, layout: StoreLayout, alias: String) -> String? {
        let model = layout.model
        guard layout[entity.table].hasEntityColumn, entity.id != model[entity.table].root else { return nil }
        return SchemaSQL.entityCondition(entity.family, layout, alias: alias)
    }

    static func column(_ name: String, of alias: String) -> String {
        "\(SchemaSQL.quoted(alias)).\(SchemaSQL.quoted(name))"
    }
}
