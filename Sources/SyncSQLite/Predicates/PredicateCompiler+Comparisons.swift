import Foundation
import GRDB
import SyncCore
import SyncStore

extension PredicateCompiler {
    /// - Parameter existence: what is NULL where there is no value, if that is another expression.
    mutating func compared(
        _ operand: PredicateOperand, _ comparison: ResolvedComparison, existence: String? = nil
    ) -> String {
        let ignoresCase = comparison.ignoresCase
        switch comparison.test {
        case .isNull: return "\(existence ?? operand.value) IS NULL"
        case .isNotNull: return "\(existence ?? operand.value) IS NOT NULL"
        case .never: return "0"
        case .equal(let value): return equal(operand, value, ignoresCase)
        case .notEqual(let value): return "NOT \(equal(operand, value, ignoresCase))"
        case .isIn(let values, let orNull):
            let null = orNull ? "\(existence ?? operand.value) IS NULL" : nil
            return contained(operand, values, or: null, ignoresCase)
        case .less(let bound): return ordered(operand, "<", bound, ignoresCase)
        case .lessOrEqual(let bound): return ordered(operand, "<=", bound, ignoresCase)
        case .greater(let bound): return ordered(operand, ">", bound, ignoresCase)
        case .greaterOrEqual(let bound): return ordered(operand, ">=", bound, ignoresCase)
        case .between(let first, let last):
            let isAbove = ordered(operand, ">=", first, ignoresCase)
            let isBelow = ordered(operand, "<=", last, ignoresCase)
            return "(\(isAbove) AND \(isBelow))"
        case .contains(let text), .beginsWith(let text), .endsWith(let text):
            return part(text, of: operand, comparison)
        case .like(let pattern):
            let bytes = ignoresCase ? folded(operand) : bytes(operand)
            return "ifnull(sync_like(\(bytes), \(bind(Data(pattern.utf8).databaseValue))), 0)"
        case .matches(let expression):
            let value = bind(Data(expression.pattern.utf8).databaseValue)
            return "ifnull(sync_matches(\(bytes(operand)), \(value), \(ignoresCase ? 1 : 0)), 0)"
        }
    }

    // MARK: Equality

    private mutating func equal(
        _ operand: PredicateOperand, _ constant: PredicateConstant, _ ignoresCase: Bool
    ) -> String {
        let value = constant.columnValue
        if operand.isLocalKey(value) { return "0" }
        if ignoresCase { return "\(folded(operand)) IS \(bind(bytes(value)))" }
        return "\(operand.stored) IS \(bind(value))"
    }

    private mutating func contained(
        _ operand: PredicateOperand, _ constants: [PredicateConstant], or null: String?, _ ignoresCase: Bool
    ) -> String {
        let values = constants.map(\.columnValue).filter { !operand.isLocalKey($0) }
        var alternatives = null.map { [$0] } ?? []
        if !values.isEmpty {
            let column = ignoresCase ? folded(operand) : operand.stored
            let list = list(ignoresCase ? values.map(bytes) : values)
            alternatives.append(never(operand, column, null: "\(column) IN \(list)"))
        }
        return alternatives.isEmpty ? "0" : "(\(alternatives.joined(separator: " OR ")))"
    }

    /// The right side of `IN`. Long lists are one value, a JSON array, for SQLite limits the number of values.
    private mutating func list(_ values: [DatabaseValue]) -> String {
        let integers = values.compactMap { value in
            if case .int64(let integer) = value.storage { integer } else { nil }
        }
        let texts = values.compactMap { value in
            if case .string(let text) = value.storage, !text.utf8.contains(0) { text } else { nil }
        }
        if values.count > 100 {
            let array = texts.count == values.count ? try? JSONEncoder().encode(texts) : nil
            let json = array.map { String(decoding: $0, as: UTF8.self) }
            if let json { return "(SELECT value FROM json_each(\(bind(json.databaseValue))))" }
            if integers.count == values.count {
                let json = "[\(integers.map(String.init).joined(separator: ","))]"
                return "(SELECT value FROM json_each(\(bind(json.databaseValue))))"
            }
        }
        return "(\(values.map { bind($0) }.joined(separator: ", ")))"
    }

    // MARK: Order

    private mutating func ordered(
        _ operand: PredicateOperand, _ op: String, _ bound: PredicateConstant, _ ignoresCase: Bool
    ) -> String {
        if operand.type == .integer, case .exact(let number) = bound { return ordered(operand, op, number) }
        let value = bound.columnValue
        if ignoresCase {
            let column = folded(operand)
            return never(operand, column, null: "\(column) \(op) \(bind(bytes(value)))")
        }
        let collation = operand.type == .decimal ? " COLLATE \(PredicateSQL.decimalCollation.name)" : ""
        if operand.isColumn { return orderedColumn(operand, "\(op) \(bind(value))\(collation)") }
        return never(operand, operand.value, null: "\(operand.value) \(op) \(bind(value))\(collation)")
    }

    /// The column as it is stored, so that an index of it finds the rows.
    private func orderedColumn(_ operand: PredicateOperand, _ test: String) -> String {
        let isLocal = operand.localKeys.map { " AND NOT \($0.isLocal(operand.stored))" } ?? ""
        return "(\(operand.stored) \(test) AND \(operand.stored) IS NOT NULL\(isLocal))"
    }

    /// Integers compare with fractions too, and with numbers beyond 64 bits, without rounding.
    private mutating func ordered(_ operand: PredicateOperand, _ op: String, _ number: ExactNumber) -> String {
        let isBelow = op.hasPrefix("<")
        guard let floor = number.floor else {
            return isBelow == number.isBelowZero ? "0" : "\(operand.value) IS NOT NULL"
        }
        let exact = number.isWhole ? op : isBelow ? "<=" : ">"
        if operand.isColumn { return orderedColumn(operand, "\(exact) \(bind(floor.databaseValue))") }
        let column = !isBelow && !operand.isLocalKey(floor.databaseValue) ? operand.stored : operand.value
        return never(operand, column, null: "\(column) \(exact) \(bind(floor.databaseValue))")
    }

    /// Makes NULL count as false.
    private func never(_ operand: PredicateOperand, _ column: String, null test: String) -> String {
        operand.isColumn && column == operand.stored ? "(\(test) AND \(column) IS NOT NULL)" : "ifnull(\(test), 0)"
    }

    // MARK: Text

    /// Text is looked into as bytes: SQLite's text functions stop at a NUL.
    private mutating func part(
        _ text: String, of operand: PredicateOperand, _ comparison: ResolvedComparison
    ) -> String {
        let part = Data(text.utf8)
        let bytes = comparison.ignoresCase ? folded(operand) : bytes(operand)
        if part.isEmpty { return "\(operand.value) IS NOT NULL" }
        let value = bind(part.databaseValue)
        return switch comparison.test {
        case .beginsWith: "substr(\(bytes), 1, \(part.count)) IS \(value)"
        case .endsWith: "substr(\(bytes), -\(part.count)) IS \(value)"
        default: "ifnull(instr(\(bytes), \(value)) > 0, 0)"
        }
    }

    private func bytes(_ operand: PredicateOperand) -> String { "CAST(\(operand.value) AS BLOB)" }

    /// The bytes of folded text. The function gives text, so that an empty one is not taken for NULL.
    private func folded(_ operand: PredicateOperand) -> String {
        "CAST(sync_fold(\(bytes(operand))) AS BLOB)"
    }

    private func bytes(_ value: DatabaseValue) -> DatabaseValue {
        guard case .string(let text) = value.storage else { return value }
        return Data(text.utf8).databaseValue
    }
}

extension PredicateOperand {
    /// Whether a value is a local key, which the attribute never reads as.
    fileprivate func isLocalKey(_ value: DatabaseValue) -> Bool {
        switch value.storage {
        case .int64(let integer): localKeys?.isLocal(value: integer) ?? false
        case .string(let text): localKeys?.isLocal(value: text) ?? false
        default: false
        }
    }
}
