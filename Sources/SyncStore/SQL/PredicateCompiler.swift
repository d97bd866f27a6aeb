import SyncCore

/// Compiles one condition. Every expression it makes is true or false, never NULL.
struct PredicateCompiler {
    let layout: StoreLayout
    let dialect: any SQLDialect
    var arguments: SQLArguments
    private let alias: String
    private var aliasCount = 0

    var model: CompiledModel { layout.model }

    /// - Parameter alias: What all aliases begin with.
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

    /// The expression of a value as a column holds it.
    mutating func bind(_ constant: PredicateConstant) -> String {
        dialect.bind(dialect.argument(constant), &arguments)
    }

    // MARK: Connectives

    /// A condition on a row of `entity`. Negations are brought down to the comparisons, and parentheses stand only where
    /// they must: parsers such as SQLite's take only so much nesting.
    mutating func condition(
        _ node: ResolvedPredicate, negated: Bool = false, from entity: CompiledEntity, _ alias: String
    ) -> String {
        let sql: String
        switch node {
        case .constant(let value): return dialect.constant(value != negated)
        case .not(let node): return condition(node, negated: !negated, from: entity, alias)
        case .and(let nodes): return joined(nodes, by: negated ? .or : .and, negated, from: entity, alias)
        case .or(let nodes): return joined(nodes, by: negated ? .and : .or, negated, from: entity, alias)
        case .comparison(let comparison): sql = condition(comparison, from: entity, alias)
        case .calculation(let calculation): sql = condition(calculation, from: entity, alias)
        case .related(let quantifier, let hops, let inner):
            sql = exists(quantifier, hops, from: entity, alias) { compiler, entity, alias in
                "(\(compiler.condition(inner, negated: quantifier == .all, from: entity, alias)))"
            }
        }
        return negated ? "NOT \(sql)" : sql
    }

    private enum Connective: String {
        case and = " AND "
        case or = " OR "
    }

    /// The most deeply nested part stands first and apart, where it costs the parser least.
    private mutating func joined(
        _ nodes: [ResolvedPredicate], by connective: Connective, _ negated: Bool, from entity: CompiledEntity,
        _ alias: String
    ) -> String {
        let depths = nodes.map(\.nesting)
        guard let deepest = depths.indices.max(by: { depths[$0] < depths[$1] }), depths[deepest] > 0 else {
            return chained(nodes.map { part($0, of: connective, negated, from: entity, alias) }, by: connective)
        }
        let first = part(nodes[deepest], of: connective, negated, from: entity, alias)
        let rest = nodes.indices.filter { $0 != deepest }.map { nodes[$0] }
        if rest.count == 1 {
            return first + connective.rawValue + part(rest[0], of: connective, negated, from: entity, alias)
        }
        return "\(first)\(connective.rawValue)(\(joined(rest, by: connective, negated, from: entity, alias)))"
    }

    /// A part that another connective joins: only an `OR` in an `AND` needs parentheses.
    private mutating func part(
        _ node: ResolvedPredicate, of connective: Connective, _ negated: Bool, from entity: CompiledEntity,
        _ alias: String
    ) -> String {
        let sql = condition(node, negated: negated, from: entity, alias)
        return connective == .and && node.isAlternative(negated: negated) ? "(\(sql))" : sql
    }

    /// Databases limit the depth of expressions, and a chain of a thousand is a thousand deep: so groups of groups.
    private func chained(_ parts: [String], by connective: Connective) -> String {
        let size = 50
        guard parts.count > size else { return parts.joined(separator: connective.rawValue) }
        let groups = stride(from: 0, to: parts.count, by: size).map {
            "(\(chained(Array(parts[$0..<min($0 + size, parts.count)]), by: connective)))"
        }
        return chained(groups, by: connective)
    }

    // MARK: Comparisons

    /// In parentheses, or a single term.
    private mutating func condition(
        _ comparison: ResolvedComparison, from entity: CompiledEntity, _ alias: String
    ) -> String {
        guard let many = comparison.many else { return compared(comparison, from: entity, alias) }
        return exists(many.quantifier, many.hops, from: entity, alias) { compiler, entity, alias in
            let holds = compiler.compared(comparison, from: entity, alias)
            return many.quantifier == .all ? "NOT \(holds)" : holds
        }
    }

    /// That as many of the rows that relationships lead to meet a condition as a quantifier says.
    ///
    /// - Parameter test: The condition on one of them; where it must hold of all, that it does not.
    private mutating func exists(
        _ quantifier: PredicatePath.Quantifier, _ hops: [CompiledRelationship], from entity: CompiledEntity,
        _ alias: String, _ test: (inout PredicateCompiler, CompiledEntity, String) -> String
    ) -> String {
        let rows = rows(hops, from: entity, alias)
        let destination = hops.last.map { model.entities[$0.destination] } ?? entity
        let holds = test(&self, destination, rows.alias)
        return "\(quantifier == .any ? "" : "NOT ")EXISTS (SELECT 1 \(rows.sql) AND \(holds))"
    }

    /// Compares what to-one relationships lead to, from a row of `entity`.
    private mutating func compared(
        _ comparison: ResolvedComparison, from entity: CompiledEntity, _ alias: String
    ) -> String {
        let hops = comparison.hops
        switch comparison.subject {
        case .attribute(_, let slot): return compared(attribute(hops, slot, from: entity, alias), comparison)
        case .count(let last): return compared(count(hops, last, from: entity, alias), comparison)
        case .targets(let last):
            let rows = rows(hops + [last], from: entity, alias)
            let isNull = if case .isNull = comparison.test { true } else { false }
            return "\(isNull ? "NOT " : "")EXISTS (SELECT 1 \(rows.sql))"
        case .target(let last, nil): return compared(target(hops, last, from: entity, alias), comparison)
        case .target(let last, let key?):
            let target = target(hops, last, from: entity, alias)
            let operand = attribute(hops + [last], key.slot, from: entity, alias)
            return compared(operand, comparison, existence: target.stored)
        }
    }
}

extension ResolvedPredicate {
    /// Whether its SQL is joined by `OR`.
    fileprivate func isAlternative(negated: Bool) -> Bool {
        switch self {
        case .or: !negated
        case .and: negated
        case .not(let node): node.isAlternative(negated: !negated)
        case .comparison, .constant, .calculation, .related: false
        }
    }
}
