import SyncCore
import SyncStore

/// A dialect of no real database. It differs from SQLite in every choice that a dialect makes.
struct ForeignDialect: SQLDialect {
    var maximumArguments = 10

    func quoted(_ name: String) -> String { "[\(name)]" }
    func literal(_ text: String) -> String { "u'\(text)'" }

    // MARK: Values

    func argument(_ constant: PredicateConstant) -> SQLArgument {
        switch constant {
        case .integer(let value): .integer(value)
        case .exact(let value): .text("decimal " + (value.text ?? ""))
        case .double(let value): .double(value)
        case .boolean(let value): .text(value ? "yes" : "no")
        case .instant(let milliseconds): .integer(milliseconds)
        case .text(let text): .text(text)
        case .bytes(let data): .bytes(data)
        }
    }

    func argument(folded text: String) -> SQLArgument { .text("folded " + text) }

    func bind(_ value: SQLArgument, _ arguments: inout SQLArguments) -> String { "$\(arguments.append(value))" }

    // MARK: Conditions

    func constant(_ holds: Bool) -> String { holds ? "YES" : "NO" }
    func falseIfNull(_ condition: String) -> String { "sure(\(condition))" }
    func isSame(_ expression: String, _ value: String) -> String { "same(\(expression), \(value))" }

    func isIn(_ expression: String, _ values: [SQLArgument], _ arguments: inout SQLArguments) -> String {
        "among(\(expression), \(values.map { bind($0, &arguments) }.joined(separator: ", ")))"
    }

    func member(_ keys: [String], of document: String, as type: AttributeType?) -> String {
        "member(\(document), \(keys.joined(separator: "/")), \(type?.rawValue ?? "any"))"
    }

    func collation(of type: AttributeType) -> String? { type == .string ? "bytewise" : nil }
    func isLocalKey(_ column: String) -> String { "made_here(\(column))" }

    // MARK: Calculations

    func asDouble(_ expression: String) -> String { "double(\(expression))" }

    func operation(_ operation: PredicateTerm.Operation, _ left: String, _ right: String) -> String {
        "\(left) \(operation.rawValue.lowercased()) \(right)"
    }

    func whole(_ expression: String) -> String { "whole(\(expression))" }

    // MARK: Text

    func folded(_ expression: String) -> String { "fold(\(expression))" }

    func holds(
        _ test: TextPredicate, _ expression: String, ignoringCase ignoresCase: Bool, _ arguments: inout SQLArguments
    ) -> String {
        let (name, text) =
            switch test {
            case .contains(let part): ("has", part)
            case .beginsWith(let part): ("begins", part)
            case .endsWith(let part): ("ends", part)
            case .like(let pattern): ("like", pattern)
            case .matches(let expression): ("matches", expression.pattern)
            }
        return "\(name)\(ignoresCase ? "_folded" : "")(\(expression), \(bind(.text(text), &arguments)))"
    }
}
