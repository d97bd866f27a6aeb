package import SyncCore

/// A compiler of one condition to SQL. Each condition that it returns is true or false, and never NULL for the use as a
/// value.
struct PredicateCompiler {
    let layout: StoreLayout
    let dialect: any SQLDialect
    var arguments: SQLArguments
    private let alias: String
    private var aliasCount = 0

    var model: CompiledModel { layout.model }

    /// Creates a compiler.
    ///
    /// - Parameter alias: The prefix of all aliases.
    init(layout: StoreLayout, alias: String, dialect: any SQLDialect, arguments: SQLArguments) {
        self.layout = layout
        self.alias = alias
        self.dialect = dialect
        self.arguments = arguments
    }

    mutating func newAlias() -> String {
        aliasCount += 1
        return "\(alias)_\(aliasCount)"
    }

    /// Binds a constant in the form of a column of a type, and returns its expression.
    mutating func bind(_ constant: PredicateConstant, as type: AttributeType) -> String {
        dialect.bind(dialect.argument(constant), as: .column(type), &arguments)
    }

    // MARK: Connectives

    /// Returns a condition on a row of `entity`. Negations are pushed down to comparisons, and parentheses are used
    /// only where needed, because parsers such as the one of SQLite limit nesting.
    ///
    /// Only a negated comparison is a value: `AND`, `OR` and `EXISTS` select the same rows if NULL is in place of false.
    mutating func condition(
        _ node: ResolvedPredicate, negated: Bool = false, for use: ConditionUse, from entity: CompiledEntity,
        _ alias: String
    ) -> String {
        let sql: String
        switch node {
        case .constant(let value): return dialect.constant(value != negated)
        case .not(let node): return condition(node, negated: !negated, for: use, from: entity, alias)
        case .and(let nodes): return joined(nodes, by: negated ? .or : .and, negated, for: use, from: entity, alias)
        case .or(let nodes): return joined(nodes, by: negated ? .and : .or, negated, for: use, from: entity, alias)
        case .comparison(let comparison):
            sql = condition(comparison, for: negated ? .value : use, from: entity, alias)
        case .calculation(let calculation):
            sql = condition(calculation, for: negated ? .value : use, from: entity, alias)
        case .related(let quantifier, let hops, let inner):
            sql = exists(quantifier, hops, from: entity, alias) { compiler, entity, alias in
                let isNegated = quantifier == .all
                return "(\(compiler.condition(inner, negated: isNegated, for: .selection, from: entity, alias)))"
            }
        }
        return negated ? "NOT \(sql)" : sql
    }

    private enum Connective: String {
        case and = " AND "
        case or = " OR "
    }

    /// Joins conditions. The most deeply nested condition comes first, where the parser needs the least stack for it.
    private mutating func joined(
        _ nodes: [ResolvedPredicate], by connective: Connective, _ negated: Bool, for use: ConditionUse,
        from entity: CompiledEntity, _ alias: String
    ) -> String {
        var ordered = nodes
        let depths = nodes.map(\.nesting)
        if let deepest = depths.indices.max(by: { depths[$0] < depths[$1] }), depths[deepest] > 0 {
            ordered.insert(ordered.remove(at: deepest), at: 0)
        }
        return chained(
            ordered.map { part($0, of: connective, negated, for: use, from: entity, alias) }, by: connective)
    }

    /// Returns a condition as an operand of a connective. Only an `OR` inside an `AND` is in parentheses.
    private mutating func part(
        _ node: ResolvedPredicate, of connective: Connective, _ negated: Bool, for use: ConditionUse,
        from entity: CompiledEntity, _ alias: String
    ) -> String {
        let sql = condition(node, negated: negated, for: use, from: entity, alias)
        return connective == .and && node.isAlternative(negated: negated) ? "(\(sql))" : sql
    }

    /// Joins operands in nested groups. Databases limit the depth of expressions, and a chain of a thousand operands is
    /// a thousand deep.
    private func chained(_ parts: [String], by connective: Connective) -> String {
        let size = 50
        guard parts.count > size else { return parts.joined(separator: connective.rawValue) }
        let groups = stride(from: 0, to: parts.count, by: size).map {
            "(\(chained(Array(parts[$0..<min($0 + size, parts.count)]), by: connective)))"
        }
        return chained(groups, by: connective)
    }

    // MARK: Comparisons

    /// Returns a comparison that needs no parentheses as an operand.
    private mutating func condition(
        _ comparison: ResolvedComparison, for use: ConditionUse, from entity: CompiledEntity, _ alias: String
    ) -> String {
        guard let many = comparison.many else { return compared(comparison, for: use, from: entity, alias) }
        return exists(many.quantifier, many.hops, from: entity, alias) { compiler, entity, alias in
            let isNegated = many.quantifier == .all
            let holds = compiler.compared(comparison, for: isNegated ? .value : .selection, from: entity, alias)
            return isNegated ? "NOT \(holds)" : holds
        }
    }

    /// Returns the condition that as many related rows as the quantifier requires satisfy another condition. It is never
    /// NULL, and it uses the other condition as a selection.
    ///
    /// - Parameter test: Returns the condition on one row, or its negation for the quantifier `all`.
    private mutating func exists(
        _ quantifier: PredicatePath.Quantifier, _ hops: [CompiledRelationship], from entity: CompiledEntity,
        _ alias: String, _ test: (inout PredicateCompiler, CompiledEntity, String) -> String
    ) -> String {
        let rows = rows(hops, from: entity, alias)
        let destination = hops.last.map { model.entities[$0.destination] } ?? entity
        let holds = test(&self, destination, rows.alias)
        return "\(quantifier == .any ? "" : "NOT ")EXISTS (SELECT 1 \(rows.sql) AND \(holds))"
    }

    /// Returns a comparison of the value at the end of to-one relationships, from a row of `entity`.
    private mutating func compared(
        _ comparison: ResolvedComparison, for use: ConditionUse, from entity: CompiledEntity, _ alias: String
    ) -> String {
        let hops = comparison.hops
        switch comparison.subject {
        case .attribute(_, let slot): return compared(attribute(hops, slot, from: entity, alias), comparison, for: use)
        case .member(_, let slot, let keys, let type):
            let document = attribute(hops, slot, from: entity, alias).value
            let value = dialect.member(keys, of: document, as: type)
            let member = PredicateOperand(document, type, dialect) { _ in value }
            return compared(
                member, comparison, for: use, existence: dialect.member(keys, of: document, as: nil))
        case .count(let last): return compared(count(hops, last, from: entity, alias), comparison, for: use)
        case .targets(let last):
            let rows = rows(hops + [last], from: entity, alias)
            let isNull = if case .isNull = comparison.test { true } else { false }
            return "\(isNull ? "NOT " : "")EXISTS (SELECT 1 \(rows.sql))"
        case .target(let last, nil):
            return compared(target(hops, last, from: entity, alias), comparison, for: use)
        case .target(let last, let key?):
            let target = target(hops, last, from: entity, alias)
            let operand = attribute(hops + [last], key.slot, from: entity, alias)
            return compared(operand, comparison, for: use, existence: target.stored)
        }
    }
}

extension ResolvedPredicate {
    /// Returns whether the SQL of the condition consists of operands of `OR`.
    fileprivate func isAlternative(negated: Bool) -> Bool {
        switch self {
        case .or: !negated
        case .and: negated
        case .not(let node): node.isAlternative(negated: !negated)
        case .comparison, .constant, .calculation, .related: false
        }
    }
}

/// A condition as SQL for a `WHERE` clause.
///
/// The expression is true or false for each row. For a selection it may also be NULL in place of false. Values are
/// arguments, unless the dialect writes them as SQL. The dialect supplies the syntax of the database and the custom
/// functions.
package struct PredicateSQL: Sendable {
    package let sql: String
    package let arguments: [SQLArgument]

    /// Compiles a condition on the rows of an entity. It does not restrict rows to the entity and its subentities:
    /// ``familyCondition(_:layout:alias:dialect:)`` does.
    ///
    /// - Parameters:
    ///   - alias: The alias of the entity's table in the statement.
    ///   - use: A value may be negated. A selection may not, but indexes can serve it in any database.
    ///   - preceding: The number of arguments before those of the condition.
    ///   - capabilities: The values that the store can keep. The SQL has no others.
    ///   - replacement: A function that returns the current key of a row for its former temporary key; nil if no key of
    ///     the store was replaced.
    /// - Throws: ``SyncError`` `invalidPredicate`, also for too many values. For an unknown name, the message lists
    ///   known names. The errors of `replacement`.
    package init(
        _ predicate: RowPredicate, on entity: CompiledEntity, layout: StoreLayout, alias: String,
        dialect: any SQLDialect, for use: ConditionUse = .selection, after preceding: Int = 0,
        keeping capabilities: StoreCapabilities = .unlimited,
        replacingKeys replacement: ResolvedPredicate.KeyReplacement? = nil
    ) throws {
        var compiler = PredicateCompiler(
            layout: layout, alias: alias, dialect: dialect, arguments: SQLArguments(after: preceding))
        var resolved = try predicate.resolved(on: entity, in: layout.model, keeping: capabilities)
        if let replacement { resolved = try resolved.replacingKeys(on: entity, in: layout.model, replacement) }
        sql = "(\(compiler.condition(resolved, for: use, from: entity, alias)))"
        arguments = compiler.arguments.values
        guard arguments.count <= dialect.maximumArguments else {
            throw SyncError(
                .invalidPredicate, "the condition has more than \(dialect.maximumArguments) values",
                entity: entity.name)
        }
    }

    /// Returns the condition that a row is of the entity or a subentity; nil if the table has no other rows.
    package static func familyCondition(
        _ entity: CompiledEntity, layout: StoreLayout, alias: String, dialect: any SQLDialect
    ) -> String? {
        let model = layout.model
        guard layout[entity.table].hasEntityColumn, entity.id != model[entity.table].root else { return nil }
        return dialect.entityCondition(entity.family, layout, alias: alias)
    }
}
