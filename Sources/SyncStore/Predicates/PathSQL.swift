package import SyncCore

/// What a path leads to, as SQL: one value for each row, or NULL.
package struct PathSQL: Sendable {
    /// As it is read: NULL for a key that was made here.
    package let value: String
    /// As it is stored, to sort by.
    package let stored: String

    /// - Parameter alias: What the entity's table is called in the statement.
    package init(
        _ path: RowPath, on entity: CompiledEntity, layout: StoreLayout, alias: String, dialect: any SQLDialect
    ) {
        var compiler = PredicateCompiler(
            layout: layout, root: entity, alias: alias, dialect: dialect, arguments: SQLArguments())
        let operand: PredicateOperand
        switch path.end {
        case .attribute(let slot): operand = compiler.attribute(path.hops, slot, from: entity, alias)
        case .count(let last): operand = compiler.count(path.hops, last, from: entity, alias)
        case .target(let last):
            let key = layout.model.entities[last.destination].keySlot
            operand =
                key.map { compiler.attribute(path.hops + [last], $0, from: entity, alias) }
                ?? compiler.target(path.hops, last, from: entity, alias)
        }
        (value, stored) = (operand.value, operand.stored)
    }
}
