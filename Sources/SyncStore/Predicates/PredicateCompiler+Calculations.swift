import SyncCore

extension PredicateCompiler {
    /// A comparison of two calculated values; each is NULL where it has none. In parentheses.
    mutating func condition(
        _ calculation: ResolvedCalculation, from entity: CompiledEntity, _ alias: String
    ) -> String {
        let left = term(calculation.left, from: entity, alias)
        let right = term(calculation.right, from: entity, alias)
        let collation = dialect.collation(of: calculation.type).map { " COLLATE \($0)" } ?? ""
        switch calculation.test {
        case .equal: return "(\(dialect.isSame(left, right)))"
        case .notEqual: return "(NOT \(dialect.isSame(left, right)))"
        case .less: return dialect.falseIfNull("\(left) < \(right)\(collation)")
        case .lessOrEqual: return dialect.falseIfNull("\(left) <= \(right)\(collation)")
        case .greater: return dialect.falseIfNull("\(left) > \(right)\(collation)")
        case .greaterOrEqual: return dialect.falseIfNull("\(left) >= \(right)\(collation)")
        }
    }

    /// A single term.
    private mutating func term(
        _ term: ResolvedCalculation.Term, from entity: CompiledEntity, _ alias: String
    ) -> String {
        switch term {
        case .constant(let constant): return bind(constant)
        case .attribute(let hops, _, let slot): return attribute(hops, slot, from: entity, alias).value
        case .count(let hops, let last): return count(hops, last, from: entity, alias).value
        case .asDouble(let inner): return dialect.asDouble(self.term(inner, from: entity, alias))
        case .integer: return dialect.whole(operation(term, from: entity, alias))
        case .double: return "(\(operation(term, from: entity, alias)))"
        }
    }

    /// Operations without what must stand around them: parsers take only so much nesting, and chains have none.
    private mutating func operation(
        _ term: ResolvedCalculation.Term, from entity: CompiledEntity, _ alias: String
    ) -> String {
        switch term {
        case .integer(let left, let operation, let right), .double(let left, let operation, let right):
            let first = operand(left, of: operation, isFirst: true, from: entity, alias)
            return dialect.operation(
                operation, first, operand(right, of: operation, isFirst: false, from: entity, alias))
        default: return self.term(term, from: entity, alias)
        }
    }

    private mutating func operand(
        _ term: ResolvedCalculation.Term, of outer: PredicateTerm.Operation, isFirst: Bool,
        from entity: CompiledEntity, _ alias: String
    ) -> String {
        guard let inner = term.operation, outer != .remainder || !term.isWhole else {
            return self.term(term, from: entity, alias)
        }
        let sql = operation(term, from: entity, alias)
        let stands = isFirst ? inner.rank >= outer.rank : inner.rank > outer.rank
        return stands ? sql : "(\(sql))"
    }
}

extension ResolvedCalculation.Term {
    fileprivate var operation: PredicateTerm.Operation? {
        switch self {
        case .integer(_, let operation, _), .double(_, let operation, _): operation
        default: nil
        }
    }

    fileprivate var isWhole: Bool { if case .integer = self { true } else { false } }
}
