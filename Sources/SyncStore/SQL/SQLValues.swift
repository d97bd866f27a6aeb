package import Foundation
package import SyncCore

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

/// The type of an argument, for databases whose parameters have types.
package enum SQLValueType: Sendable, Hashable {
    /// The type of columns for attributes of a type.
    case column(AttributeType)
    /// The type of the results of ``SQLDialect/folded(_:)``.
    case folded
}

/// The use of a condition in a statement.
package enum ConditionUse: Sendable {
    /// The condition selects rows, so NULL counts as false. It is the condition of a `WHERE` clause, or an operand of
    /// `AND` and `OR` there.
    case selection
    /// The condition is negated or selected, so it must not be NULL.
    case value
}

/// The place of NULLs in an order.
package enum NullPlacement: Sendable {
    /// The expression is never NULL, so that any index of it serves the order.
    case never
    /// NULL is less than all values: it is first in ascending order, and last in descending order.
    case smallest
    /// NULL is after all values.
    case last
}

/// The place where the foreign keys of a table are declared.
package enum ForeignKeyPlacement: Sendable {
    /// In `CREATE TABLE`, which may reference tables that do not exist yet.
    case inTable
    /// In `ALTER TABLE`, when all tables exist.
    case afterTables
}

/// The kind of numbers that an operation calculates with.
package enum NumberKind: Sendable {
    case integer
    case double
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
