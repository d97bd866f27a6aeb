import SyncCore
import SyncStore

/// A dialect of no real database. It differs from SQLite in every choice that a dialect makes.
struct ForeignDialect: SQLDialect {
    var maximumArguments = 10

    func quoted(_ name: String) -> String { "[\(name)]" }
    func literal(_ text: String) -> String { "u'\(text)'" }

    func literal(_ value: StoredValue, as type: AttributeType) -> String? {
        value == .null ? nil : "\(type.rawValue) \(value.jsonForm)"
    }

    // MARK: Tables

    func columnType(_ type: AttributeType) -> String { "\(type.rawValue)_column" }
    var surrogateKeyType: String { "counter" }
    func primaryKeyClause(_ type: AttributeType) -> String { " KEY" }
    var foreignKeyPlacement: ForeignKeyPlacement { .afterTables }
    var tableOptions: String { " END" }

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

    func bind(_ value: SQLArgument, as type: SQLValueType, _ arguments: inout SQLArguments) -> String {
        let number = arguments.append(value)
        return switch type {
        case .column(let type): "$\(number):\(type.rawValue)"
        case .folded: "$\(number):folded"
        }
    }

    func parameter(_ number: Int, as type: AttributeType, isRepeated: Bool) -> String { "$\(number):\(type.rawValue)" }

    // MARK: Conditions

    func constant(_ holds: Bool) -> String { holds ? "YES" : "NO" }

    func falseIfNull(_ condition: String, for use: ConditionUse) -> String {
        use == .value ? "sure(\(condition))" : "(\(condition))"
    }

    func isSame(_ expression: String, _ value: String, for use: ConditionUse) -> String {
        use == .value ? "same(\(expression), \(value))" : "\(expression) = \(value)"
    }

    func isSameOrNull(_ left: String, _ right: String) -> String { "same_or_null(\(left), \(right))" }

    func isIn(
        _ expression: String, _ values: [SQLArgument], as type: SQLValueType, _ arguments: inout SQLArguments
    ) -> String {
        "among(\(expression), \(values.map { bind($0, as: type, &arguments) }.joined(separator: ", ")))"
    }

    func collation(of type: AttributeType) -> String? { type == .string ? "bytewise" : nil }

    // MARK: Orders

    func orderTerm(
        _ expression: String, as type: AttributeType?, isAscending: Bool, nulls: NullPlacement
    ) -> String {
        let end =
            switch nulls {
            case .never: ""
            case .smallest: isAscending ? " NULLS FIRST" : " NULLS LAST"
            case .last: " NULLS LAST"
            }
        return expression + (type.map(orderClause) ?? "") + (isAscending ? " UP" : " DOWN") + end
    }

    // MARK: Keys

    func isLocalKey(_ column: String) -> String { "made_here(\(column))" }
    func anyKey(_ expression: String, of type: AttributeType) -> String { "any_key(\(expression))" }
    func key(ofAny expression: String, as type: AttributeType) -> String { "key(\(expression), \(type.rawValue))" }

    // MARK: JSON

    func jsonArray(_ expressions: [String]) -> String { "array(\(expressions.joined(separator: ", ")))" }
    func jsonText(_ array: String) -> String { "text(\(array))" }

    func jsonElement(_ path: [Int], of array: String, as type: AttributeType) -> String {
        "element(\(array), \(path.map(String.init).joined(separator: "/")), \(type.rawValue))"
    }

    func member(_ keys: [String], of document: String, as type: AttributeType?) -> String {
        "member(\(document), \(keys.joined(separator: "/")), \(type?.rawValue ?? "any"))"
    }

    // MARK: Calculations

    func asDouble(_ expression: String) -> String { "double(\(expression))" }

    func operation(
        _ operation: PredicateTerm.Operation, _ left: String, _ right: String, on numbers: NumberKind
    ) -> String {
        "\(left) \(operation.rawValue.lowercased())\(numbers == .double ? "." : "") \(right)"
    }

    func whole(_ expression: String) -> String { "whole(\(expression))" }
    func nextPosition(_ column: String) -> String { "next(\(column))" }
    func largest(_ expressions: [String]) -> String { "largest(\(expressions.joined(separator: ", ")))" }

    // MARK: Text

    func folded(_ expression: String) -> String { "fold(\(expression))" }

    func holds(
        _ test: TextPredicate, _ expression: String, ignoringCase ignoresCase: Bool, for use: ConditionUse,
        _ arguments: inout SQLArguments
    ) -> String {
        let (name, text) =
            switch test {
            case .contains(let part): ("has", part)
            case .beginsWith(let part): ("begins", part)
            case .endsWith(let part): ("ends", part)
            case .like(let pattern): ("like", pattern)
            case .matches(let expression): ("matches", expression.pattern)
            }
        let value = bind(.text(text), as: ignoresCase ? .folded : .column(.string), &arguments)
        return falseIfNull("\(name)\(ignoresCase ? "_folded" : "")(\(expression), \(value))", for: use)
    }
}
