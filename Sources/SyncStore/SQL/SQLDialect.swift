package import SyncCore

/// The parts of statements whose syntax depends on the database.
///
/// Shared code decides which columns to read, how to join tables and where NULL counts as false. The dialect decides
/// how values are stored, and how they are compared by bytes, by number or without case. Each condition that a dialect
/// returns can be an operand of `NOT`, `AND` and `OR` without parentheses.
///
/// An expression of a dialect has no value for which the database would end the statement, and so the transaction. It
/// is NULL where the database would report an error, unless its method states another value.
package protocol SQLDialect: Sendable {
    // MARK: Names and literals

    /// Returns a name as a quoted identifier.
    func quoted(_ name: String) -> String

    /// Returns text as a literal.
    func literal(_ text: String) -> String

    /// Returns a value as a literal for a column of a type; nil for null, and for a value that has no literal.
    func literal(_ value: StoredValue, as type: AttributeType) -> String?

    // MARK: Tables

    /// Returns the declared type of columns for attributes of a type. Foreign keys have the type of the referenced key.
    func columnType(_ type: AttributeType) -> String

    /// The declared type of a surrogate key, whose values the database generates.
    var surrogateKeyType: String { get }

    /// Returns the clause that makes a column of a type the primary key and excludes NULL.
    func primaryKeyClause(_ type: AttributeType) -> String

    /// Whether a table declares its foreign keys, or statements add them when all tables exist.
    var foreignKeyPlacement: ForeignKeyPlacement { get }

    /// The clause after the columns of a table, with a space before it; empty if there is none.
    var tableOptions: String { get }

    // MARK: Values

    /// The largest number of arguments of a condition: the limit of the database, minus a reserve for the rest of the
    /// statement.
    var maximumArguments: Int { get }

    /// Returns the value as a column stores it.
    func argument(_ constant: PredicateConstant) -> SQLArgument

    /// Returns folded text as an argument to compare with the result of ``folded(_:)``.
    func argument(folded text: String) -> SQLArgument

    /// Returns the expression of a value: a placeholder, or other SQL for a value that binding would change.
    ///
    /// - Parameter type: The type of the value. A database with typed parameters states it, also for NULL.
    func bind(_ value: SQLArgument, as type: SQLValueType, _ arguments: inout SQLArguments) -> String

    /// Returns a placeholder for a value that is bound when the statement runs.
    ///
    /// - Parameters:
    ///   - number: The number of the parameter, from 1.
    ///   - isRepeated: Whether the statement has several placeholders for the parameter.
    func parameter(_ number: Int, as type: AttributeType, isRepeated: Bool) -> String

    // MARK: Conditions

    /// Returns a condition that is true for all rows, or false for all.
    func constant(_ holds: Bool) -> String

    /// Returns the condition, with false in place of NULL for the use as a value.
    func falseIfNull(_ condition: String, for use: ConditionUse) -> String

    /// Returns the condition that a column is not NULL, to add it to a comparison of the column by `AND`; nil if the
    /// use needs no such condition.
    func isNotNull(_ column: String, for use: ConditionUse) -> String?

    /// Returns the condition that an expression equals a value, which is not NULL.
    ///
    /// If the expression is NULL, the condition is false. For a selection it may also be NULL, so that the dialect can
    /// return a plain comparison: one that an index of the database serves.
    func isSame(_ expression: String, _ value: String, for use: ConditionUse) -> String

    /// Returns the condition that two expressions are equal, or both NULL. It is never NULL.
    func isSameOrNull(_ left: String, _ right: String) -> String

    /// Returns the condition that an expression equals one of many values; NULL if the expression is NULL. An index of
    /// the expression should serve it.
    func isIn(
        _ expression: String, _ values: [SQLArgument], as type: SQLValueType, _ arguments: inout SQLArguments
    ) -> String

    /// Returns the collation that orders numbers by value and text by bytes; nil if columns of the type have that order
    /// already.
    func collation(of type: AttributeType) -> String?

    /// Returns the collation in which only text with the same bytes is equal; nil if columns of the type have that
    /// equality already.
    func equalityCollation(of type: AttributeType) -> String?

    // MARK: Orders

    /// Returns a term of an `ORDER BY` clause.
    ///
    /// - Parameter type: The type of the values: numbers are ordered by value, and text by bytes. Nil for a column in
    ///   its own order, which only has to be the same each time.
    func orderTerm(
        _ expression: String, as type: AttributeType?, isAscending: Bool, nulls: NullPlacement
    ) -> String

    /// Returns the clause that limits the rows of a statement, with a space before it; empty without limit and offset.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of rows, from 0; nil for all.
    ///   - offset: The number of rows to skip.
    func window(limit: Int?, offset: Int) -> String

    // MARK: Keys

    /// Returns the condition that a text column holds a temporary key (``TemporaryKey``); NULL if the column is NULL.
    func isLocalKey(_ column: String) -> String

    /// Returns a key of a type as a value of a column for keys of any type, such as the owners of pending references.
    func anyKey(_ expression: String, of type: AttributeType) -> String

    /// Returns the value of a column for keys of any type as a key of a type; NULL if it is of another type.
    func key(ofAny expression: String, as type: AttributeType) -> String

    // MARK: JSON

    /// Returns a JSON array of the values of expressions. An expression that is a JSON array itself is nested.
    func jsonArray(_ expressions: [String]) -> String

    /// Returns the text of a JSON array, without white space.
    func jsonText(_ array: String) -> String

    /// Returns an element of the JSON array in a text, as a column of the type stores it; NULL if the element is absent
    /// or of another type.
    ///
    /// - Parameter path: The index of the element. An element of a nested array has several indexes.
    func jsonElement(_ path: [Int], of array: String, as type: AttributeType) -> String

    /// Returns a member of the JSON in an expression, as a column of the type stores it; NULL if the member is of
    /// another type, and if the expression is not JSON.
    ///
    /// - Parameters:
    ///   - keys: The keys that lead to the member. They contain no quotation marks, backslashes or control characters.
    ///   - type: `string`, `decimal` or `boolean`. Nil for an expression that is NULL only if the member is absent or
    ///     null.
    func member(_ keys: [String], of document: String, as type: AttributeType?) -> String

    // MARK: Calculations

    /// Returns an integer expression converted to the nearest floating-point number.
    func asDouble(_ expression: String) -> String

    /// Returns an operation on two integers, or on two floating-point numbers. The division of integers truncates.
    ///
    /// - A division or remainder by zero is NULL. So is a result that is not a number.
    /// - If the result exceeds 64 bits, integers may have any value for which ``whole(_:)`` returns NULL. This also
    ///   holds for the results of further operations, except a remainder: its operands are results of ``whole(_:)``.
    /// - If the result exceeds the range of floating-point numbers, it is infinite. If it is too small, it is zero.
    ///
    /// The operands are in parentheses where the precedence of the operators needs them.
    func operation(
        _ operation: PredicateTerm.Operation, _ left: String, _ right: String, on numbers: NumberKind
    ) -> String

    /// Returns the result of integer operations; NULL if it is not an integer of 64 bits.
    func whole(_ expression: String) -> String

    /// Returns an aggregate over positions: the position after the last one; 0 if there is none. Positions count rows,
    /// so the result cannot exceed 64 bits.
    func nextPosition(_ column: String) -> String

    /// Returns the largest of integers that are not NULL.
    func largest(_ expressions: [String]) -> String

    // MARK: Text

    /// Returns text folded for comparison without case, as by `CaseFolding`. Equal folded texts have equal bytes.
    func folded(_ expression: String) -> String

    /// Returns the condition that a text passes a test.
    ///
    /// If there is no text, the condition is false. For a selection it may also be NULL. A regular expression that takes
    /// too many steps ends the statement with an error.
    func holds(
        _ test: TextPredicate, _ expression: String, ignoringCase ignoresCase: Bool, for use: ConditionUse,
        _ arguments: inout SQLArguments
    ) -> String
}

// MARK: - Standard SQL

// Default implementations in standard SQL, which most databases share.
extension SQLDialect {
    package func quoted(_ name: String) -> String { doubling("\"", in: name) }

    package func literal(_ text: String) -> String { doubling("'", in: text) }

    package func primaryKeyClause(_ type: AttributeType) -> String { " PRIMARY KEY" }

    package var tableOptions: String { "" }

    package func isNotNull(_ column: String, for use: ConditionUse) -> String? {
        use == .value ? "\(column) IS NOT NULL" : nil
    }

    package func equalityCollation(of type: AttributeType) -> String? { nil }

    package func window(limit: Int?, offset: Int) -> String {
        (limit.map { " LIMIT \($0)" } ?? "") + (offset > 0 ? " OFFSET \(offset)" : "")
    }

    /// Doubles quotes by Unicode scalar. A quote before a combining mark is not a separate `Character`, but ends the
    /// literal in SQL.
    private func doubling(_ quote: Unicode.Scalar, in text: String) -> String {
        guard text.unicodeScalars.contains(quote) else { return "\(quote)\(text)\(quote)" }
        let doubled = text.unicodeScalars.map { $0 == quote ? "\(quote)\(quote)" : "\($0)" }
        return "\(quote)\(doubled.joined())\(quote)"
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

    /// Returns the condition that the entity of a row has this ``CompiledEntity/keyOwner``; nil if this holds for all
    /// rows of the table.
    ///
    /// The partial unique index of the key has this condition. A database uses that index only for an identical
    /// condition.
    func sharedKeyCondition(_ owner: Int, _ layout: StoreLayout, alias: String? = nil) -> String? {
        let table = layout.model.entities[owner].table
        guard layout[table].hasSurrogateKey, layout[table].hasEntityColumn else { return nil }
        let sharing = layout.model[table].entities.filter { layout.model.entities[$0].keyOwner == owner }
        return entityCondition(sharing, layout, alias: alias)
    }

    /// Returns the names of the entities with rows in these tables, as literals: `'Book', 'Film'`.
    package func entityNames(of tables: [TableID], _ layout: StoreLayout) -> String {
        let entities = tables.flatMap { layout.model[$0].entities }
        return entities.map { literal(layout.model.entities[$0].name) }.joined(separator: ", ")
    }
}
