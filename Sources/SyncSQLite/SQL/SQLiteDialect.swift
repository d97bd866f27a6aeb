import Foundation
package import GRDB
package import SyncCore
package import SyncStore

/// Conditions for SQLite, which have functions and a collation of ours: ``PredicateSQL/install(in:)``.
struct SQLiteDialect: SQLDialect {
    /// SQLite's limit on bound values, less room for those of the statement around the condition.
    let maximumArguments = 32_000

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

    /// What binding would lose (text after a NUL, the difference between an empty blob and NULL) is written another way.
    func bind(_ value: SQLArgument, _ arguments: inout SQLArguments) -> String {
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

    // MARK: Conditions

    func constant(_ holds: Bool) -> String { holds ? "1" : "0" }

    func falseIfNull(_ condition: String) -> String { "ifnull(\(condition), 0)" }

    func isSame(_ expression: String, _ value: String) -> String { "\(expression) IS \(value)" }

    /// Long lists are one value, a JSON array, for SQLite limits the number of values.
    func isIn(_ expression: String, _ values: [SQLArgument], _ arguments: inout SQLArguments) -> String {
        if values.count > 100, let array = Self.json(values) {
            return "\(expression) IN (SELECT value FROM json_each(\(bind(.text(array), &arguments))))"
        }
        return "\(expression) IN (\(values.map { bind($0, &arguments) }.joined(separator: ", ")))"
    }

    func collation(of type: AttributeType) -> String? {
        type == .decimal ? PredicateSQL.decimalCollation.name : nil
    }

    func isLocalKey(_ column: String) -> String { "\(column) GLOB '\(Self.localKey)'" }

    /// What ``TemporaryKey/isLocal(_:)`` says of a text.
    private static let localKey =
        TemporaryKey.prefix
        + TemporaryKey.digits.map { String(repeating: "[0-9A-Fa-f]", count: $0) }.joined(separator: "-")

    /// Nil if the values are neither all texts nor all integers.
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

/// Keeps the regular expressions compiled last: SQL asks for one again with every row.
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

// MARK: - Calculations

extension SQLiteDialect {
    func asDouble(_ expression: String) -> String { "CAST(\(expression) AS REAL)" }

    func operation(_ operation: PredicateTerm.Operation, _ left: String, _ right: String) -> String {
        "\(left) \(operation == .remainder ? "%" : operation.rawValue) \(right)"
    }

    /// SQLite goes on with floating-point numbers where a whole one has no room.
    func whole(_ expression: String) -> String {
        "(SELECT CASE typeof(v) WHEN 'integer' THEN v END FROM (SELECT \(expression) AS v))"
    }
}

// MARK: - Text

// Text is looked into as bytes: SQLite's text functions stop at a NUL.
extension SQLiteDialect {
    /// The bytes of folded text. The function gives text, so that an empty one is not taken for NULL.
    func folded(_ expression: String) -> String { "CAST(sync_fold(\(bytes(expression))) AS BLOB)" }

    func holds(
        _ test: TextPredicate, _ expression: String, ignoringCase ignoresCase: Bool, _ arguments: inout SQLArguments
    ) -> String {
        let bytes = bytes(expression)
        let text = ignoresCase ? folded(expression) : bytes
        switch test {
        case .contains(let part):
            return falseIfNull("instr(\(text), \(bind(utf8: part, &arguments))) > 0")
        case .beginsWith(let part):
            return isSame("substr(\(text), 1, \(part.utf8.count))", bind(utf8: part, &arguments))
        case .endsWith(let part):
            return isSame("substr(\(text), -\(part.utf8.count))", bind(utf8: part, &arguments))
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

// MARK: - SQLArgument+DatabaseValue

extension SQLArgument {
    /// As GRDB binds it.
    var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let value): value.databaseValue
        case .double(let value): value.databaseValue
        case .text(let text): text.databaseValue
        case .bytes(let data): data.databaseValue
        }
    }
}

// MARK: - PredicateSQL+SQLite

extension PredicateSQL {
    /// Compiles a condition for SQLite, with the functions that ``install(in:)`` adds.
    ///
    /// - Parameter alias: What the entity's table is called in the statement.
    /// - Throws: ``SyncError`` `invalidPredicate`, naming what there is where a name is unknown.
    package init(
        _ predicate: RowPredicate, on entity: CompiledEntity, layout: StoreLayout, alias: String
    ) throws {
        try self.init(predicate, on: entity, layout: layout, alias: alias, dialect: SQLiteDialect())
    }

    /// The values, to be bound in their order.
    package var databaseValues: [DatabaseValue] { arguments.map(\.databaseValue) }

    /// That a row is of the entity or one below it; nil where the table has no other rows.
    package static func familyCondition(_ entity: CompiledEntity, layout: StoreLayout, alias: String) -> String? {
        familyCondition(entity, layout: layout, alias: alias, dialect: SQLiteDialect())
    }
}

// MARK: - PredicateSQL+Functions

extension PredicateSQL {
    /// Adds to a connection what compiled conditions use.
    package static func install(in db: Database) {
        db.add(function: foldFunction)
        db.add(function: likeFunction)
        db.add(function: matchesFunction)
        db.add(collation: decimalCollation)
    }

    /// Orders decimals by value, exactly; anything else comes after them, as text.
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

    /// `sync_fold(utf8)`: text folded for comparison without case. It takes a blob because text arguments end at a NUL.
    package static let foldFunction = DatabaseFunction("sync_fold", argumentCount: 1, pure: true) { values in
        guard let text = utf8(values[0]) else { return nil }
        let folded = CaseFolding.fold(text)
        return folded.utf8.contains(0) ? Data(folded.utf8) : folded
    }

    /// `sync_like(utf8, pattern)`: whether all of the text matches a pattern with `*` and `?`.
    package static let likeFunction = DatabaseFunction("sync_like", argumentCount: 2, pure: true) { values in
        guard let text = utf8(values[0]), let pattern = utf8(values[1]) else { return nil }
        return WildcardPattern(pattern).matches(text)
    }

    /// `sync_matches(utf8, pattern, ignoringCase)`: whether all of the text matches a regular expression.
    package static let matchesFunction = DatabaseFunction("sync_matches", argumentCount: 3, pure: true) { values in
        guard let text = utf8(values[0]), let pattern = utf8(values[1]) else { return nil }
        let ignoresCase = Bool.fromDatabaseValue(values[2]) ?? false
        do {
            return try RegularExpressionCache.expression(pattern, ignoringCase: ignoresCase)?.matches(text)
        } catch let error as SyncError {
            // SQLite passes on the text alone, by which `DatabaseErrorMapper` knows it again.
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
