/// A condition on the rows of an entity.
///
/// Create a condition from a string with arguments, and combine conditions with `&&`, `||` and `!`:
///
/// ```swift
/// let adults: RowPredicate = .where("age >= %@ AND company.name == 'Apple'", 18)
/// let others = !adults && "name != nil"
/// ```
///
/// For each row, a condition is either true or false, and never unknown as in SQL. If an attribute is nil, `!=` with a
/// value is true, and an order comparison is false. `NOT` is true for exactly the rows for which its operand is false.
public struct RowPredicate: Sendable, Hashable {
    /// The condition that holds for every row.
    public static let all = RowPredicate(.constant(true))

    /// The largest nesting depth of conditions.
    package static let maximumNesting = 100

    let node: PredicateNode

    init(_ node: PredicateNode) {
        self.node = node.nesting > Self.maximumNesting ? .invalid(Self.nestedTooDeeply(), text: "") : node
    }

    /// Creates a condition from a string such as `age >= 18 AND ANY tags.id IN {1, 2}`.
    ///
    /// - Parameters:
    ///   - text: The condition. `%@` stands for a value, `%K` for a path.
    ///   - arguments: The values and paths, in order. An argument is never parsed as part of the condition.
    /// - Throws: ``SyncError`` `invalidPredicate` with line and column.
    package init(parsing text: String, _ arguments: (any PredicateArgument)?...) throws {
        try self.init(parsing: text, arguments: arguments)
    }

    /// Creates a condition from a string such as `age >= %@`, with its arguments in an array.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` with line and column.
    package init(parsing text: String, arguments: [(any PredicateArgument)?]) throws {
        self.init(try PredicateParser.parse(text, arguments.map { $0?.predicateValue ?? .null }))
    }

    /// Creates a condition from a string with arguments. If the condition is invalid, each call that uses the condition
    /// throws ``SyncError`` `invalidPredicate`.
    ///
    /// - Parameters:
    ///   - format: The condition. `%@` stands for a value, and `%K` for a path.
    ///   - arguments: The values and paths, in order. An argument is never parsed as part of the condition.
    public static func `where`(_ format: String, _ arguments: (any PredicateArgument)?...) -> RowPredicate {
        do {
            return try RowPredicate(parsing: format, arguments: arguments)
        } catch {
            let error = error as? SyncError ?? SyncError(.invalidPredicate, "\(error)")
            return RowPredicate(.invalid(error, text: format))
        }
    }

    /// Returns the syntax tree of the condition, if it is valid.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` with the first problem of the condition.
    package func checked() throws -> PredicateNode {
        if let error = node.firstError { throw error }
        return node
    }

    static func nestedTooDeeply(at location: PredicateSourceLocation = .none) -> SyncError {
        SyncError(
            .invalidPredicate, "the predicate is nested more than \(maximumNesting) levels deep", line: location.line,
            column: location.column)
    }
}

extension RowPredicate: ExpressibleByStringInterpolation {
    /// Creates a condition from a string literal, as in `where: "age > 20"`. If the condition is invalid, each call
    /// that uses the condition throws ``SyncError`` `invalidPredicate`. An interpolated value is parsed as part of the
    /// condition. Pass values as arguments of ``where(_:_:)`` instead.
    public init(stringLiteral text: String) { self = .where(text) }
}

extension RowPredicate: CustomStringConvertible {
    /// The condition as a string. If the condition is valid, parsing the string gives an equivalent condition.
    public var description: String { PredicateText.text(node) }
}

/// The syntax tree of a condition.
package indirect enum PredicateNode: Sendable, Hashable {
    case constant(Bool)
    /// At least two conditions. In a parsed condition, none of them is an `and`.
    case and([PredicateNode])
    /// At least two conditions. In a parsed condition, none of them is an `or`.
    case or([PredicateNode])
    case not(PredicateNode)
    case comparison(PredicateComparison)
    case calculation(PredicateCalculation)
    case related(PredicateExists)
    /// An invalid condition with its text. A call that uses the condition throws the error.
    case invalid(SyncError, text: String)

    /// The number of nested levels; 0 for a comparison.
    package var nesting: Int {
        switch self {
        case .constant, .comparison, .invalid: 0
        case .not(let node): node.nesting + 1
        case .related(let related): related.condition.nesting + 1
        case .calculation(let calculation): max(calculation.left.nesting, calculation.right.nesting)
        case .and(let nodes), .or(let nodes): (nodes.map(\.nesting).max() ?? 0) + 1
        }
    }

    var firstError: SyncError? {
        switch self {
        case .constant, .comparison, .calculation: nil
        case .related(let related): related.condition.firstError
        case .invalid(let error, _): error
        case .not(let node): node.firstError
        case .and(let nodes), .or(let nodes): nodes.lazy.compactMap(\.firstError).first
        }
    }

    static func all(of nodes: [PredicateNode]) -> PredicateNode {
        let flat = nodes.flatMap { node in
            if case .and(let inner) = node { inner } else { [node] }
        }
        return flat.count == 1 ? flat[0] : .and(flat)
    }

    static func any(of nodes: [PredicateNode]) -> PredicateNode {
        let flat = nodes.flatMap { node in
            if case .or(let inner) = node { inner } else { [node] }
        }
        return flat.count == 1 ? flat[0] : .or(flat)
    }
}

/// A comparison of a path with a value: `ANY tags.name ==[c] 'new'`.
package struct PredicateComparison: Sendable, Hashable {
    package let path: PredicatePath
    package let `operator`: PredicateOperator
    package let ignoresCase: Bool
    package let literal: PredicateLiteral
    package let pathLocation: PredicateSourceLocation
    package let valueLocation: PredicateSourceLocation

    /// Creates a comparison.
    ///
    /// - Parameter names: The components of the path that are names even if they begin with `@`.
    /// - Throws: ``SyncError`` `invalidPredicate` if the operator does not accept the value, or if the path is invalid.
    init(
        _ path: PredicatePath, _ op: PredicateOperator, _ value: PredicateValue, ignoresCase: Bool = false,
        names: Set<String> = [], pathLocation: PredicateSourceLocation = .none,
        valueLocation: PredicateSourceLocation = .none
    ) throws {
        self.path = path
        self.operator = op
        self.ignoresCase = ignoresCase
        self.literal = try value.literal(at: valueLocation)
        self.pathLocation = pathLocation
        self.valueLocation = valueLocation
        if let problem = path.problem(admitting: names) { throw pathLocation.error(problem) }
        if let problem = valueProblem { throw valueLocation.error(problem) }
    }

    /// Creates a comparison that holds if the value at a path is nil.
    init(isNil path: PredicatePath) {
        self.path = path
        self.operator = .equal
        ignoresCase = false
        literal = .null
        pathLocation = .none
        valueLocation = .none
    }

    private var valueProblem: String? {
        switch (`operator`, literal) {
        case (.in, .list): nil
        case (.in, _): "IN requires a list such as {1, 2}, not \(literal.kind)"
        case (.between, .list(let bounds)) where bounds.count == 2: nil
        case (.between, _): "BETWEEN requires a list of two values such as {1, 10}, not \(literal.kind)"
        case (_, .list): "'\(`operator`.rawValue)' requires a single value, not a list; use IN for a list"
        case (.matches, .text(let pattern)):
            RegularExpression(pattern, ignoringCase: ignoresCase) == nil
                ? "'\(pattern)' is not a regular expression" : nil
        case (let op, .text) where op.isTextual: nil
        case (let op, _) where op.isTextual: "\(op.rawValue) requires a string, not \(literal.kind)"
        default: nil
        }
    }
}

/// A comparison operator.
package enum PredicateOperator: String, Sendable, Hashable, CaseIterable {
    /// The same value. Nil equals nil.
    case equal = "=="
    /// A different value. Nil differs from every value.
    case notEqual = "!="
    /// Less than the value. False for nil. Strings are ordered by their bytes.
    case less = "<"
    /// Less than or equal to the value. False for nil.
    case lessOrEqual = "<="
    /// Greater than the value. False for nil.
    case greater = ">"
    /// Greater than or equal to the value. False for nil.
    case greaterOrEqual = ">="
    /// Equal to one value of a list.
    case `in` = "IN"
    /// Between the two values of a list, both included.
    case between = "BETWEEN"
    /// The string contains the value. All string operators are case-sensitive, unless the condition has `[c]`.
    case contains = "CONTAINS"
    /// The string begins with the value.
    case beginsWith = "BEGINSWITH"
    /// The string ends with the value.
    case endsWith = "ENDSWITH"
    /// The whole string matches a pattern: `*` stands for any text, and `?` for one character. After a backslash, `*`
    /// and `?` are literal.
    case like = "LIKE"
    /// The whole string matches a regular expression in ICU syntax, as in `NSRegularExpression`. A pattern that
    /// backtracks can be very slow, so do not accept patterns from untrusted sources.
    case matches = "MATCHES"

    /// Whether the operator requires a string.
    package var isTextual: Bool {
        switch self {
        case .contains, .beginsWith, .endsWith, .like, .matches: true
        default: false
        }
    }

    /// Whether the operator compares the order of values.
    package var isOrdering: Bool {
        switch self {
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .between: true
        default: false
        }
    }
}

/// A comparison of two values that are calculated for each row: `a + b > #c`.
package struct PredicateCalculation: Sendable, Hashable {
    let left: PredicateTerm
    let `operator`: PredicateOperator
    let right: PredicateTerm
    let location: PredicateSourceLocation
}

/// A condition on the rows of a relationship. All parts of the condition apply to the same row:
/// `ANY notes (stars > 2 AND text CONTAINS 'x')`.
package struct PredicateExists: Sendable, Hashable {
    let path: PredicatePath
    let condition: PredicateNode
    let location: PredicateSourceLocation
}

/// An operand of a calculation: `age * 2`, `#company.size - 1`.
package indirect enum PredicateTerm: Sendable, Hashable {
    /// An arithmetic operation. The division of integers truncates.
    package enum Operation: String, Sendable, Hashable {
        case plus = "+"
        case minus = "-"
        case times = "*"
        case dividedBy = "/"
        case remainder = "MOD"

        /// The precedence of the operation: 0 for addition and subtraction, 1 for the others.
        package var rank: Int { [.plus, .minus].contains(self) ? 0 : 1 }
    }

    /// An attribute, or the number of rows of a relationship, reached through to-one relationships.
    case path(PredicatePath, PredicateSourceLocation)
    case literal(PredicateLiteral, PredicateSourceLocation)
    case calculated(PredicateTerm, Operation, PredicateTerm, PredicateSourceLocation)

    /// The nesting depth of the operations; 0 for a path or a literal.
    var nesting: Int {
        switch self {
        case .path, .literal: 0
        case .calculated(let left, _, let right, _): max(left.nesting, right.nesting) + 1
        }
    }
}

/// A location in the text of a condition, for messages.
///
/// All locations are equal, so conditions that differ only in whitespace are equal.
package struct PredicateSourceLocation: Sendable, Hashable {
    package static let none = PredicateSourceLocation(line: nil, column: nil)

    /// The line, from 1; nil for a condition that was not parsed from text.
    package let line: Int?
    /// The column in bytes, from 1.
    package let column: Int?

    package static func == (left: PredicateSourceLocation, right: PredicateSourceLocation) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}

    /// Returns an error with this location.
    package func error(_ message: String, entity: String? = nil) -> SyncError {
        SyncError(.invalidPredicate, message, entity: entity, line: line, column: column)
    }
}

// MARK: - Building

extension RowPredicate {
    /// Creates a condition that holds if an attribute or to-one relationship is nil. The name may begin with `@`.
    package init(isNil name: String) {
        self.init(.comparison(PredicateComparison(isNil: PredicatePath(components: [name]))))
    }

    /// Returns a condition that holds if both given conditions hold.
    public static func && (left: RowPredicate, right: RowPredicate) -> RowPredicate {
        RowPredicate(.all(of: [left.node, right.node]))
    }

    /// Returns a condition that holds if at least one of the two given conditions holds.
    public static func || (left: RowPredicate, right: RowPredicate) -> RowPredicate {
        RowPredicate(.any(of: [left.node, right.node]))
    }

    /// Returns a condition that holds for exactly the rows for which the given condition does not hold.
    public static prefix func ! (predicate: RowPredicate) -> RowPredicate {
        RowPredicate(.not(predicate.node))
    }
}

// MARK: - Paths

/// The left side of a comparison: an attribute or relationship of the row, or of a related row, such as `company.name`,
/// `ANY tags.id` or `notes.@count`.
package struct PredicatePath: Sendable, Hashable {
    /// How many of the rows at the end of a to-many relationship must meet the comparison.
    package enum Quantifier: String, Sendable, Hashable {
        /// At least one row.
        case any = "ANY"
        /// Every row. True if there are no rows.
        case all = "ALL"
        /// No row. True if there are no rows.
        case none = "NONE"
    }

    package static let countName = "@count"

    package let quantifier: Quantifier?
    package let components: [String]
    /// Whether the path stands for the number of rows of its last relationship.
    package let isCount: Bool

    init(components: [String], isCount: Bool = false, quantifier: Quantifier? = nil) {
        self.components = components
        self.isCount = isCount
        self.quantifier = quantifier
    }

    /// Returns the problem of an invalid path; nil if the path is valid.
    ///
    /// - Parameter names: The components that are names even if they begin with `@`.
    func problem(admitting names: Set<String> = []) -> String? {
        if components.contains(where: \.isEmpty) { return "a path has an empty name: '\(name)'" }
        if components.contains(where: { $0.hasPrefix("@") && !names.contains($0) }) {
            return "unsupported collection operator in '\(name)'; only @count at the end of a path is supported"
        }
        return nil
    }

    /// The path as text, without its quantifier: `tags.@count`.
    package var name: String { (components + (isCount ? [Self.countName] : [])).joined(separator: ".") }
}
