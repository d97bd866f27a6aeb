import SyncCore

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

        /// Returns whether a value is a temporary key.
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
        _ operand: PredicateOperand, _ comparison: ResolvedComparison, for use: ConditionUse,
        existence: String? = nil
    ) -> String {
        let ignoresCase = comparison.ignoresCase
        switch comparison.test {
        case .isNull: return "\(existence ?? operand.value) IS NULL"
        case .isNotNull: return "\(existence ?? operand.value) IS NOT NULL"
        case .never: return dialect.constant(false)
        case .equal(let value): return equal(operand, value, ignoresCase, for: use)
        case .notEqual(let value): return "NOT \(equal(operand, value, ignoresCase, for: .value))"
        case .isIn(let values, let orNull):
            let null = orNull ? "\(existence ?? operand.value) IS NULL" : nil
            return contained(operand, values, or: null, ignoresCase, for: use)
        case .less(let bound): return ordered(operand, "<", bound, ignoresCase, for: use)
        case .lessOrEqual(let bound): return ordered(operand, "<=", bound, ignoresCase, for: use)
        case .greater(let bound): return ordered(operand, ">", bound, ignoresCase, for: use)
        case .greaterOrEqual(let bound): return ordered(operand, ">=", bound, ignoresCase, for: use)
        case .between(let first, let last):
            let isAbove = ordered(operand, ">=", first, ignoresCase, for: use)
            let isBelow = ordered(operand, "<=", last, ignoresCase, for: use)
            return "(\(isAbove) AND \(isBelow))"
        case .contains(let part): return holds(.contains(part), operand, ignoresCase, for: use, part)
        case .beginsWith(let part): return holds(.beginsWith(part), operand, ignoresCase, for: use, part)
        case .endsWith(let part): return holds(.endsWith(part), operand, ignoresCase, for: use, part)
        case .like(let pattern): return holds(.like(pattern), operand, ignoresCase, for: use)
        case .matches(let expression): return holds(.matches(expression), operand, ignoresCase, for: use)
        }
    }

    // MARK: Equality

    // A temporary key is read as nil, but equals itself.
    private mutating func equal(
        _ operand: PredicateOperand, _ constant: PredicateConstant, _ ignoresCase: Bool, for use: ConditionUse
    ) -> String {
        if ignoresCase { return dialect.isSame(dialect.folded(operand.value), bindFolded(constant), for: use) }
        let value = bind(constant, as: operand.type) + dialect.equalityClause(of: operand.type)
        return dialect.isSame(operand.stored, value, for: use)
    }

    private mutating func contained(
        _ operand: PredicateOperand, _ constants: [PredicateConstant], or null: String?, _ ignoresCase: Bool,
        for use: ConditionUse
    ) -> String {
        var alternatives = null.map { [$0] } ?? []
        if !constants.isEmpty {
            let column = ignoresCase ? dialect.folded(operand.value) : operand.stored
            let clause = ignoresCase ? "" : dialect.equalityClause(of: operand.type)
            let values = constants.map { ignoresCase ? folded($0) : dialect.argument($0) }
            let type = ignoresCase ? SQLValueType.folded : .column(operand.type)
            let test = dialect.isIn(column + clause, values, as: type, &arguments)
            alternatives.append(falseIfNull(test, of: column, operand, for: use))
        }
        return alternatives.isEmpty ? dialect.constant(false) : "(\(alternatives.joined(separator: " OR ")))"
    }

    // MARK: Order

    private mutating func ordered(
        _ operand: PredicateOperand, _ op: String, _ bound: PredicateConstant, _ ignoresCase: Bool,
        for use: ConditionUse
    ) -> String {
        if operand.type == .integer, case .exact(let number) = bound {
            return ordered(operand, op, number, for: use)
        }
        let clause = dialect.orderClause(of: operand.type)
        if ignoresCase {
            let column = dialect.folded(operand.value)
            return falseIfNull("\(column) \(op) \(bindFolded(bound))\(clause)", of: column, operand, for: use)
        }
        let test = "\(op) \(bind(bound, as: operand.type))\(clause)"
        if operand.isColumn { return orderedColumn(operand, test, for: use) }
        return falseIfNull("\(operand.value) \(test)", of: operand.value, operand, for: use)
    }

    /// Returns a comparison of the stored column, so that an index of it can be used.
    private func orderedColumn(_ operand: PredicateOperand, _ test: String, for use: ConditionUse) -> String {
        let isLocal = operand.isLocal.map { "NOT \($0)" }
        return conjunction(
            ["\(operand.stored) \(test)", dialect.isNotNull(operand.stored, for: use), isLocal].compactMap(\.self))
    }

    private func conjunction(_ conditions: [String]) -> String { "(\(conditions.joined(separator: " AND ")))" }

    /// Returns the comparison of an integer with any number, such as a fraction or a number beyond 64 bits, without
    /// rounding.
    private mutating func ordered(
        _ operand: PredicateOperand, _ op: String, _ number: ExactNumber, for use: ConditionUse
    ) -> String {
        let isBelow = op.hasPrefix("<")
        guard let floor = number.floor.map(PredicateConstant.integer) else {
            return isBelow == number.isBelowZero ? dialect.constant(false) : "\(operand.value) IS NOT NULL"
        }
        let exact = number.isWhole ? op : isBelow ? "<=" : ">"
        let test = "\(exact) \(bind(floor, as: .integer))"
        if operand.isColumn { return orderedColumn(operand, test, for: use) }
        let column = !isBelow && !operand.isLocalKey(floor) ? operand.stored : operand.value
        return falseIfNull("\(column) \(test)", of: column, operand, for: use)
    }

    /// Returns a comparison, with false in place of NULL for the use as a value.
    ///
    /// - Parameter column: The compared expression of the operand.
    private func falseIfNull(
        _ test: String, of column: String, _ operand: PredicateOperand, for use: ConditionUse
    ) -> String {
        guard operand.isColumn, column == operand.stored else { return dialect.falseIfNull(test, for: use) }
        return conjunction([test, dialect.isNotNull(column, for: use)].compactMap(\.self))
    }

    // MARK: Text

    /// Returns a text comparison.
    ///
    /// - Parameter part: The text to search for. Every text contains the empty text.
    private mutating func holds(
        _ test: TextPredicate, _ operand: PredicateOperand, _ ignoresCase: Bool, for use: ConditionUse,
        _ part: String? = nil
    ) -> String {
        if part?.isEmpty == true { return "\(operand.value) IS NOT NULL" }
        return dialect.holds(test, operand.value, ignoringCase: ignoresCase, for: use, &arguments)
    }

    private mutating func bindFolded(_ constant: PredicateConstant) -> String {
        dialect.bind(folded(constant), as: .folded, &arguments)
    }

    /// Returns a constant as an argument. The resolver has folded the case of texts already, and other values have no
    /// case.
    private func folded(_ constant: PredicateConstant) -> SQLArgument {
        if case .text(let text) = constant { dialect.argument(folded: text) } else { dialect.argument(constant) }
    }
}

extension PredicateOperand {
    /// Returns whether a value is a temporary key of the operand.
    fileprivate func isLocalKey(_ value: PredicateConstant) -> Bool { localKeys?.include(value) ?? false }
}
