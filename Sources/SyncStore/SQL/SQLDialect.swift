package import Foundation
package import SyncCore

/// What databases spell differently in the conditions that are asked of them.
///
/// Which columns a condition compares, how tables are joined and where NULL counts as false is the same everywhere and
/// decided by the compiler; how a value is kept, and compared by bytes, by number or without case, only a database's own
/// SQL can say. A condition made here is one term, as far as `NOT`, `AND` and `OR` can stand beside it.
package protocol SQLDialect: Sendable {
    // MARK: Names and literals

    /// A name as an identifier.
    func quoted(_ name: String) -> String

    /// Text as a literal.
    func literal(_ text: String) -> String

    // MARK: Values

    /// How many values a condition may have: the database's limit, less room for the statement around the condition.
    var maximumArguments: Int { get }

    /// The value as a column holds it.
    func argument(_ constant: PredicateConstant) -> SQLArgument

    /// Folded text, as it is compared with what ``folded(_:)`` gives.
    func argument(folded text: String) -> SQLArgument

    /// The expression of a value: its placeholder, or another spelling of what binding would lose.
    func bind(_ value: SQLArgument, _ arguments: inout SQLArguments) -> String

    // MARK: Conditions

    /// True for all rows, or false for all.
    func constant(_ holds: Bool) -> String

    /// The condition, false where it is NULL.
    func falseIfNull(_ condition: String) -> String

    /// That an expression has a value; false, not NULL, where it has none.
    func isSame(_ expression: String, _ value: String) -> String

    /// That an expression has one of some values, of which there may be very many; NULL where it has none.
    func isIn(_ expression: String, _ values: [SQLArgument], _ arguments: inout SQLArguments) -> String

    /// A JSON array of the values of expressions, those that are such arrays themselves in their place.
    func jsonArray(_ expressions: [String]) -> String

    /// By what values of a type are ordered, if the order of their columns is another: numbers by value, text by bytes.
    func collation(of type: AttributeType) -> String?

    /// That a text column holds a key that was made here (``TemporaryKey``); NULL where it holds none.
    func isLocalKey(_ column: String) -> String

    // MARK: Calculations

    /// A whole number as a floating-point one.
    func asDouble(_ expression: String) -> String

    /// An operation on numbers of one kind; NULL for a division by zero, and where a result is no number. One on whole
    /// numbers that has no room may be anything that ``whole(_:)`` makes NULL, whatever is done to it but for a remainder.
    func operation(_ operation: PredicateTerm.Operation, _ left: String, _ right: String) -> String

    /// What operations on whole numbers give, NULL where that is no whole number of 64 bits.
    func whole(_ expression: String) -> String

    // MARK: Text

    /// Text as it compares without case: as `CaseFolding` folds it, if equal by bytes then.
    func folded(_ expression: String) -> String

    /// That a text passes a test; false, not NULL, where there is none.
    func holds(
        _ test: TextPredicate, _ expression: String, ignoringCase ignoresCase: Bool, _ arguments: inout SQLArguments
    ) -> String
}

/// What a text is searched for.
///
/// Where case is ignored, what is searched for is folded already, but for regular expressions.
package enum TextPredicate: Sendable {
    /// Never for an empty text, nor are the next two.
    case contains(String)
    case beginsWith(String)
    case endsWith(String)
    /// That all of it matches a pattern with `*` and `?`: ``WildcardPattern``.
    case like(String)
    /// That all of it matches.
    case matches(RegularExpression)
}

/// A value bound in a statement, in the few kinds that all databases have.
package enum SQLArgument: Sendable, Hashable {
    case null
    case integer(Int64)
    case double(Double)
    case text(String)
    case bytes(Data)
}

/// The values bound in a statement, in the order of their placeholders.
package struct SQLArguments: Sendable {
    package private(set) var values: [SQLArgument] = []
    private let preceding: Int

    /// - Parameter preceding: How many values the statement has before these, for databases that number them.
    package init(after preceding: Int = 0) { self.preceding = preceding }

    /// Adds a value.
    ///
    /// - Returns: Its number in the statement, from 1.
    @discardableResult
    package mutating func append(_ value: SQLArgument) -> Int {
        values.append(value)
        return preceding + values.count
    }
}

// MARK: - Layout

extension SQLDialect {
    /// A column of a table by its alias.
    package func column(_ name: String, of alias: String) -> String { "\(quoted(alias)).\(quoted(name))" }

    /// The condition that a row is of one of these entities, for tables of several: `"sync_entity" IN ('A', 'B')`.
    package func entityCondition(_ entities: [Int], _ layout: StoreLayout, alias: String? = nil) -> String {
        let name = TableLayout.entityColumn
        let names = entities.map { literal(layout.model.entities[$0].name) }
        return "\(alias.map { column(name, of: $0) } ?? quoted(name)) IN (\(names.joined(separator: ", ")))"
    }
}

// MARK: - Standard

// As the standard spells it, and most databases do.
extension SQLDialect {
    /// In double quotes.
    package func quoted(_ name: String) -> String { doubling("\"", in: name) }

    /// In single quotes.
    package func literal(_ text: String) -> String { doubling("'", in: text) }

    /// `json_array(a, b)`
    package func jsonArray(_ expressions: [String]) -> String { "json_array(\(expressions.joined(separator: ", ")))" }

    /// By code points: a quote that a combining mark follows is no character of its own, but ends the text for SQL.
    private func doubling(_ quote: Unicode.Scalar, in text: String) -> String {
        guard text.unicodeScalars.contains(quote) else { return "\(quote)\(text)\(quote)" }
        let doubled = text.unicodeScalars.map { $0 == quote ? "\(quote)\(quote)" : "\($0)" }
        return "\(quote)\(doubled.joined())\(quote)"
    }
}
