public import Foundation

/// A condition on the rows of an entity.
///
/// Made from text with arguments, or from Swift values:
///
/// ```swift
/// let text: RowPredicate = .where("age >= %@ AND company.name == 'Apple'", 18)
/// let same = .attribute("age") >= 18 && .attribute("company.name") == "Apple"
/// ```
///
/// Conditions are two-valued, because they decide what is deleted: `!=` is true for nil against a value, an order
/// comparison with nil is false, and `NOT` is the exact complement.
public struct RowPredicate: Sendable, Hashable {
    /// Holds for every row.
    public static let all = RowPredicate(.constant(true))

    /// Holds for no row.
    public static let nothing = RowPredicate(.constant(false))

    /// How deeply conditions may be nested.
    package static let maximumNesting = 100

    let node: PredicateNode
    let nesting: Int

    init(_ node: PredicateNode) {
        let nesting = node.nesting
        self.node = nesting > Self.maximumNesting ? .invalid(Self.nestedTooDeeply(), text: "") : node
        self.nesting = min(nesting, Self.maximumNesting)
    }

    /// Reads a condition such as `age >= 18 AND ANY tags.id IN {1, 2}`.
    ///
    /// - Parameters:
    ///   - text: the condition; `%@` stands for a value, `%K` for a path.
    ///   - arguments: the values and paths, in order. They are never read as text of the condition.
    /// - Throws: ``SyncError`` `invalidPredicate` with line and column.
    public init(parsing text: String, _ arguments: (any PredicateArgument)?...) throws {
        try self.init(parsing: text, arguments: arguments)
    }

    /// Reads a condition such as `age >= %@`, with the arguments in an array.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` with line and column.
    public init(parsing text: String, arguments: [(any PredicateArgument)?]) throws {
        self.init(try PredicateParser.parse(text, arguments.map { $0?.predicateValue ?? .null }))
    }

    /// Reads a condition without throwing: what is wrong with it is thrown where it is used.
    public static func `where`(_ format: String, _ arguments: (any PredicateArgument)?...) -> RowPredicate {
        do {
            return try RowPredicate(parsing: format, arguments: arguments)
        } catch {
            let error = error as? SyncError ?? SyncError(.invalidPredicate, "\(error)")
            return RowPredicate(.invalid(error, text: format))
        }
    }

    /// The condition, if nothing is wrong with it.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate`, the first found in the text or the values it was made of.
    package func checked() throws -> PredicateNode {
        if let error = node.firstError { throw error }
        return node
    }

    static func nestedTooDeeply(at place: PredicateSourceLocation = .none) -> SyncError {
        SyncError(
            .invalidPredicate, "the condition is nested deeper than \(maximumNesting) levels", line: place.line,
            column: place.column)
    }
}

extension RowPredicate: ExpressibleByStringLiteral {
    /// A condition as literal text: `where: "age > 20"`. Values that vary go in with ``where(_:_:)``.
    public init(stringLiteral text: String) { self = .where(text) }
}

extension RowPredicate: CustomStringConvertible {
    /// Text that reads as the same condition.
    public var description: String { PredicateText.text(node) }
}

/// The tree of a condition: the closed set of what there is.
package indirect enum PredicateNode: Sendable, Hashable {
    case constant(Bool)
    /// At least two conditions, none of them an `and`.
    case and([PredicateNode])
    /// At least two conditions, none of them an `or`.
    case or([PredicateNode])
    case not(PredicateNode)
    case comparison(PredicateComparison)
    case calculation(PredicateCalculation)
    case related(PredicateExists)
    /// What could not be read, with its text; thrown when the condition is used.
    case invalid(SyncError, text: String)

    /// How many levels of connectives it has; none for a comparison.
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

/// One comparison of a path with a value: `ANY tags.name ==[c] 'new'`.
package struct PredicateComparison: Sendable, Hashable {
    package let path: PredicatePath
    package let `operator`: PredicateOperator
    package let ignoresCase: Bool
    package let literal: PredicateLiteral
    package let pathPlace: PredicateSourceLocation
    package let valuePlace: PredicateSourceLocation

    /// - Parameter names: Components of the path that are names, whatever they look like: of a model, or escaped.
    /// - Throws: ``SyncError`` `invalidPredicate` if the operator does not take such a value.
    init(
        _ path: PredicatePath, _ op: PredicateOperator, _ value: PredicateValue, ignoresCase: Bool = false,
        names: Set<String> = [], pathPlace: PredicateSourceLocation = .none, valuePlace: PredicateSourceLocation = .none
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

/// How a condition compares the value of a path with a value given.
public enum PredicateOperator: String, Sendable, Hashable, CaseIterable {
    /// The same value; nil equals nil.
    case equal = "=="
    /// Another value; nil differs from every value.
    case notEqual = "!="
    /// Before the value given; never of nil. Texts are ordered by their bytes.
    case less = "<"
    /// Before the value given, or equal to it; never of nil.
    case lessOrEqual = "<="
    /// After the value given; never of nil.
    case greater = ">"
    /// After the value given, or equal to it; never of nil.
    case greaterOrEqual = ">="
    /// Equal to a value of a list.
    case `in` = "IN"
    /// Between the two values of a list, both included.
    case between = "BETWEEN"
    /// The text has the text given somewhere in it. Case counts, unless the condition says otherwise (`[c]`).
    case contains = "CONTAINS"
    /// The text begins with the text given.
    case beginsWith = "BEGINSWITH"
    /// The text ends with the text given.
    case endsWith = "ENDSWITH"
    /// The whole text matches a pattern in which `*` stands for any text and `?` for one character; a backslash
    /// before one of them takes it literally.
    case like = "LIKE"
    /// The whole text matches a regular expression, in the syntax of ICU, which is that of `NSRegularExpression`. One
    /// that backtracks much is as slow here as elsewhere: take none from strangers.
    case matches = "MATCHES"

    /// Whether it looks into text.
    package var isTextual: Bool {
        switch self {
        case .contains, .beginsWith, .endsWith, .like, .matches: true
        default: false
        }
    }

    /// Whether it asks which of two values comes first.
    package var isOrdering: Bool {
        switch self {
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .between: true
        default: false
        }
    }
}

/// A comparison of two values that are worked out for each row: `a + b > #c`.
package struct PredicateCalculation: Sendable, Hashable {
    let left: PredicateTerm
    let `operator`: PredicateOperator
    let right: PredicateTerm
    let place: PredicateSourceLocation
}

/// A condition on the rows that a relationship leads to, all of whose parts are about the same row: `ANY notes (stars >
/// 2 AND text CONTAINS 'x')`.
package struct PredicateExists: Sendable, Hashable {
    let path: PredicatePath
    let condition: PredicateNode
    let place: PredicateSourceLocation
}

/// What a calculation is made of: `age * 2`, `#company.size - 1`.
package indirect enum PredicateTerm: Sendable, Hashable {
    /// The five operations; between whole numbers a division has no rest.
    package enum Operation: String, Sendable, Hashable {
        case plus = "+"
        case minus = "-"
        case times = "*"
        case dividedBy = "/"
        case remainder = "MOD"

        /// How tightly it binds.
        package var rank: Int { [.plus, .minus].contains(self) ? 0 : 1 }
    }

    /// An attribute, or the number of rows that a relationship leads to; through to-one relationships.
    case path(PredicatePath, PredicateSourceLocation)
    case literal(PredicateLiteral, PredicateSourceLocation)
    case calculated(PredicateTerm, Operation, PredicateTerm, PredicateSourceLocation)

    /// How many operations are nested in each other.
    var nesting: Int {
        switch self {
        case .path, .literal: 0
        case .calculated(let left, _, let right, _): max(left.nesting, right.nesting) + 1
        }
    }
}

/// Where something stands in the text of a condition, for messages.
///
/// All places are equal: the same condition written with other blanks is the same condition.
package struct PredicateSourceLocation: Sendable, Hashable {
    package static let none = PredicateSourceLocation(line: nil, column: nil)

    /// From 1; nil for a condition that was not made from text.
    package let line: Int?
    /// In bytes, from 1.
    package let column: Int?

    package static func == (left: PredicateSourceLocation, right: PredicateSourceLocation) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}

    /// An error about the text here.
    package func error(_ message: String, entity: String? = nil) -> SyncError {
        SyncError(.invalidPredicate, message, entity: entity, line: line, column: column)
    }
}

// MARK: - Building

extension RowPredicate {
    /// That an attribute or to-one relationship of this name has no value, whatever its name looks like.
    package init(isNil name: String) {
        self.init(.comparison(PredicateComparison(isNil: PredicatePath(components: [name]))))
    }

    /// An attribute or to-one relationship. See ``PredicatePath/attribute(_:)``.
    public static func attribute(_ path: String) -> PredicatePath { .attribute(path) }

    /// See ``PredicatePath/any(_:)``.
    public static func any(_ path: String) -> PredicatePath { .any(path) }

    /// See ``PredicatePath/all(_:)``.
    public static func all(_ path: String) -> PredicatePath { .all(path) }

    /// See ``PredicatePath/none(_:)``.
    public static func none(_ path: String) -> PredicatePath { .none(path) }

    /// See ``PredicatePath/count(_:)``.
    public static func count(_ path: String) -> PredicatePath { .count(path) }

    /// One comparison. A value the operator does not take is an error where the predicate is used.
    public static func compare(
        _ path: PredicatePath, _ op: PredicateOperator, _ value: (any PredicateArgument)?, ignoringCase: Bool = false
    ) -> RowPredicate {
        do {
            let value = value?.predicateValue ?? .null
            return RowPredicate(.comparison(try PredicateComparison(path, op, value, ignoresCase: ignoringCase)))
        } catch {
            let error = error as? SyncError ?? SyncError(.invalidPredicate, "\(error)")
            return RowPredicate(.invalid(error, text: "\(path.name) \(op.rawValue)"))
        }
    }

    /// All of the conditions; with none, every row.
    public static func allOf(_ conditions: [RowPredicate]) -> RowPredicate {
        conditions.isEmpty ? .all : RowPredicate(.all(of: conditions.map(\.node)))
    }

    /// At least one of the conditions; with none, no row.
    public static func anyOf(_ conditions: [RowPredicate]) -> RowPredicate {
        conditions.isEmpty ? .nothing : RowPredicate(.any(of: conditions.map(\.node)))
    }

    /// Both conditions.
    public static func && (left: RowPredicate, right: RowPredicate) -> RowPredicate {
        RowPredicate(.all(of: [left.node, right.node]))
    }

    /// At least one of the conditions.
    public static func || (left: RowPredicate, right: RowPredicate) -> RowPredicate {
        RowPredicate(.any(of: [left.node, right.node]))
    }

    /// The exact complement.
    public static prefix func ! (predicate: RowPredicate) -> RowPredicate {
        RowPredicate(.not(predicate.node))
    }
}

// MARK: - Foundation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension RowPredicate {
    /// The condition that a predicate of Foundation's is, on the rows of a type.
    ///
    /// ```swift
    /// let busy = try RowPredicate(#Predicate<User> { user in
    ///     user.age > 18 && user.notes.contains { $0.stars > 2 && !$0.isDraft }
    /// })
    /// ```
    /// Rows and values mean the same to both, but for what a column keeps. Texts are compared, ordered and searched
    /// by their bytes: `é` in one spelling is not `é` in another, and has an `e` in the one of an `e` and an accent.
    /// Dates are of the millisecond, and a calculation whose result is no number has none. Where Foundation would trap,
    /// at an overflow or a nil that is unwrapped, there is no value, and a comparison with it is false.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` that names the expression for what has no translation.
    public init<Value: SyncEntity>(_ predicate: Foundation.Predicate<Value>) throws {
        var translator = PredicateTranslator()
        translator.bind(predicate.variable.key, to: Value.self)
        self.init(try translator.condition(predicate.expression))
        if let error = node.firstError { throw error }
    }
}
