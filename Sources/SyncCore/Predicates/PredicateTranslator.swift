public import Foundation

/// A translator of the expressions of a Foundation predicate to the syntax tree of a condition.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
struct PredicateTranslator {
    /// The translation of an expression.
    enum Meaning {
        /// An attribute or relationship, as a path from the parameter of a closure.
        case path(Path)
        /// The number of rows of a relationship.
        case count(Path)
        case literal(PredicateLiteral)
        case list([PredicateLiteral])
        case range(lower: PredicateLiteral, upper: PredicateLiteral, isClosed: Bool)
        case term(PredicateTerm)
        case condition(PredicateNode)
        /// An optional Boolean: the value of the first condition, or nil if the second does not hold.
        case optional(PredicateNode, if: PredicateNode)
        /// An attribute with a default for nil: `age ?? 0`.
        case coalesced(Path, PredicateLiteral)
        /// The rows of a relationship that meet a condition.
        case filtered(Path, PredicateNode)
    }

    /// A path from the row that is the parameter of a closure.
    struct Path {
        /// The nesting level of the closure, from 0 for the outermost.
        let level: Int
        var components: [String]
        /// The type of the rows at the end; nil for an attribute.
        var destination: (any SyncEntity.Type)?
    }

    private var variables: [PredicateExpressions.VariableID: Path] = [:]
    private(set) var level = 0

    mutating func bind(_ variable: PredicateExpressions.VariableID, to type: any SyncEntity.Type) {
        variables[variable] = Path(level: level, components: [], destination: type)
    }

    mutating func bind(_ variable: PredicateExpressions.VariableID, to path: Path) { variables[variable] = path }

    func path(of variable: PredicateExpressions.VariableID) -> Path? { variables[variable] }

    // MARK: Expressions

    mutating func meaning(_ expression: Any) throws -> Meaning {
        guard let expression = expression as? any TranslatedExpression else { throw Self.refused(expression) }
        return try expression.meaning(&self)
    }

    static func refused(_ expression: Any, _ why: String = "is not supported") -> SyncError {
        var name = "\(type(of: expression))"
        if let end = name.firstIndex(of: "<") { name = String(name[..<end]) }
        return SyncError(.invalidPredicate, "cannot translate the predicate: \(name) \(why)")
    }

    static func refused(_ message: String) -> SyncError {
        SyncError(.invalidPredicate, "cannot translate the predicate: \(message)")
    }

    /// Translates a Boolean expression.
    mutating func condition(_ expression: Any) throws -> PredicateNode {
        switch try meaning(expression) {
        case .condition(let node): return node
        case .literal(.boolean(let value)): return .constant(value)
        case .path(let path): return try compared(path, .equal, .boolean(true))
        case .coalesced(let path, let literal): return try coalesced(path, literal, .equal, .boolean(true))
        default: throw Self.refused(expression, "is not a condition")
        }
    }

    /// Translates the body of a closure that tests the rows of a relationship.
    mutating func inner(
        _ variable: PredicateExpressions.VariableID, of rows: Path, _ test: Any
    ) throws -> PredicateNode {
        guard let destination = rows.destination else { throw Self.refused("\(rows.components) is not a relationship") }
        level += 1
        defer { level -= 1 }
        bind(variable, to: destination)
        return try condition(test)
    }

    mutating func rows(_ expression: Any) throws -> Path {
        guard case .path(let path) = try meaning(expression), path.destination != nil, !path.components.isEmpty else {
            throw Self.refused(expression, "is not a relationship")
        }
        return path
    }

    func related(_ quantifier: PredicatePath.Quantifier, _ rows: Path, _ condition: PredicateNode) throws
        -> PredicateNode
    {
        .related(
            PredicateExists(path: try named(rows, quantifier: quantifier), condition: condition, location: .none))
    }

    /// Returns a path in the form of the syntax tree.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` if the path begins at the row of an outer closure.
    func named(
        _ path: Path, isCount: Bool = false, quantifier: PredicatePath.Quantifier? = nil
    ) throws -> PredicatePath {
        guard path.level == level else {
            throw Self.refused(
                "'\(path.components.joined(separator: "."))' belongs to a row of an outer closure; a closure can only use its own row"
            )
        }
        return PredicatePath(components: path.components, isCount: isCount, quantifier: quantifier)
    }

    // MARK: Comparisons

    func compared(
        _ path: Path, _ op: PredicateOperator, _ literal: PredicateLiteral, isCount: Bool = false
    ) throws -> PredicateNode {
        .comparison(
            try PredicateComparison(
                named(path, isCount: isCount), op, PredicateValue(literal), names: Set(path.components)))
    }

    /// Compares an attribute that has a default for nil.
    func coalesced(
        _ path: Path, _ other: PredicateLiteral, _ op: PredicateOperator, _ literal: PredicateLiteral
    ) throws -> PredicateNode {
        guard let holds = op.holds(other, literal) else {
            throw Self.refused("the default after '??' and the compared value have different types")
        }
        return .or([
            .and([try compared(path, .notEqual, .null), try compared(path, op, literal)]),
            .and([try compared(path, .equal, .null), .constant(holds)]),
        ])
    }

    mutating func comparison(_ left: Any, _ op: PredicateOperator, _ right: Any) throws -> PredicateNode {
        let (first, second) = (try meaning(left), try meaning(right))
        switch (first, second) {
        case (.literal(let left), .literal(let right)):
            guard let holds = op.holds(left, right) else {
                throw Self.refused("both sides of a comparison are constants")
            }
            return .constant(holds)
        case (.path(let path), .literal(let literal)): return try compared(path, op, literal)
        case (.literal(let literal), .path(let path)): return try compared(path, op.turned, literal)
        case (.coalesced(let path, let other), .literal(let literal)): return try coalesced(path, other, op, literal)
        case (.literal(let literal), .coalesced(let path, let other)):
            return try coalesced(path, other, op.turned, literal)
        case (.count(let path), .literal(let literal)): return try compared(path, op, literal, isCount: true)
        case (.literal(let literal), .count(let path)): return try compared(path, op.turned, literal, isCount: true)
        case (.condition(let node), .literal(.boolean(let value))),
            (.literal(.boolean(let value)), .condition(let node)):
            return try same(node, value, op)
        case (.optional(let node, let presence), .literal(let literal)),
            (.literal(let literal), .optional(let node, let presence)):
            return try optional(node, presence, op, literal)
        default:
            let (left, right) = (try term(first, left), try term(second, right))
            // The parser accepts a calculation that begins with a path, so put a constant on the right.
            if case .literal = left {
                return .calculation(.init(left: right, operator: op.turned, right: left, location: .none))
            }
            return .calculation(.init(left: left, operator: op, right: right, location: .none))
        }
    }

    private func same(_ node: PredicateNode, _ value: Bool, _ op: PredicateOperator) throws -> PredicateNode {
        switch op {
        case .equal: return value ? node : .not(node)
        case .notEqual: return value ? .not(node) : node
        default: throw Self.refused("'\(op.rawValue)' cannot compare conditions")
        }
    }

    private func optional(
        _ node: PredicateNode, _ presence: PredicateNode, _ op: PredicateOperator, _ literal: PredicateLiteral
    ) throws -> PredicateNode {
        let isEqual: PredicateNode
        switch literal {
        case .boolean(true): isEqual = .and([presence, node])
        case .boolean(false): isEqual = .and([presence, .not(node)])
        case .null: isEqual = .not(presence)
        default: throw Self.refused("a condition cannot be compared with \(literal.kind)")
        }
        switch op {
        case .equal: return isEqual
        case .notEqual: return .not(isEqual)
        default: throw Self.refused("'\(op.rawValue)' cannot compare conditions")
        }
    }

    // MARK: Terms

    mutating func term(_ expression: Any) throws -> PredicateTerm { try term(try meaning(expression), expression) }

    private func term(_ meaning: Meaning, _ expression: Any) throws -> PredicateTerm {
        switch meaning {
        case .term(let term): return term
        case .path(let path) where path.destination == nil: return .path(try named(path), .none)
        case .count(let path): return .path(try named(path, isCount: true), .none)
        case .literal(let literal): return .literal(literal, .none)
        default: throw Self.refused(expression, "is not a value that can be calculated or compared")
        }
    }
}

extension PredicateOperator {
    /// The operator that gives the same result if the operands are swapped.
    fileprivate var turned: PredicateOperator {
        switch self {
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        default: self
        }
    }

    /// Compares two constants; nil if they are not comparable.
    fileprivate func holds(_ left: PredicateLiteral, _ right: PredicateLiteral) -> Bool? {
        guard let test = ResolvedCalculation.Test(self) else { return nil }
        let types: [AttributeType] = [.decimal, .boolean, .string]
        let type = types.first { type in [left, right].allSatisfy { $0 == .null || $0.suits(type) } }
        guard let type else { return nil }
        let (first, second) = (left.constant(as: type), right.constant(as: type))
        // A literal that cannot be converted to the type cannot be compared.
        guard (first == nil) == (left == .null), (second == nil) == (right == .null) else { return nil }
        return test.holds(first, second)
    }
}

extension PredicateLiteral {
    fileprivate func suits(_ type: AttributeType) -> Bool {
        switch (self, type) {
        case (.number, .decimal), (.boolean, .boolean), (.text, .string): true
        default: false
        }
    }
}

// MARK: - RowPredicate+Foundation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension RowPredicate {
    /// Creates a condition from a Foundation predicate on the rows of a type.
    ///
    /// ```swift
    /// let busy = try RowPredicate(#Predicate<User> { user in
    ///     user.age > 18 && user.notes.contains { $0.stars > 2 && !$0.isDraft }
    /// })
    /// ```
    /// The condition has the same result as the predicate, with these exceptions:
    ///
    /// - Strings are compared, ordered and searched by their bytes. Two Unicode forms of `é` differ, and the decomposed
    ///   form contains `e`.
    /// - Dates have millisecond precision. A calculation with the result NaN is nil.
    /// - Foundation traps on 64-bit overflow, on division by zero, and on unwrapping nil. In a condition, the result of
    ///   these operations is nil. An order comparison with nil is false. Calculations with smaller integer types do not
    ///   overflow.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` for an expression that cannot be translated. The message gives the
    ///   reason.
    public init<Value: SyncEntity>(_ predicate: Foundation.Predicate<Value>) throws {
        var translator = PredicateTranslator()
        translator.bind(predicate.variable.key, to: Value.self)
        self.init(try translator.condition(predicate.expression))
        if let error = node.firstError { throw error }
    }

    /// Creates a condition from a Foundation predicate; nil means all rows. If the predicate cannot be translated, each
    /// call that uses the condition throws the error.
    package init<Value: SyncEntity>(checkedInUse predicate: Foundation.Predicate<Value>?) {
        do {
            self = try predicate.map { try RowPredicate($0) } ?? .all
        } catch {
            self.init(.invalid(error as? SyncError ?? SyncError(.invalidPredicate, "\(error)"), text: ""))
        }
    }
}
