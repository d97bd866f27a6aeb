import SyncCore

extension PredicateCompiler {
    /// - Parameter existence: what is NULL where there is no value, if that is another expression.
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
        return dialect.isSame(operand.stored, bind(constant))
    }

    private mutating func contained(
        _ operand: PredicateOperand, _ constants: [PredicateConstant], or null: String?, _ ignoresCase: Bool
    ) -> String {
        let constants = constants.filter { !operand.isLocalKey($0) }
        var alternatives = null.map { [$0] } ?? []
        if !constants.isEmpty {
            let column = ignoresCase ? dialect.folded(operand.value) : operand.stored
            let values = constants.map { ignoresCase ? folded($0) : dialect.argument($0) }
            alternatives.append(never(operand, column, null: dialect.isIn(column, values, &arguments)))
        }
        return alternatives.isEmpty ? dialect.constant(false) : "(\(alternatives.joined(separator: " OR ")))"
    }

    // MARK: Order

    private mutating func ordered(
        _ operand: PredicateOperand, _ op: String, _ bound: PredicateConstant, _ ignoresCase: Bool
    ) -> String {
        if operand.type == .integer, case .exact(let number) = bound { return ordered(operand, op, number) }
        let collation = dialect.collation(of: operand.type).map { " COLLATE \($0)" } ?? ""
        if ignoresCase {
            let column = dialect.folded(operand.value)
            return never(operand, column, null: "\(column) \(op) \(bindFolded(bound))\(collation)")
        }
        if operand.isColumn { return orderedColumn(operand, "\(op) \(bind(bound))\(collation)") }
        return never(operand, operand.value, null: "\(operand.value) \(op) \(bind(bound))\(collation)")
    }

    /// The column as it is stored, so that an index of it finds the rows.
    private func orderedColumn(_ operand: PredicateOperand, _ test: String) -> String {
        let isLocal = operand.isLocal.map { " AND NOT \($0)" } ?? ""
        return "(\(operand.stored) \(test) AND \(operand.stored) IS NOT NULL\(isLocal))"
    }

    /// Integers compare with fractions too, and with numbers beyond 64 bits, without rounding.
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

    /// Makes NULL count as false.
    private func never(_ operand: PredicateOperand, _ column: String, null test: String) -> String {
        operand.isColumn && column == operand.stored
            ? "(\(test) AND \(column) IS NOT NULL)" : dialect.falseIfNull(test)
    }

    // MARK: Text

    /// - Parameter part: What it is looked for; every text has an empty one.
    private mutating func holds(
        _ test: TextTest, _ operand: PredicateOperand, _ ignoresCase: Bool, _ part: String? = nil
    ) -> String {
        if part?.isEmpty == true { return "\(operand.value) IS NOT NULL" }
        return dialect.holds(test, operand.value, ignoringCase: ignoresCase, &arguments)
    }

    private mutating func bindFolded(_ constant: PredicateConstant) -> String {
        dialect.bind(folded(constant), &arguments)
    }

    /// The resolver has folded it; only text ignores case.
    private func folded(_ constant: PredicateConstant) -> SQLArgument {
        if case .text(let text) = constant { dialect.argument(folded: text) } else { dialect.argument(constant) }
    }
}

extension PredicateOperand {
    /// Whether a value is a local key, which the attribute never reads as.
    fileprivate func isLocalKey(_ value: PredicateConstant) -> Bool { localKeys?.include(value) ?? false }
}
