import Foundation
import GRDB
import SyncCore
import SyncStore

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

    /// What ``LocalKey/isLocal(_:)`` says of a text.
    private static let localKey =
        LocalKey.prefix + LocalKey.digits.map { String(repeating: "[0-9A-Fa-f]", count: $0) }.joined(separator: "-")

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
