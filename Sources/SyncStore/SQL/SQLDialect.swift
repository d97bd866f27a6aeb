package import Foundation
package import SyncCore

/// The parts of a condition whose syntax depends on the database.
///
/// The compiler decides which columns to compare, how to join tables and where NULL counts as false. The dialect
/// decides how values are stored, and how they are compared by bytes, by number or without case. Each condition that a
/// dialect returns can be an operand of `NOT`, `AND` and `OR` without parentheses.
package protocol SQLDialect: Sendable {
    // MARK: Names and literals

    /// Returns a name as a quoted identifier.
    func quoted(_ name: String) -> String

    /// Returns text as a literal.
    func literal(_ text: String) -> String

    // MARK: Values

    /// The largest number of arguments of a condition: the limit of the database, minus a reserve for the rest of the
    /// statement.
    var maximumArguments: Int { get }

    /// Returns the value as a column stores it.
    func argument(_ constant: PredicateConstant) -> SQLArgument

    /// Returns folded text as an argument to compare with the result of ``folded(_:)``.
    func argument(folded text: String) -> SQLArgument

    /// Returns the expression of a value: a placeholder, or other SQL for a value that binding would change.
    func bind(_ value: SQLArgument, _ arguments: inout SQLArguments) -> String

    // MARK: Conditions

    /// Returns a condition that is true for all rows, or false for all.
    func constant(_ holds: Bool) -> String

    /// Returns the condition, with false in place of NULL.
    func falseIfNull(_ condition: String) -> String

    /// Returns the condition that an expression equals a value; false, not NULL, if the expression is NULL.
    func isSame(_ expression: String, _ value: String) -> String

    /// Returns the condition that an expression equals one of many values; NULL if the expression is NULL.
    func isIn(_ expression: String, _ values: [SQLArgument], _ arguments: inout SQLArguments) -> String

    /// Returns a JSON array of the values of expressions. An expression that is a JSON array itself is nested.
    func jsonArray(_ expressions: [String]) -> String

    /// Returns a member of the JSON in an expression, as a column of the type stores it; NULL if the member is of
    /// another type.
    ///
    /// - Parameters:
    ///   - keys: The keys that lead to the member. They contain no quotation marks, backslashes or control characters.
    ///   - type: `string`, `decimal` or `boolean`. Nil for an expression that is NULL only if the member is absent or
    ///     null.
    func member(_ keys: [String], of document: String, as type: AttributeType?) -> String

    /// Returns the collation that orders numbers by value and text by bytes; nil if columns of the type have that order
    /// already.
    func collation(of type: AttributeType) -> String?

    /// Returns the collation in which only text with the same bytes is equal; nil if columns of the type have that
    /// equality already.
    func equalityCollation(of type: AttributeType) -> String?

    /// Returns the condition that a text column holds a temporary key (``TemporaryKey``); NULL if the column is NULL.
    func isLocalKey(_ column: String) -> String

    // MARK: Calculations

    /// Returns an integer expression converted to floating point.
    func asDouble(_ expression: String) -> String

    /// Returns an operation on two integers, or on two floating-point numbers. It is NULL for a division by zero, and
    /// if the result is not a number. On integer overflow, the result may be any value for which ``whole(_:)`` returns
    /// NULL. This also holds for the result of further operations, except a remainder.
    func operation(_ operation: PredicateTerm.Operation, _ left: String, _ right: String) -> String

    /// Returns the result of integer operations; NULL if it is not an integer of 64 bits.
    func whole(_ expression: String) -> String

    // MARK: Text

    /// Returns text folded for comparison without case, as by `CaseFolding`. Equal folded texts have equal bytes.
    func folded(_ expression: String) -> String

    /// Returns the condition that a text passes a test; false, not NULL, if there is no text.
    func holds(
        _ test: TextPredicate, _ expression: String, ignoringCase ignoresCase: Bool, _ arguments: inout SQLArguments
    ) -> String
}

/// A test of a text.
///
/// If case is ignored, the text to search for is folded already, except in regular expressions.
package enum TextPredicate: Sendable {
    /// The text contains a part. The part is never empty, here and in the next two cases.
    case contains(String)
    case beginsWith(String)
    case endsWith(String)
    /// The whole text matches a pattern with `*` and `?` (``WildcardPattern``).
    case like(String)
    /// The whole text matches a regular expression.
    case matches(RegularExpression)
}

/// An argument of a statement, of a type that all databases have.
package enum SQLArgument: Sendable, Hashable {
    case null
    case integer(Int64)
    case double(Double)
    case text(String)
    case bytes(Data)
}

/// The arguments of a statement, in the order of their placeholders.
package struct SQLArguments: Sendable {
    package private(set) var values: [SQLArgument] = []
    private let preceding: Int

    /// Creates an empty list.
    ///
    /// - Parameter preceding: The number of arguments before these, for databases that number them.
    package init(after preceding: Int = 0) { self.preceding = preceding }

    /// Appends an argument.
    ///
    /// - Returns: Its number in the statement, from 1.
    @discardableResult
    package mutating func append(_ value: SQLArgument) -> Int {
        values.append(value)
        return preceding + values.count
    }
}

// MARK: - Collations

extension SQLDialect {
    /// Returns the clause after the last operand of a comparison by order, or after a term of an order.
    package func orderClause(of type: AttributeType) -> String { Self.clause(collation(of: type)) }

    /// Returns the clause after an operand of a comparison for equality.
    func equalityClause(of type: AttributeType) -> String { Self.clause(equalityCollation(of: type)) }

    private static func clause(_ collation: String?) -> String { collation.map { " COLLATE \($0)" } ?? "" }
}

// MARK: - Layout

extension SQLDialect {
    /// Returns a column qualified by the alias of its table.
    package func column(_ name: String, of alias: String) -> String { "\(quoted(alias)).\(quoted(name))" }

    /// Returns the condition that a row is of one of these entities, in a table of several entities:
    /// `"sync_entity" IN ('A', 'B')`.
    package func entityCondition(_ entities: [Int], _ layout: StoreLayout, alias: String? = nil) -> String {
        let name = TableLayout.entityColumn
        let names = entities.map { literal(layout.model.entities[$0].name) }
        return "\(alias.map { column(name, of: $0) } ?? quoted(name)) IN (\(names.joined(separator: ", ")))"
    }
}

// MARK: - Standard SQL

// Default implementations in standard SQL, which most databases share.
extension SQLDialect {
    package func quoted(_ name: String) -> String { doubling("\"", in: name) }

    package func literal(_ text: String) -> String { doubling("'", in: text) }

    package func equalityCollation(of type: AttributeType) -> String? { nil }

    package func jsonArray(_ expressions: [String]) -> String { "json_array(\(expressions.joined(separator: ", ")))" }

    /// Doubles quotes by Unicode scalar. A quote before a combining mark is not a separate `Character`, but ends the
    /// literal in SQL.
    private func doubling(_ quote: Unicode.Scalar, in text: String) -> String {
        guard text.unicodeScalars.contains(quote) else { return "\(quote)\(text)\(quote)" }
        let doubled = text.unicodeScalars.map { $0 == quote ? "\(quote)\(quote)" : "\($0)" }
        return "\(quote)\(doubled.joined())\(quote)"
    }
}
