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
        case .integer(let left, let operation, let right):
            let first = self.term(left, from: entity, alias)
            return dialect.whole(operation, first, self.term(right, from: entity, alias))
        case .double(let left, let operation, let right):
            let first = self.term(left, from: entity, alias)
            return dialect.floating(operation, first, self.term(right, from: entity, alias))
        }
    }
}
