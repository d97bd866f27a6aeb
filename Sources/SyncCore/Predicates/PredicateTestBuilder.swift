/// Checks an operator and its value against a type, and says what is to be tested.
struct PredicateTestBuilder {
    let comparison: PredicateComparison
    let type: AttributeType
    let root: CompiledEntity

    /// - Throws: ``SyncError`` `invalidPredicate` with the place of the path or the value.
    func test() throws -> ResolvedComparison.Test {
        try checkOperator()
        switch (comparison.operator, comparison.literal) {
        case (.equal, .null): return .isNull
        case (.notEqual, .null): return .isNotNull
        case (_, .null): return .never
        case (.in, .list(let literals)):
            return .isIn(try constants(literals.filter { $0 != .null }), orNull: literals.contains(.null))
        case (_, .list(let bounds)):
            let values = try bounds.filter { $0 != .null }.map(ordered)
            return values.count == 2 ? .between(values[0], values[1]) : .never
        case (.equal, let literal): return .equal(try constant(literal))
        case (.notEqual, let literal): return .notEqual(try constant(literal))
        case (.less, let literal): return .less(try ordered(literal))
        case (.lessOrEqual, let literal): return .lessOrEqual(try ordered(literal))
        case (.greater, let literal): return .greater(try ordered(literal))
        case (.greaterOrEqual, let literal): return .greaterOrEqual(try ordered(literal))
        case (.matches, .text(let pattern)): return .matches(try expression(pattern))
        case (let op, .text(let text)): return textual(op, comparison.ignoresCase ? CaseFolding.fold(text) : text)
        case (_, let literal): throw mismatch(literal)
        }
    }

    private func expression(_ pattern: String) throws -> RegularExpression {
        if let expression = RegularExpression(pattern, ignoringCase: comparison.ignoresCase) { return expression }
        throw comparison.valuePlace.error("MATCHES needs a regular expression, which '\(pattern)' is not")
    }

    private func textual(_ op: PredicateOperator, _ text: String) -> ResolvedComparison.Test {
        switch op {
        case .contains: .contains(text)
        case .beginsWith: .beginsWith(text)
        case .endsWith: .endsWith(text)
        default: .like(text)
        }
    }

    /// Whether the operator suits the type.
    private func checkOperator() throws {
        let (op, name) = (comparison.operator, comparison.path.name)
        let isText = type == .string || type == .url
        if comparison.literal != .null, !isText, op.isTextual || comparison.ignoresCase {
            let what = op.isTextual ? op.rawValue : "[c]"
            throw comparison.pathPlace.error(
                "\(what) needs a text, and '\(name)' is of type \(type.rawValue)", entity: root.name)
        }
        if op.isOrdering, type == .binary || type == .json || type == .transformable {
            throw comparison.pathPlace.error(
                "'\(name)' is of type \(type.rawValue), which has no order", entity: root.name)
        }
        if type == .transformable, comparison.literal != .null {
            throw comparison.pathPlace.error(
                "'\(name)' is transformable: it can only be compared with nil", entity: root.name)
        }
    }

    // MARK: Values

    private func constant(_ literal: PredicateLiteral) throws -> PredicateConstant {
        guard let constant = literal.constant(as: type) else { throw mismatch(literal) }
        return comparison.ignoresCase ? constant.folded : constant
    }

    /// Each once, in their order.
    private func constants(_ literals: [PredicateLiteral]) throws -> [PredicateConstant] {
        var seen: Set<PredicateConstant> = []
        return try literals.map(constant).filter { seen.insert($0).inserted }
    }

    /// Integers are ordered with fractions too, and with numbers beyond 64 bits, without rounding. Texts are ordered by their
    /// bytes, so that a number has no place among them.
    private func ordered(_ literal: PredicateLiteral) throws -> PredicateConstant {
        switch (type, literal) {
        case (.string, .number), (.string, .boolean):
            throw comparison.valuePlace.error(
                "'\(comparison.path.name)' is of type string, whose order is that of letters: \(literal.kind) has none "
                    + "there; quotes make it a text", entity: root.name)
        default: break
        }
        guard type == .integer else { return try constant(literal) }
        guard let number = literal.number else { throw mismatch(literal) }
        return .exact(number)
    }

    private func mismatch(_ literal: PredicateLiteral) -> SyncError {
        comparison.valuePlace.error(
            "'\(comparison.path.name)' is of type \(type.rawValue), which \(literal.kind) is not", entity: root.name)
    }
}
