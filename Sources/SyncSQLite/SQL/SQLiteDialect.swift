import Foundation
package import GRDB
import SyncCore
package import SyncStore

/// The SQL dialect of SQLite, with the functions and the collation that ``PredicateSQL/install(in:)`` adds.
struct SQLiteDialect: SQLDialect {
    /// Whether text columns may have other collations than `BINARY`, because the app declared them.
    private let hasOtherCollations: Bool

    init(hasOtherCollations: Bool = false) { self.hasOtherCollations = hasOtherCollations }

    init(_ layout: StoreLayout) { self.init(hasOtherCollations: layout.hasExistingTables) }

    func literal(_ value: StoredValue, as type: AttributeType) -> String? {
        ColumnValue.literal(ColumnValue.databaseValue(value, as: type))
    }

    /// SQLite's limit on bound values, minus a reserve for values of the surrounding statement.
    var maximumArguments: Int { 32_000 }

    // MARK: Values

    func argument(_ constant: PredicateConstant) -> SQLArgument {
        switch constant {
        case .integer(let value): .integer(value)
        case .exact(let value): value.text.map(SQLArgument.text) ?? .null
        case .double(let value): .double(value)
        case .boolean(let value): .integer(value ? 1 : 0)
        case .instant(let milliseconds): .text(DateText.string(milliseconds))
        case .text(let text): .text(text)
        case .bytes(let data): .bytes(data)
        }
    }

    func argument(folded text: String) -> SQLArgument { .bytes(Data(text.utf8)) }

    /// Writes text with a NUL and empty blobs as expressions. GRDB would truncate the text and bind the blob as NULL.
    func bind(_ value: SQLArgument, as type: SQLValueType, _ arguments: inout SQLArguments) -> String {
        bind(value, &arguments)
    }

    private func bind(_ value: SQLArgument, _ arguments: inout SQLArguments) -> String {
        switch value {
        case .bytes(let data) where data.isEmpty: return "x''"
        case .text(let text) where text.utf8.contains(0):
            arguments.append(.bytes(Data(text.utf8)))
            return "CAST(? AS TEXT)"
        default:
            arguments.append(value)
            return "?"
        }
    }

    /// Numbers only repeated parameters, because SQLite searches all numbered parameters linearly.
    func parameter(_ number: Int, as type: AttributeType, isRepeated: Bool) -> String {
        isRepeated ? "?\(number)" : "?"
    }

    // MARK: Conditions

    func constant(_ holds: Bool) -> String { holds ? "1" : "0" }

    func falseIfNull(_ condition: String, for use: ConditionUse) -> String { falseIfNull(condition) }

    private func falseIfNull(_ condition: String) -> String { "ifnull(\(condition), 0)" }

    func isNotNull(_ column: String, for use: ConditionUse) -> String? { "\(column) IS NOT NULL" }

    /// Uses `IS` also for selections, because it is never NULL and uses indexes as `=` does.
    func isSame(_ expression: String, _ value: String, for use: ConditionUse) -> String {
        isSameOrNull(expression, value)
    }

    func isSameOrNull(_ left: String, _ right: String) -> String { "\(left) IS \(right)" }

    /// Binds a list of more than 100 texts or integers as one JSON array, because SQLite limits the number of bound
    /// values.
    func isIn(
        _ expression: String, _ values: [SQLArgument], as type: SQLValueType, _ arguments: inout SQLArguments
    ) -> String {
        if values.count > 100, let array = Self.json(values) {
            return "\(expression) IN (SELECT value FROM json_each(\(bind(.text(array), &arguments))))"
        }
        return "\(expression) IN (\(values.map { bind($0, &arguments) }.joined(separator: ", ")))"
    }

    // MARK: JSON

    func jsonArray(_ expressions: [String]) -> String { "json_array(\(expressions.joined(separator: ", ")))" }

    func jsonText(_ array: String) -> String { array }

    func jsonElement(_ path: [Int], of array: String, as type: AttributeType) -> String {
        "json_extract(\(array), '$\(path.map { "[\($0)]" }.joined())')"
    }

    /// Skips a column of the app that is not JSON. `->` returns the text of a number, which loses no digits.
    func member(_ keys: [String], of document: String, as type: AttributeType?) -> String {
        let path = literal("$" + keys.map { ".\"\($0)\"" }.joined())
        let member =
            switch type {
            case nil: "nullif(json_type(v, \(path)), 'null')"
            case .boolean: "CASE json_type(v, \(path)) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END"
            case .decimal: "CASE WHEN json_type(v, \(path)) IN ('integer', 'real') THEN v -> \(path) END"
            default: "CASE json_type(v, \(path)) WHEN 'text' THEN v ->> \(path) END"
            }
        let order = type.map(orderClause) ?? ""
        return "(SELECT \(member) FROM (SELECT \(document) AS v) WHERE json_valid(v))\(order)"
    }

    // MARK: Collations and orders

    func collation(of type: AttributeType) -> String? {
        type == .decimal ? PredicateSQL.decimalCollation.name : equalityCollation(of: type)
    }

    func equalityCollation(of type: AttributeType) -> String? {
        hasOtherCollations && columnType(type) == "TEXT" ? "BINARY" : nil
    }

    /// SQLite regards NULL as less than all values.
    func orderTerm(
        _ expression: String, as type: AttributeType?, isAscending: Bool, nulls: NullPlacement
    ) -> String {
        expression + (type.map(orderClause) ?? "") + (isAscending ? "" : " DESC")
            + (nulls == .last ? " NULLS LAST" : "")
    }

    /// SQLite requires a limit before an offset. A negative one is no limit.
    func window(limit: Int?, offset: Int) -> String {
        guard limit != nil || offset > 0 else { return "" }
        return " LIMIT \(limit ?? -1)" + (offset > 0 ? " OFFSET \(offset)" : "")
    }

    // MARK: Keys

    func anyKey(_ expression: String, of type: AttributeType) -> String { expression }

    func key(ofAny expression: String, as type: AttributeType) -> String { expression }

    func isLocalKey(_ column: String) -> String { "\(column) GLOB '\(Self.localKey)'" }

    /// The `GLOB` pattern of temporary keys that are text, as ``TemporaryKey/isLocal(_:)`` recognizes them.
    private static let localKey =
        TemporaryKey.prefix
        + TemporaryKey.digits.map { String(repeating: "[0-9A-Fa-f]", count: $0) }.joined(separator: "-")

    /// Returns the values as a JSON array; nil unless all are text without a NUL, or all are integers.
    private static func json(_ values: [SQLArgument]) -> String? {
        let texts = values.compactMap { value in
            if case .text(let text) = value, !text.utf8.contains(0) { text } else { nil }
        }
        if texts.count == values.count {
            return (try? JSONEncoder().encode(texts)).map { String(decoding: $0, as: UTF8.self) }
        }
        let integers = values.compactMap { value in
            if case .integer(let integer) = value { integer } else { nil }
        }
        return integers.count == values.count ? "[\(integers.map(String.init).joined(separator: ","))]" : nil
    }
}

// MARK: - Tables

extension SQLiteDialect {
    func columnType(_ type: AttributeType) -> String {
        switch type {
        case .integer, .boolean: "INTEGER"
        case .double: "REAL"
        case .string, .date, .uuid, .url, .decimal, .json, .transformable: "TEXT"
        case .binary: "BLOB"
        }
    }

    var surrogateKeyType: String { "INTEGER" }

    /// An `INTEGER PRIMARY KEY` is never NULL. Other keys may be NULL in SQLite, unless they are `NOT NULL`.
    func primaryKeyClause(_ type: AttributeType) -> String {
        columnType(type) == "INTEGER" ? " PRIMARY KEY" : " PRIMARY KEY NOT NULL"
    }

    var foreignKeyPlacement: ForeignKeyPlacement { .inTable }

    var tableOptions: String { " STRICT" }
}

/// A cache of compiled regular expressions, because the SQL function gets the pattern again for each row.
enum RegularExpressionCache {
    private struct Key: Hashable {
        let pattern: String
        let ignoresCase: Bool
    }

    private static let capacity = 100
    private static let expressions = Locked<[Key: RegularExpression]>([:])

    static func expression(_ pattern: String, ignoringCase: Bool) -> RegularExpression? {
        let key = Key(pattern: pattern, ignoresCase: ignoringCase)
        return expressions.withLock { expressions in
            if let known = expressions[key] { return known }
            if expressions.count >= capacity { expressions.removeAll() }
            let expression = RegularExpression(pattern, ignoringCase: ignoringCase)
            expressions[key] = expression
            return expression
        }
    }
}

// MARK: - Arithmetic

extension SQLiteDialect {
    func asDouble(_ expression: String) -> String { "CAST(\(expression) AS REAL)" }

    func operation(
        _ operation: PredicateTerm.Operation, _ left: String, _ right: String, on numbers: NumberKind
    ) -> String {
        "\(left) \(operation == .remainder ? "%" : operation.rawValue) \(right)"
    }

    /// Returns an expression that is NULL if the value is not an integer. SQLite converts integers that overflow to
    /// floating-point numbers.
    func whole(_ expression: String) -> String {
        "(SELECT CASE typeof(v) WHEN 'integer' THEN v END FROM (SELECT \(expression) AS v))"
    }

    func nextPosition(_ column: String) -> String { "ifnull(max(\(column)) + 1, 0)" }

    func largest(_ expressions: [String]) -> String { "max(\n  \(expressions.joined(separator: ",\n  ")))" }
}

// MARK: - Text

// Text is compared as bytes, because SQLite's text functions stop at a NUL.
extension SQLiteDialect {
    /// Returns an expression for the bytes of folded text. `sync_fold` returns text unless it contains a NUL, because
    /// GRDB would turn an empty blob into NULL.
    func folded(_ expression: String) -> String { "CAST(sync_fold(\(bytes(expression))) AS BLOB)" }

    func holds(
        _ test: TextPredicate, _ expression: String, ignoringCase ignoresCase: Bool, for use: ConditionUse,
        _ arguments: inout SQLArguments
    ) -> String {
        let bytes = bytes(expression)
        let text = ignoresCase ? folded(expression) : bytes
        switch test {
        case .contains(let part):
            return falseIfNull("instr(\(text), \(bind(utf8: part, &arguments))) > 0")
        case .beginsWith(let part):
            return isSameOrNull("substr(\(text), 1, \(part.utf8.count))", bind(utf8: part, &arguments))
        case .endsWith(let part):
            return isSameOrNull("substr(\(text), -\(part.utf8.count))", bind(utf8: part, &arguments))
        case .like(let pattern):
            return falseIfNull("sync_like(\(text), \(bind(utf8: pattern, &arguments)))")
        case .matches(let expression):
            let pattern = bind(utf8: expression.pattern, &arguments)
            return falseIfNull("sync_matches(\(bytes), \(pattern), \(ignoresCase ? 1 : 0))")
        }
    }

    private func bytes(_ expression: String) -> String { "CAST(\(expression) AS BLOB)" }

    private func bind(utf8 text: String, _ arguments: inout SQLArguments) -> String {
        bind(.bytes(Data(text.utf8)), &arguments)
    }
}

// MARK: - PredicateSQL+Functions

extension PredicateSQL {
    /// Adds the functions and the collation of compiled conditions to a connection.
    package static func install(in db: Database) {
        db.add(function: foldFunction)
        db.add(function: likeFunction)
        db.add(function: matchesFunction)
        db.add(collation: decimalCollation)
    }

    /// A collation that orders decimals exactly by value. Other strings come after the decimals, ordered as strings.
    package static let decimalCollation = DatabaseCollation("sync_decimal") { left, right in
        switch (ExactNumber(left), ExactNumber(right)) {
        case (let left?, let right?): order(left, right)
        case (.some, nil): .orderedAscending
        case (nil, .some): .orderedDescending
        case (nil, nil): order(left, right)
        }
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> ComparisonResult {
        left < right ? .orderedAscending : right < left ? .orderedDescending : .orderedSame
    }

    /// The SQL function `sync_fold(utf8)`, which folds the case of a string for a case-insensitive comparison. The
    /// argument is a blob because GRDB ends text arguments at a NUL.
    package static let foldFunction = DatabaseFunction("sync_fold", argumentCount: 1, pure: true) { values in
        guard let text = utf8(values[0]) else { return nil }
        let folded = CaseFolding.fold(text)
        return folded.utf8.contains(0) ? Data(folded.utf8) : folded
    }

    /// The SQL function `sync_like(utf8, pattern)`, which returns whether a whole string matches a pattern with `*` and
    /// `?`.
    package static let likeFunction = DatabaseFunction("sync_like", argumentCount: 2, pure: true) { values in
        guard let text = utf8(values[0]), let pattern = utf8(values[1]) else { return nil }
        return WildcardPattern(pattern).matches(text)
    }

    /// The SQL function `sync_matches(utf8, pattern, ignoringCase)`, which returns whether a whole string matches a
    /// regular expression.
    package static let matchesFunction = DatabaseFunction("sync_matches", argumentCount: 3, pure: true) { values in
        guard let text = utf8(values[0]), let pattern = utf8(values[1]) else { return nil }
        let ignoresCase = Bool.fromDatabaseValue(values[2]) ?? false
        do {
            return try RegularExpressionCache.expression(pattern, ignoringCase: ignoresCase)?.matches(text)
        } catch let error as SyncError {
            // SQLite passes on only the message, by which `DatabaseErrorMapper` recognizes the error.
            throw DatabaseError(message: error.message)
        }
    }

    private static func utf8(_ value: DatabaseValue) -> String? {
        switch value.storage {
        case .blob(let data): String(decoding: data, as: UTF8.self)
        case .string(let text): text
        default: nil
        }
    }
}
