import SyncCore

extension PredicateCompiler {
    /// The rows that relationships lead to, from a row of `entity`: `FROM … WHERE …`, and the alias of the last.
    mutating func rows(
        _ hops: [CompiledRelationship], from entity: CompiledEntity, _ alias: String
    ) -> (sql: String, alias: String) {
        var tables: [String] = []
        var conditions: [String] = []
        var (entity, alias) = (entity, alias)
        for hop in hops {
            let destination = model.entities[hop.destination]
            let next = newAlias()
            let key = dialect.column(layout[entity.table].keyColumn, of: alias)
            let nextKey = dialect.column(layout[destination.table].keyColumn, of: next)
            switch layout[hop.link] {
            case .foreignKey(_, let column, _):
                conditions.append(
                    hop.end == .first
                        ? "\(nextKey) = \(dialect.column(column, of: alias))"
                        : "\(dialect.column(column, of: next)) = \(key)")
            case .joinTable(let name, let first, let second, _, _):
                let join = newAlias()
                let (here, there) = hop.end == .first ? (first, second) : (second, first)
                tables.append("\(dialect.quoted(name)) AS \(dialect.quoted(join))")
                conditions.append("\(dialect.column(here, of: join)) = \(key)")
                conditions.append("\(nextKey) = \(dialect.column(there, of: join))")
            }
            let table = layout[destination.table].name
            tables.append("\(dialect.quoted(table)) AS \(dialect.quoted(next))")
            (entity, alias) = (destination, next)
        }
        let sql = "FROM \(tables.joined(separator: ", ")) WHERE \(conditions.joined(separator: " AND "))"
        return (sql, alias)
    }

    /// How many rows a to-many relationship leads to.
    mutating func count(
        _ hops: [CompiledRelationship], _ last: CompiledRelationship, from entity: CompiledEntity, _ alias: String
    ) -> PredicateOperand {
        let rows = rows(hops + [last], from: entity, alias)
        return PredicateOperand("count(*)", .integer, dialect) { "(SELECT \($0) \(rows.sql))" }
    }

    /// An attribute at the end of to-one relationships.
    mutating func attribute(
        _ hops: [CompiledRelationship], _ slot: Int, from entity: CompiledEntity, _ alias: String
    ) -> PredicateOperand {
        let owner = hops.last.map { model.entities[$0.destination] } ?? entity
        let type = model[owner.table].attributes[slot].type
        let localKeys = owner.keySlot == slot ? localKeys(type) : nil
        if let last = hops.last, model[owner.table].keySlot == slot, last.end == .first,
            case .foreignKey(_, let column, _) = layout[last.link]
        {
            return self.column(column, type, localKeys, hops.dropLast(), from: entity, alias)
        }
        return column(layout[owner.table].columns[slot], type, localKeys, hops[...], from: entity, alias)
    }

    /// The key of the row a to-one relationship leads to, NULL if there is none.
    mutating func target(
        _ hops: [CompiledRelationship], _ last: CompiledRelationship, from entity: CompiledEntity, _ alias: String
    ) -> PredicateOperand {
        if last.end == .first, case .foreignKey(_, let column, _) = layout[last.link] {
            return self.column(column, .integer, nil, hops[...], from: entity, alias)
        }
        let key = layout[model.entities[last.destination].table].keyColumn
        return column(key, .integer, nil, (hops + [last])[...], from: entity, alias)
    }

    /// A column of the row that to-one relationships lead to.
    private mutating func column(
        _ name: String, _ type: AttributeType, _ localKeys: PredicateOperand.LocalKeys?,
        _ hops: ArraySlice<CompiledRelationship>, from entity: CompiledEntity, _ alias: String
    ) -> PredicateOperand {
        guard !hops.isEmpty else {
            return PredicateOperand(dialect.column(name, of: alias), type, dialect, localKeys: localKeys)
        }
        let rows = rows(Array(hops), from: entity, alias)
        let column = dialect.column(name, of: rows.alias)
        return PredicateOperand(column, type, dialect, localKeys: localKeys) { "(SELECT \($0) \(rows.sql))" }
    }

    private func localKeys(_ type: AttributeType) -> PredicateOperand.LocalKeys? {
        switch type {
        case .integer: .integer
        case .string: .text
        default: nil
        }
    }
}
