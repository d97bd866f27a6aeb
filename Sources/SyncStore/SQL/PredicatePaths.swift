package import SyncCore

/// The SQL of the value at the end of a path: one value or NULL for each row.
package struct PathSQL: Sendable {
    /// The value as it is read: NULL for a temporary key.
    package let value: String
    /// The value as it is stored, for sorting.
    package let stored: String

    /// Compiles a path.
    ///
    /// - Parameter alias: The alias of the entity's table in the statement.
    package init(
        _ path: RowPath, on entity: CompiledEntity, layout: StoreLayout, alias: String, dialect: any SQLDialect
    ) {
        var compiler = PredicateCompiler(
            layout: layout, alias: alias, dialect: dialect, arguments: SQLArguments())
        let operand: PredicateOperand
        if case .target(let last) = path.end, layout.model.entities[last.destination].compositeKey != nil {
            let key = compiler.key(path.hops + [last], from: entity, alias)
            let target = compiler.target(path.hops, last, from: entity, alias).value
            value = "CASE WHEN \(target) IS NULL THEN NULL ELSE \(dialect.jsonText(key)) END"
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
    /// Returns the composite key of the row at the end of to-one relationships, as a JSON array.
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

// MARK: - PredicateCompiler+Paths

extension PredicateCompiler {
    /// Returns `FROM … WHERE …` for the rows at the end of relationships from a row of `entity`, and the alias of the
    /// last table.
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

    /// Returns the number of rows in a to-many relationship.
    mutating func count(
        _ hops: [CompiledRelationship], _ last: CompiledRelationship, from entity: CompiledEntity, _ alias: String
    ) -> PredicateOperand {
        let rows = rows(hops + [last], from: entity, alias)
        return PredicateOperand("count(*)", .integer, dialect) { "(SELECT \($0) \(rows.sql))" }
    }

    /// Returns an attribute at the end of to-one relationships.
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

    /// Returns the row key of the row that a to-one relationship references, or NULL.
    mutating func target(
        _ hops: [CompiledRelationship], _ last: CompiledRelationship, from entity: CompiledEntity, _ alias: String
    ) -> PredicateOperand {
        if last.end == .first, case .foreignKey(_, let column, _) = layout[last.link] {
            return self.column(column, .integer, nil, hops[...], from: entity, alias)
        }
        let key = layout[model.entities[last.destination].table].keyColumn
        return column(key, .integer, nil, (hops + [last])[...], from: entity, alias)
    }

    /// Returns a column of the row at the end of to-one relationships.
    private mutating func column(
        _ name: String, _ type: AttributeType, _ localKeys: PredicateOperand.TemporaryKeys?,
        _ hops: ArraySlice<CompiledRelationship>, from entity: CompiledEntity, _ alias: String
    ) -> PredicateOperand {
        guard !hops.isEmpty else {
            return PredicateOperand(dialect.column(name, of: alias), type, dialect, localKeys: localKeys)
        }
        let rows = rows(Array(hops), from: entity, alias)
        let column = dialect.column(name, of: rows.alias)
        return PredicateOperand(column, type, dialect, localKeys: localKeys) { "(SELECT \($0) \(rows.sql))" }
    }

    private func localKeys(_ type: AttributeType) -> PredicateOperand.TemporaryKeys? {
        switch type {
        case .integer: .integer
        case .string: .text
        default: nil
        }
    }
}

// MARK: - PredicateCompiler+Calculations

extension PredicateCompiler {
    /// Returns the comparison of two calculated values. It needs no parentheses as an operand.
    mutating func condition(
        _ calculation: ResolvedCalculation, for use: ConditionUse, from entity: CompiledEntity, _ alias: String
    ) -> String {
        let left = term(calculation.left, as: calculation.type, from: entity, alias)
        let right = term(calculation.right, as: calculation.type, from: entity, alias)
        let same = right + dialect.equalityClause(of: calculation.type)
        let bound = right + dialect.orderClause(of: calculation.type)
        switch calculation.test {
        case .equal: return "(\(dialect.isSameOrNull(left, same)))"
        case .notEqual: return "(NOT \(dialect.isSameOrNull(left, same)))"
        case .less: return dialect.falseIfNull("\(left) < \(bound)", for: use)
        case .lessOrEqual: return dialect.falseIfNull("\(left) <= \(bound)", for: use)
        case .greater: return dialect.falseIfNull("\(left) > \(bound)", for: use)
        case .greaterOrEqual: return dialect.falseIfNull("\(left) >= \(bound)", for: use)
        }
    }

    /// Returns a term that needs no parentheses as an operand.
    private mutating func term(
        _ term: ResolvedCalculation.Term, as type: AttributeType, from entity: CompiledEntity, _ alias: String
    ) -> String {
        switch term {
        case .constant(let constant): return bind(constant, as: type)
        case .attribute(let hops, _, let slot): return attribute(hops, slot, from: entity, alias).value
        case .count(let hops, let last): return count(hops, last, from: entity, alias).value
        case .asDouble(let inner): return dialect.asDouble(self.term(inner, as: .integer, from: entity, alias))
        case .integer(let left, let symbol, let right):
            return dialect.whole(operation(left, symbol, right, on: .integer, from: entity, alias))
        case .double(let left, let symbol, let right):
            return "(\(operation(left, symbol, right, on: .double, from: entity, alias)))"
        }
    }

    /// Returns an operation without enclosing parentheses. Parsers limit nesting, and chains of operations need none.
    private mutating func operation(
        _ left: ResolvedCalculation.Term, _ operation: PredicateTerm.Operation, _ right: ResolvedCalculation.Term,
        on numbers: NumberKind, from entity: CompiledEntity, _ alias: String
    ) -> String {
        let first = operand(left, of: operation, on: numbers, isFirst: true, from: entity, alias)
        let second = operand(right, of: operation, on: numbers, isFirst: false, from: entity, alias)
        return dialect.operation(operation, first, second, on: numbers)
    }

    private mutating func operand(
        _ term: ResolvedCalculation.Term, of outer: PredicateTerm.Operation, on numbers: NumberKind, isFirst: Bool,
        from entity: CompiledEntity, _ alias: String
    ) -> String {
        let sql: String
        let inner: PredicateTerm.Operation
        switch term {
        case .integer(let left, let operation, let right) where outer != .remainder:
            inner = operation
            sql = self.operation(left, inner, right, on: .integer, from: entity, alias)
        case .double(let left, let operation, let right):
            inner = operation
            sql = self.operation(left, inner, right, on: .double, from: entity, alias)
        default:
            return self.term(term, as: numbers == .integer ? .integer : .double, from: entity, alias)
        }
        let stands = isFirst ? inner.rank >= outer.rank : inner.rank > outer.rank
        return stands ? sql : "(\(sql))"
    }
}
