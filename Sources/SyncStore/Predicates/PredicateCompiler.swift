import SyncCore

/// Compiles one condition. Every expression it makes is true or false, never NULL.
struct PredicateCompiler {
    let layout: StoreLayout
    private(set) var root: CompiledEntity
    let dialect: any SQLDialect
    var arguments: SQLArguments
    private var alias: String
    private let firstAlias: String
    private var aliasCount = 0

    var model: CompiledModel { layout.model }

    init(
        layout: StoreLayout, root: CompiledEntity, alias: String, dialect: any SQLDialect, arguments: SQLArguments
    ) {
        self.layout = layout
        self.root = root
        self.alias = alias
        firstAlias = alias
        self.dialect = dialect
        self.arguments = arguments
    }

    mutating func newAlias() -> String {
        aliasCount += 1
        return "\(firstAlias)_\(aliasCount)"
    }

    /// The expression of a value as a column holds it.
    mutating func bind(_ constant: PredicateConstant) -> String {
        dialect.bind(dialect.argument(constant), &arguments)
    }

    // MARK: Connectives

    /// Negations are brought down to the comparisons, and parentheses stand only where they must: parsers such as
    /// SQLite's take only so much nesting.
    mutating func condition(_ node: ResolvedPredicate, negated: Bool = false) -> String {
        switch node {
        case .constant(let value): return dialect.constant(value != negated)
        case .not(let node): return condition(node, negated: !negated)
        case .comparison(let comparison):
            let sql = condition(comparison)
            return negated ? "NOT \(sql)" : sql
        case .calculation(let calculation):
            let sql = condition(calculation, from: root, alias)
            return negated ? "NOT \(sql)" : sql
        case .related(let quantifier, let hops, let inner):
            let sql = condition(quantifier, hops, inner)
            return negated ? "NOT \(sql)" : sql
        case .and(let nodes): return joined(nodes, by: negated ? .or : .and, negated)
        case .or(let nodes): return joined(nodes, by: negated ? .and : .or, negated)
        }
    }

    private enum Connective: String {
        case and = " AND "
        case or = " OR "
    }

    /// The most deeply nested part stands first and apart, where it costs the parser least.
    private mutating func joined(
        _ nodes: [ResolvedPredicate], by connective: Connective, _ negated: Bool
    ) -> String {
        let depths = nodes.map(\.nesting)
        guard let deepest = depths.indices.max(by: { depths[$0] < depths[$1] }), depths[deepest] > 0 else {
            return chained(nodes.map { part($0, of: connective, negated) }, by: connective)
        }
        let first = part(nodes[deepest], of: connective, negated)
        let rest = nodes.indices.filter { $0 != deepest }.map { nodes[$0] }
        if rest.count == 1 { return first + connective.rawValue + (part(rest[0], of: connective, negated)) }
        return "\(first)\(connective.rawValue)(\(joined(rest, by: connective, negated)))"
    }

    /// A part that another connective joins: only an `OR` in an `AND` needs parentheses.
    private mutating func part(
        _ node: ResolvedPredicate, of connective: Connective, _ negated: Bool
    ) -> String {
        let sql = condition(node, negated: negated)
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
    private mutating func condition(_ comparison: ResolvedComparison) -> String {
        guard let many = comparison.many, let last = many.hops.last else {
            return compared(comparison, from: root, alias)
        }
        let rows = rows(many.hops, from: root, alias)
        let inner = compared(comparison, from: model.entities[last.destination], rows.alias)
        let holds = many.quantifier == .all ? "NOT \(inner)" : inner
        return "\(many.quantifier == .any ? "" : "NOT ")EXISTS (SELECT 1 \(rows.sql) AND \(holds))"
    }

    /// Of the rows that relationships lead to.
    private mutating func condition(
        _ quantifier: PredicatePath.Quantifier, _ hops: [CompiledRelationship], _ inner: ResolvedPredicate
    ) -> String {
        guard let last = hops.last else { return dialect.constant(false) }
        let rows = rows(hops, from: root, alias)
        let outer = (root, alias)
        (root, alias) = (model.entities[last.destination], rows.alias)
        let condition = condition(inner, negated: quantifier == .all)
        (root, alias) = outer
        return "\(quantifier == .any ? "" : "NOT ")EXISTS (SELECT 1 \(rows.sql) AND (\(condition)))"
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
