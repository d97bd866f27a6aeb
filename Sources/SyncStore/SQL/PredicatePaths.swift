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
            layout: layout, alias: alias, dialect: dialect, arguments: SQLArguments())
        let operand: PredicateOperand
        if case .target(let last) = path.end, layout.model.entities[last.destination].compositeKey != nil {
            let key = compiler.key(path.hops + [last], from: entity, alias)
            let target = compiler.target(path.hops, last, from: entity, alias).value
            value = "CASE WHEN \(target) IS NULL THEN NULL ELSE \(key) END"
            stored = value
            return
        }
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

extension PredicateCompiler {
    /// The key of several parts of the row that to-one relationships lead to, as a JSON array.
    fileprivate mutating func key(
        _ hops: [CompiledRelationship], from entity: CompiledEntity, _ alias: String
    ) -> String {
        guard let last = hops.last else { return "NULL" }
        let target = model.entities[last.destination]
        let parts = (target.compositeKey?.parts ?? []).map { part -> String in
            guard case .relationship(let index) = part else {
                guard case .attribute(let slot) = part else { return "NULL" }
                return attribute(hops, slot, from: entity, alias).value
            }
            let next = hops + [target.relationships[index]]
            let destination = model.entities[target.relationships[index].destination]
            return destination.keySlot.map { attribute(next, $0, from: entity, alias).value }
                ?? key(next, from: entity, alias)
        }
        return dialect.jsonArray(parts)
    }
}
