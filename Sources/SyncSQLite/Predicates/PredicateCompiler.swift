import Foundation
import GRDB
import SyncCore

/// Compiles one condition. Every expression it makes is 1 or 0, never NULL.
struct PredicateCompiler {
    let layout: StoreLayout
    let root: CompiledEntity
    private let alias: String
    private(set) var arguments: [DatabaseValue] = []
    private var aliasCount = 0

    var model: CompiledModel { layout.model }

    init(layout: StoreLayout, root: CompiledEntity, alias: String) {
        self.layout = layout
        self.root = root
        self.alias = alias
    }

    mutating func newAlias() -> String {
        aliasCount += 1
        return "\(alias)_\(aliasCount)"
    }

    /// The placeholder of a value. What binding would lose (text after a NUL, the difference between an empty blob and
    /// NULL) is written another way.
    mutating func bind(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .blob(let data) where data.isEmpty: return "x''"
        case .string(let text) where text.utf8.contains(0):
            arguments.append(Data(text.utf8).databaseValue)
            return "CAST(? AS TEXT)"
        default:
            arguments.append(value)
            return "?"
        }
    }

    // MARK: Connectives

    /// Negations are brought down to the comparisons, and parentheses stand only where they must: SQLite's parser takes
    /// only so much nesting.
    mutating func condition(_ node: PredicateNode, negated: Bool = false) throws -> String {
        switch node {
        case .constant(let value): return value != negated ? "1" : "0"
        case .invalid(let error, _): throw error
        case .not(let node): return try condition(node, negated: !negated)
        case .comparison(let comparison):
            let sql = try condition(comparison)
            return negated ? "NOT \(sql)" : sql
        case .and(let nodes): return try joined(nodes, by: negated ? .or : .and, negated)
        case .or(let nodes): return try joined(nodes, by: negated ? .and : .or, negated)
        }
    }

    private enum Connective: String {
        case and = " AND "
        case or = " OR "
    }

    /// The most deeply nested part stands first and apart, where it costs the parser least.
    private mutating func joined(
        _ nodes: [PredicateNode], by connective: Connective, _ negated: Bool
    ) throws -> String {
        let depths = nodes.map(\.nesting)
        guard let deepest = depths.indices.max(by: { depths[$0] < depths[$1] }), depths[deepest] > 0 else {
            return chained(try nodes.map { try part($0, of: connective, negated) }, by: connective)
        }
        let first = try part(nodes[deepest], of: connective, negated)
        let rest = nodes.indices.filter { $0 != deepest }.map { nodes[$0] }
        if rest.count == 1 { return first + connective.rawValue + (try part(rest[0], of: connective, negated)) }
        return "\(first)\(connective.rawValue)(\(try joined(rest, by: connective, negated)))"
    }

    /// A part that another connective joins: only an `OR` in an `AND` needs parentheses.
    private mutating func part(
        _ node: PredicateNode, of connective: Connective, _ negated: Bool
    ) throws -> String {
        let sql = try condition(node, negated: negated)
        return connective == .and && node.isAlternative(negated: negated) ? "(\(sql))" : sql
    }

    /// SQLite limits the depth of expressions, and a chain of a thousand is a thousand deep: so groups of groups.
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
    private mutating func condition(_ comparison: PredicateComparison) throws -> String {
        let path = comparison.path
        let route = try PredicateRoute(path, from: root, in: model, at: comparison.pathPlace)
        if let quantifier = path.quantifier { return try quantified(quantifier, route, comparison) }
        if let hop = route.hops.first(where: \.isToMany) {
            throw comparison.pathPlace.error(
                "'\(hop.name)' leads to many rows: write ANY, ALL or NONE before '\(path.name)'", entity: root.name)
        }
        if case .relationship(let last) = route.end, last.isToMany {
            guard comparison.literal == .null, [.equal, .notEqual].contains(comparison.operator) else {
                throw comparison.pathPlace.error(
                    "'\(last.name)' leads to many rows: write ANY, ALL or NONE before '\(path.name)', or compare it "
                        + "with nil, or its @count", entity: root.name)
            }
            let rows = rows(route.hops + [last], from: root, alias)
            return "\(comparison.operator == .equal ? "NOT " : "")EXISTS (SELECT 1 \(rows.sql))"
        }
        return try compared(route.hops, route.end, from: root, alias, comparison)
    }

    private mutating func quantified(
        _ quantifier: PredicatePath.Quantifier, _ route: PredicateRoute, _ comparison: PredicateComparison
    ) throws -> String {
        var hops = route.hops
        var end = route.end
        if case .relationship(let last) = end, last.isToMany {
            guard !comparison.literal.hasNull else {
                throw comparison.valuePlace.error(
                    "rows of '\(last.name)' are never nil; without \(quantifier.rawValue), '\(route.name) == nil' is "
                        + "true where there are none", entity: root.name)
            }
            hops.append(last)
            end = try keyEnd(of: last, comparison)
        }
        guard let last = hops.lastIndex(where: \.isToMany) else {
            throw comparison.pathPlace.error(
                "\(quantifier.rawValue) needs a to-many relationship, and '\(route.name)' goes through none",
                entity: root.name)
        }
        let rows = rows(Array(hops[...last]), from: root, alias)
        let entity = model.entities[hops[last].destination]
        let inner = try compared(Array(hops[(last + 1)...]), end, from: entity, rows.alias, comparison)
        let holds = quantifier == .all ? "NOT \(inner)" : inner
        return "\(quantifier == .any ? "" : "NOT ")EXISTS (SELECT 1 \(rows.sql) AND \(holds))"
    }

    /// Compares what to-one relationships lead to, from a row of `entity`.
    private mutating func compared(
        _ hops: [CompiledRelationship], _ end: PredicateRoute.End, from entity: CompiledEntity, _ alias: String,
        _ comparison: PredicateComparison
    ) throws -> String {
        guard case .relationship(let last) = end else {
            return try compared(operand(hops, end, from: entity, alias), comparison)
        }
        if comparison.literal == .null {
            return try compared(target(hops, last, from: entity, alias), comparison)
        }
        let key = try operand(hops + [last], keyEnd(of: last, comparison), from: entity, alias)
        guard comparison.operator == .in, case .list(let values) = comparison.literal, values.contains(.null) else {
            return try compared(key, comparison)
        }
        let hasNone = "\(target(hops, last, from: entity, alias).stored) IS NULL"
        let isOne = try contained(key, values.filter { $0 != .null }, comparison)
        return "(\(hasNone) OR \(isOne))"
    }

    /// A relationship compared with a value stands for the key of its target.
    private func keyEnd(of hop: CompiledRelationship, _ comparison: PredicateComparison) throws -> PredicateRoute.End {
        let destination = model.entities[hop.destination]
        guard let slot = destination.keySlot else {
            throw comparison.pathPlace.error(
                "rows of \(destination.name) have no key to compare '\(hop.name)' with", entity: root.name)
        }
        return .attribute(slot: slot)
    }
}

extension PredicateNode {
    /// Whether its SQL is joined by `OR`.
    fileprivate func isAlternative(negated: Bool) -> Bool {
        switch self {
        case .or: !negated
        case .and: negated
        case .not(let node): node.isAlternative(negated: !negated)
        case .comparison, .constant, .invalid: false
        }
    }
}

extension PredicateLiteral {
    fileprivate var hasNull: Bool {
        switch self {
        case .null: true
        case .list(let values): values.contains(.null)
        default: false
        }
    }
}
