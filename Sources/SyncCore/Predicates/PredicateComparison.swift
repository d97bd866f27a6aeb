/// One comparison of a path with a value: `ANY tags.name ==[c] 'new'`.
package struct PredicateComparison: Sendable, Hashable {
    package let path: PredicatePath
    package let `operator`: PredicateOperator
    package let ignoresCase: Bool
    package let literal: PredicateLiteral
    package let pathPlace: PredicatePlace
    package let valuePlace: PredicatePlace

    /// - Parameter names: Components of the path that are names, whatever they look like: of a model, or escaped.
    /// - Throws: ``SyncError`` `invalidPredicate` if the operator does not take such a value.
    init(
        _ path: PredicatePath, _ op: PredicateOperator, _ value: PredicateValue, ignoresCase: Bool = false,
        names: Set<String> = [], pathPlace: PredicatePlace = .none, valuePlace: PredicatePlace = .none
    ) throws {
        self.path = path
        self.operator = op
        self.ignoresCase = ignoresCase
        self.literal = try value.literal(at: valuePlace)
        self.pathPlace = pathPlace
        self.valuePlace = valuePlace
        if let problem = path.problem(admitting: names) { throw pathPlace.error(problem) }
        if let problem = valueProblem { throw valuePlace.error(problem) }
    }

    /// That there is no value at the end of a path of names.
    init(isNil path: PredicatePath) {
        self.path = path
        self.operator = .equal
        ignoresCase = false
        literal = .null
        pathPlace = .none
        valuePlace = .none
    }

    private var valueProblem: String? {
        switch (`operator`, literal) {
        case (.in, .list): nil
        case (.in, _): "IN needs a list, as in {1, 2}, not \(literal.kind)"
        case (.between, .list(let bounds)) where bounds.count == 2: nil
        case (.between, _): "BETWEEN needs a list of two values, as in {1, 10}, not \(literal.kind)"
        case (_, .list): "'\(`operator`.rawValue)' needs a single value, not a list; IN takes a list"
        case (.matches, .text(let pattern)):
            RegularExpression(pattern, ignoringCase: ignoresCase) == nil
                ? "MATCHES needs a regular expression, which '\(pattern)' is not" : nil
        case (let op, .text) where op.isTextual: nil
        case (let op, _) where op.isTextual: "\(op.rawValue) needs a text, not \(literal.kind)"
        default: nil
        }
    }
}
