package import SyncCore

/// A compiler of one condition to SQL. Each condition that it returns is true or false, never NULL.
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

    /// Binds a constant in the form of a column, and returns its expression.
    mutating func bind(_ constant: PredicateConstant) -> String {
        dialect.bind(dialect.argument(constant), &arguments)
    }

    // MARK: Connectives

    /// Returns a condition on a row of `entity`. Negations are pushed down to comparisons, and parentheses are used
    /// only where needed, because parsers such as the one of SQLite limit nesting.
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

    /// Joins conditions. The most deeply nested condition comes first, where the parser needs the least stack for it.
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

    /// Returns a condition as an operand of a connective. Only an `OR` inside an `AND` is in parentheses.
    private mutating func part(
        _ node: ResolvedPredicate, of connective: Connective, _ negated: Bool, from entity: CompiledEntity,
        _ alias: String
    ) -> String {
        let sql = condition(node, negated: negated, from: entity, alias)
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
        _ comparison: ResolvedComparison, from entity: CompiledEntity, _ alias: String
    ) -> String {
        guard let many = comparison.many else { return compared(comparison, from: entity, alias) }
        return exists(many.quantifier, many.hops, from: entity, alias) { compiler, entity, alias in
            let holds = compiler.compared(comparison, from: entity, alias)
            return many.quantifier == .all ? "NOT \(holds)" : holds
        }
    }

    /// Returns the condition that as many related rows as the quantifier requires satisfy another condition.
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
        _ comparison: ResolvedComparison, from entity: CompiledEntity, _ alias: String
    ) -> String {
        let hops = comparison.hops
        switch comparison.subject {
        case .attribute(_, let slot): return compared(attribute(hops, slot, from: entity, alias), comparison)
        case .member(_, let slot, let keys, let type):
            let document = attribute(hops, slot, from: entity, alias).value
            let value = dialect.member(keys, of: document, as: type)
            let member = PredicateOperand(document, type, dialect) { _ in value }
            return compared(member, comparison, existence: dialect.member(keys, of: document, as: nil))
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
/// The expression is true or false for each row, never NULL, so it may be negated. Values are arguments, unless the
/// dialect writes them as SQL. The dialect supplies the syntax of the database and the custom functions.
package struct PredicateSQL: Sendable {
    package let sql: String
    package let arguments: [SQLArgument]

    /// Compiles a condition on the rows of an entity. It does not restrict rows to the entity and its subentities:
    /// ``familyCondition(_:layout:alias:dialect:)`` does.
    ///
    /// - Parameters:
    ///   - alias: The alias of the entity's table in the statement.
    ///   - preceding: The number of arguments before those of the condition.
    /// - Throws: ``SyncError`` `invalidPredicate`, also for too many values. For an unknown name, the message lists
    ///   known names.
    package init(
        _ predicate: RowPredicate, on entity: CompiledEntity, layout: StoreLayout, alias: String,
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

    /// Returns the condition that a row is of the entity or a subentity; nil if the table has no other rows.
    package static func familyCondition(
        _ entity: CompiledEntity, layout: StoreLayout, alias: String, dialect: any SQLDialect
    ) -> String? {
        let model = layout.model
        guard layout[entity.table].hasEntityColumn, entity.id != model[entity.table].root else { return nil }
        return dialect.entityCondition(entity.family, layout, alias: alias)
    }
}

/// The SQL of one side of a comparison: a column, or a subquery that returns one value or NULL.
struct PredicateOperand {
    /// The stored value, including temporary keys.
    let stored: String
    /// The value of the attribute: NULL for a temporary key.
    let value: String
    let type: AttributeType
    /// The kind of temporary keys that the value can be; nil if it is never a temporary key.
    let localKeys: TemporaryKeys?
    /// The condition that the value is a temporary key; nil if it is never one.
    let isLocal: String?
    /// Whether the operand is a column: cheap to repeat, and an index may apply.
    let isColumn: Bool

    /// The kinds of temporary keys.
    enum TemporaryKeys {
        case integer
        case text

        /// Returns whether a value is a temporary key. No attribute equals such a value, because temporary keys are
        /// read as nil.
        func include(_ value: PredicateConstant) -> Bool {
            switch (self, value) {
            case (.integer, .integer(let integer)): integer < TemporaryKey.integerBound
            case (.text, .text(let text)): TemporaryKey.isLocal(text)
            default: false
            }
        }

        fileprivate func areIn(_ column: String, _ dialect: any SQLDialect) -> String {
            switch self {
            case .integer: "\(column) < \(TemporaryKey.integerBound)"
            case .text: dialect.isLocalKey(column)
            }
        }
    }

    /// Creates an operand.
    ///
    /// - Parameter wrap: Returns the complete expression, such as a subquery, for the expression of the column; nil for
    ///   a plain column.
    init(
        _ column: String, _ type: AttributeType, _ dialect: any SQLDialect, localKeys: TemporaryKeys? = nil,
        wrappedBy wrap: ((String) -> String)? = nil
    ) {
        self.type = type
        self.localKeys = localKeys
        isLocal = localKeys?.areIn(column, dialect)
        let masked = isLocal.map { "CASE WHEN \($0) THEN NULL ELSE \(column) END" } ?? column
        stored = wrap?(column) ?? column
        value = wrap?(masked) ?? (localKeys == nil ? column : "(\(masked))")
        isColumn = wrap == nil
    }
}

// MARK: - Comparisons

extension PredicateCompiler {
    /// Returns the comparison of an operand.
    ///
    /// - Parameter existence: The expression that is NULL if there is no value; nil if the operand is that expression.
    mutating func compared(
        _ operand: PredicateOperand, _ comparison: ResolvedComparison, existence: String? = nil
    ) -> String {
        let ignoresCase = comparison.ignoresCase
        switch comparison.test {
        case .isNull: return "\(existence ?? operand.value) IS NULL"
        case .isNotNull: return "\(existence ?? operand.value) IS NOT NULL"
        case .never: return dialect.constant(false)
        case .equal(let value): return equal(operand, value, ignoresCase)
        case .notEqual(let value): return "NOT \(equal(operand, value, ignoresCase))"
        case .isIn(let values, let orNull):
            let null = orNull ? "\(existence ?? operand.value) IS NULL" : nil
            return contained(operand, values, or: null, ignoresCase)
        case .less(let bound): return ordered(operand, "<", bound, ignoresCase)
        case .lessOrEqual(let bound): return ordered(operand, "<=", bound, ignoresCase)
        case .greater(let bound): return ordered(operand, ">", bound, ignoresCase)
        case .greaterOrEqual(let bound): return ordered(operand, ">=", bound, ignoresCase)
        case .between(let first, let last):
            let isAbove = ordered(operand, ">=", first, ignoresCase)
            let isBelow = ordered(operand, "<=", last, ignoresCase)
            return "(\(isAbove) AND \(isBelow))"
        case .contains(let part): return holds(.contains(part), operand, ignoresCase, part)
        case .beginsWith(let part): return holds(.beginsWith(part), operand, ignoresCase, part)
        case .endsWith(let part): return holds(.endsWith(part), operand, ignoresCase, part)
        case .like(let pattern): return holds(.like(pattern), operand, ignoresCase)
        case .matches(let expression): return holds(.matches(expression), operand, ignoresCase)
        }
    }

    // MARK: Equality

    private mutating func equal(
        _ operand: PredicateOperand, _ constant: PredicateConstant, _ ignoresCase: Bool
    ) -> String {
        if operand.isLocalKey(constant) { return dialect.constant(false) }
        if ignoresCase { return dialect.isSame(dialect.folded(operand.value), bindFolded(constant)) }
        return dialect.isSame(operand.stored, bind(constant) + dialect.equalityClause(of: operand.type))
    }

    private mutating func contained(
        _ operand: PredicateOperand, _ constants: [PredicateConstant], or null: String?, _ ignoresCase: Bool
    ) -> String {
        let constants = constants.filter { !operand.isLocalKey($0) }
        var alternatives = null.map { [$0] } ?? []
        if !constants.isEmpty {
            let column = ignoresCase ? dialect.folded(operand.value) : operand.stored
            let clause = ignoresCase ? "" : dialect.equalityClause(of: operand.type)
            let values = constants.map { ignoresCase ? folded($0) : dialect.argument($0) }
            alternatives.append(never(operand, column, null: dialect.isIn(column + clause, values, &arguments)))
        }
        return alternatives.isEmpty ? dialect.constant(false) : "(\(alternatives.joined(separator: " OR ")))"
    }

    // MARK: Order

    private mutating func ordered(
        _ operand: PredicateOperand, _ op: String, _ bound: PredicateConstant, _ ignoresCase: Bool
    ) -> String {
        if operand.type == .integer, case .exact(let number) = bound { return ordered(operand, op, number) }
        let clause = dialect.orderClause(of: operand.type)
        if ignoresCase {
            let column = dialect.folded(operand.value)
            return never(operand, column, null: "\(column) \(op) \(bindFolded(bound))\(clause)")
        }
        if operand.isColumn { return orderedColumn(operand, "\(op) \(bind(bound))\(clause)") }
        return never(operand, operand.value, null: "\(operand.value) \(op) \(bind(bound))\(clause)")
    }

    /// Returns a comparison of the stored column, so that an index of it can be used.
    private func orderedColumn(_ operand: PredicateOperand, _ test: String) -> String {
        let isLocal = operand.isLocal.map { " AND NOT \($0)" } ?? ""
        return "(\(operand.stored) \(test) AND \(operand.stored) IS NOT NULL\(isLocal))"
    }

    /// Returns the comparison of an integer with any number, such as a fraction or a number beyond 64 bits, without
    /// rounding.
    private mutating func ordered(_ operand: PredicateOperand, _ op: String, _ number: ExactNumber) -> String {
        let isBelow = op.hasPrefix("<")
        guard let floor = number.floor.map(PredicateConstant.integer) else {
            return isBelow == number.isBelowZero ? dialect.constant(false) : "\(operand.value) IS NOT NULL"
        }
        let exact = number.isWhole ? op : isBelow ? "<=" : ">"
        if operand.isColumn { return orderedColumn(operand, "\(exact) \(bind(floor))") }
        let column = !isBelow && !operand.isLocalKey(floor) ? operand.stored : operand.value
        return never(operand, column, null: "\(column) \(exact) \(bind(floor))")
    }

    /// Returns a condition with false in place of NULL.
    private func never(_ operand: PredicateOperand, _ column: String, null test: String) -> String {
        operand.isColumn && column == operand.stored
            ? "(\(test) AND \(column) IS NOT NULL)" : dialect.falseIfNull(test)
    }

    // MARK: Text

    /// Returns a text comparison.
    ///
    /// - Parameter part: The text to search for. Every text contains the empty text.
    private mutating func holds(
        _ test: TextPredicate, _ operand: PredicateOperand, _ ignoresCase: Bool, _ part: String? = nil
    ) -> String {
        if part?.isEmpty == true { return "\(operand.value) IS NOT NULL" }
        return dialect.holds(test, operand.value, ignoringCase: ignoresCase, &arguments)
    }

    private mutating func bindFolded(_ constant: PredicateConstant) -> String {
        dialect.bind(folded(constant), &arguments)
    }

    /// Returns a constant as an argument. The resolver has folded the case of texts already, and other values have no
    /// case.
    private func folded(_ constant: PredicateConstant) -> SQLArgument {
        if case .text(let text) = constant { dialect.argument(folded: text) } else { dialect.argument(constant) }
    }
}

extension PredicateOperand {
    /// Returns whether a value is a temporary key. No attribute equals such a value, because temporary keys are read as
    /// nil.
    fileprivate func isLocalKey(_ value: PredicateConstant) -> Bool { localKeys?.include(value) ?? false }
}
