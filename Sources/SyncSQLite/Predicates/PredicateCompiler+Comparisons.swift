import Foundation
import GRDB
import SyncCore

extension PredicateCompiler {
    mutating func compared(_ operand: PredicateOperand, _ comparison: PredicateComparison) throws -> String {
        try check(operand, comparison)
        switch (comparison.operator, comparison.literal) {
        case (.equal, .null): return "\(operand.value) IS NULL"
        case (.notEqual, .null): return "\(operand.value) IS NOT NULL"
        case (_, .null): return "0"
        case (.in, .list(let values)): return try contained(operand, values, comparison)
        case (_, .list(let bounds)):
            guard let first = bounds.first, let last = bounds.last else { return "0" }
            let isAbove = try ordered(operand, ">=", first, comparison)
            let isBelow = try ordered(operand, "<=", last, comparison)
            return "(\(isAbove) AND \(isBelow))"
        case (.equal, let literal): return try equal(operand, literal, comparison)
        case (.notEqual, let literal): return "NOT \(try equal(operand, literal, comparison))"
        case (let op, .text(let text)) where op.isTextual: return textual(operand, op, text, comparison)
        case (let op, let literal): return try ordered(operand, op.rawValue, literal, comparison)
        }
    }

    /// Whether the operator suits the type.
    private func check(_ operand: PredicateOperand, _ comparison: PredicateComparison) throws {
        let (op, type, name) = (comparison.operator, operand.type, comparison.path.name)
        let isText = type == .string || type == .url
        if comparison.literal != .null, !isText, op.isTextual || comparison.ignoresCase {
            let what = op.isTextual ? op.rawValue : "[c]"
            throw comparison.pathPlace.error(
                "\(what) needs a text, and '\(name)' is of type \(type.rawValue)", entity: root.name)
        }
        if op.isOrdering, type == .binary || type == .json || type == .transformable {
            throw comparison.pathPlace.error(
                "'\(name)' is of type \(type.rawValue), which has no order", entity: root.name)
        }
        if type == .transformable, comparison.literal != .null {
            throw comparison.pathPlace.error(
                "'\(name)' is transformable: it can only be compared with nil", entity: root.name)
        }
    }

    private func columnValue(
        _ literal: PredicateLiteral, _ operand: PredicateOperand, _ comparison: PredicateComparison
    ) throws -> DatabaseValue {
        if let value = literal.columnValue(as: operand.type) { return value }
        throw mismatch(literal, operand, comparison)
    }

    private func mismatch(
        _ literal: PredicateLiteral, _ operand: PredicateOperand, _ comparison: PredicateComparison
    ) -> SyncError {
        comparison.valuePlace.error(
            "'\(comparison.path.name)' is of type \(operand.type.rawValue), which \(literal.kind) is not",
            entity: root.name)
    }

    // MARK: Equality

    private mutating func equal(
        _ operand: PredicateOperand, _ literal: PredicateLiteral, _ comparison: PredicateComparison
    ) throws -> String {
        let value = try columnValue(literal, operand, comparison)
        if operand.isLocalKey(value) { return "0" }
        if comparison.ignoresCase { return "\(folded(operand)) IS \(bind(folded(value)))" }
        return "\(operand.stored) IS \(bind(value))"
    }

    mutating func contained(
        _ operand: PredicateOperand, _ literals: [PredicateLiteral], _ comparison: PredicateComparison
    ) throws -> String {
        var values: [DatabaseValue] = []
        var seen: Set<DatabaseValue> = []
        for literal in literals where literal != .null {
            let value = try columnValue(literal, operand, comparison)
            if operand.isLocalKey(value) { continue }
            let compared = comparison.ignoresCase ? folded(value) : value
            if seen.insert(compared).inserted { values.append(compared) }
        }
        var alternatives = literals.contains(.null) ? ["\(operand.value) IS NULL"] : []
        if !values.isEmpty {
            let column = comparison.ignoresCase ? folded(operand) : operand.stored
            alternatives.append(never(operand, column, null: "\(column) IN \(list(values))"))
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
        _ operand: PredicateOperand, _ op: String, _ literal: PredicateLiteral, _ comparison: PredicateComparison
    ) throws -> String {
        if literal == .null { return "0" }
        if operand.type == .integer { return try orderedInteger(operand, op, literal, comparison) }
        let value = try columnValue(literal, operand, comparison)
        if comparison.ignoresCase {
            let column = folded(operand)
            return never(operand, column, null: "\(column) \(op) \(bind(folded(value)))")
        }
        let collation = operand.type == .decimal ? " COLLATE \(PredicateSQL.decimalCollation.name)" : ""
        return never(operand, operand.value, null: "\(operand.value) \(op) \(bind(value))\(collation)")
    }

    /// Integers compare with fractions too, and with numbers beyond 64 bits, without rounding.
    private mutating func orderedInteger(
        _ operand: PredicateOperand, _ op: String, _ literal: PredicateLiteral, _ comparison: PredicateComparison
    ) throws -> String {
        guard let number = literal.number else { throw mismatch(literal, operand, comparison) }
        let isBelow = op.hasPrefix("<")
        guard let floor = number.floor else {
            return isBelow == number.isBelowZero ? "0" : "\(operand.value) IS NOT NULL"
        }
        let column = !isBelow && !operand.isLocalKey(floor.databaseValue) ? operand.stored : operand.value
        let exact = number.isWhole ? op : isBelow ? "<=" : ">"
        return never(operand, column, null: "\(column) \(exact) \(bind(floor.databaseValue))")
    }

    /// Makes NULL count as false.
    private func never(_ operand: PredicateOperand, _ column: String, null test: String) -> String {
        operand.isColumn && column == operand.stored ? "(\(test) AND \(column) IS NOT NULL)" : "ifnull(\(test), 0)"
    }

    // MARK: Text

    /// Text is looked into as bytes: SQLite's text functions stop at a NUL.
    private mutating func textual(
        _ operand: PredicateOperand, _ op: PredicateOperator, _ text: String, _ comparison: PredicateComparison
    ) -> String {
        let part = Data((comparison.ignoresCase ? CaseFolding.fold(text) : text).utf8)
        let bytes = comparison.ignoresCase ? folded(operand) : "CAST(\(operand.value) AS BLOB)"
        if op == .like { return "ifnull(sync_like(\(bytes), \(bind(part.databaseValue))), 0)" }
        if part.isEmpty { return "\(operand.value) IS NOT NULL" }
        let value = bind(part.databaseValue)
        return switch op {
        case .beginsWith: "substr(\(bytes), 1, \(part.count)) IS \(value)"
        case .endsWith: "substr(\(bytes), -\(part.count)) IS \(value)"
        default: "ifnull(instr(\(bytes), \(value)) > 0, 0)"
        }
    }

    /// The bytes of folded text. The function gives text, so that an empty one is not taken for NULL.
    private func folded(_ operand: PredicateOperand) -> String {
        "CAST(sync_fold(CAST(\(operand.value) AS BLOB)) AS BLOB)"
    }

    private func folded(_ value: DatabaseValue) -> DatabaseValue {
        guard case .string(let text) = value.storage else { return value }
        return Data(CaseFolding.fold(text).utf8).databaseValue
    }
}

extension PredicateOperand {
    /// Whether a value is a local key, which the attribute never reads as.
    fileprivate func isLocalKey(_ value: DatabaseValue) -> Bool {
        switch value.storage {
        case .int64(let integer): localKeys?.isLocal(integer) ?? false
        case .string(let text): localKeys?.isLocal(text) ?? false
        default: false
        }
    }
}
