/// A condition on the rows of an entity.
///
/// Made from text with arguments, or from Swift values:
///
/// ```swift
/// let text: RecordPredicate = .where("age >= %@ AND company.name == 'Apple'", 18)
/// let same = .attribute("age") >= 18 && .attribute("company.name") == "Apple"
/// ```
///
/// Conditions are two-valued, because they decide what is deleted: `!=` is true for nil against a value, an order
/// comparison with nil is false, and `NOT` is the exact complement.
public struct RecordPredicate: Sendable, Hashable {
    /// Holds for every row.
    public static let all = RecordPredicate(.constant(true))

    /// Holds for no row.
    public static let nothing = RecordPredicate(.constant(false))

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
    public static func `where`(_ format: String, _ arguments: (any PredicateArgument)?...) -> RecordPredicate {
        do {
            return try RecordPredicate(parsing: format, arguments: arguments)
        } catch {
            let error = error as? SyncError ?? SyncError(.invalidPredicate, "\(error)")
            return RecordPredicate(.invalid(error, text: format))
        }
    }

    /// The condition, if nothing is wrong with it.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate`, the first found in the text or the values it was made of.
    package func checked() throws -> PredicateNode {
        if let error = node.firstError { throw error }
        return node
    }

    static func nestedTooDeeply(at place: PredicatePlace = .none) -> SyncError {
        SyncError(
            .invalidPredicate, "the condition is nested deeper than \(maximumNesting) levels", line: place.line,
            column: place.column)
    }
}

extension RecordPredicate: ExpressibleByStringLiteral {
    /// A condition as literal text: `where: "age > 20"`. Values that vary go in with ``where(_:_:)``.
    public init(stringLiteral text: String) { self = .where(text) }
}

extension RecordPredicate: CustomStringConvertible {
    /// Text that reads as the same condition.
    public var description: String { PredicateText.text(node) }
}
