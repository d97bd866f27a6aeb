import Foundation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Conjunction: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        .condition(.all(of: [try translator.condition(lhs), try translator.condition(rhs)]))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Disjunction: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        .condition(.any(of: [try translator.condition(lhs), try translator.condition(rhs)]))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Negation: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        .condition(.not(try translator.condition(wrapped)))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Equal: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        .condition(try translator.comparison(lhs, .equal, rhs))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.NotEqual: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        .condition(try translator.comparison(lhs, .notEqual, rhs))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Comparison: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        try PredicateTranslator.checkOrder(of: LHS.Output.self)
        let operation: PredicateOperator =
            switch op {
            case .lessThan: .less
            case .lessThanOrEqual: .lessOrEqual
            case .greaterThan: .greater
            case .greaterThanOrEqual: .greaterOrEqual
            @unknown default: throw PredicateTranslator.refused(self)
            }
        return .condition(try translator.comparison(lhs, operation, rhs))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Conditional: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        let test = try translator.condition(test)
        let (first, second) = (try translator.condition(trueBranch), try translator.condition(falseBranch))
        return .condition(.or([.and([test, first]), .and([.not(test), second])]))
    }
}

// MARK: Optionals

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.OptionalFlatMap: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        guard case .path(let path) = try translator.meaning(wrapped) else {
            throw PredicateTranslator.refused(self, "is only supported for an attribute or relationship")
        }
        translator.bind(variable.key, to: path)
        let presence = try translator.compared(path, .notEqual, .null)
        switch try translator.meaning(transform) {
        case .condition(let node): return .optional(node, if: presence)
        case .optional(let node, let inner): return .optional(node, if: .and([presence, inner]))
        // An inner value that is nil whenever the wrapped value is nil needs no separate test.
        case .path(let inner) where inner.components.starts(with: path.components): return .path(inner)
        case .term(let term) where term.isNil(without: path.components): return .term(term)
        default:
            throw PredicateTranslator.refused(
                self,
                "is only supported for an attribute or a calculation of '\(path.components.joined(separator: "."))'"
            )
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.ForcedUnwrap: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        switch try translator.meaning(inner) {
        case .optional(let node, let presence): .condition(.and([presence, node]))
        case let meaning: meaning
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.NilCoalesce: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        switch (try translator.meaning(lhs), try translator.meaning(rhs)) {
        case (.path(let path), .literal(let literal)) where path.destination == nil: .coalesced(path, literal)
        case (.optional(let node, let presence), .literal(.boolean(let value))):
            .condition(value ? .or([.not(presence), node]) : .and([presence, node]))
        default:
            throw PredicateTranslator.refused("'??' is only supported for an attribute and a constant")
        }
    }
}

// MARK: Rows

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.SequenceContainsWhere: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        let rows = try translator.rows(sequence)
        let inner = try translator.inner(variable.key, of: rows, test)
        return .condition(try translator.related(.any, rows, inner))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.SequenceAllSatisfy: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        let rows = try translator.rows(sequence)
        let inner = try translator.inner(variable.key, of: rows, test)
        return .condition(try translator.related(.all, rows, inner))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Filter: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        let rows = try translator.rows(sequence)
        return .filtered(rows, try translator.inner(variable.key, of: rows, filter))
    }
}

// MARK: Lists, ranges and texts

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.SequenceContains: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        switch (try translator.meaning(sequence), try translator.meaning(element)) {
        case (.list(let list), .path(let path)):
            return .condition(try translator.compared(path, .in, .list(list)))
        case (.range(let lower, let upper, let isClosed), .path):
            return .condition(try translator.isIn(element, lower, upper, isClosed))
        case (.path(let path), .literal(.text(let text))) where path.destination == nil:
            return .condition(try translator.compared(path, .contains, .text(text)))
        default: throw PredicateTranslator.refused(self, "is only supported for a captured list and an attribute")
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateTranslator {
    /// Translates a test for a value in a range.
    fileprivate mutating func isIn(
        _ element: Any, _ lower: PredicateLiteral, _ upper: PredicateLiteral, _ isClosed: Bool
    ) throws -> PredicateNode {
        let last: PredicateOperator = isClosed ? .lessOrEqual : .less
        if case .path(let path) = try meaning(element) {
            return .and([try compared(path, .greaterOrEqual, lower), try compared(path, last, upper)])
        }
        let term = try term(element)
        return .and([
            .calculation(.init(left: term, operator: .greaterOrEqual, right: .literal(lower, .none), location: .none)),
            .calculation(.init(left: term, operator: last, right: .literal(upper, .none), location: .none)),
        ])
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.ClosedRange: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        try translator.range(self, from: lower, to: upper, isClosed: true)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Range: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        try translator.range(self, from: lower, to: upper, isClosed: false)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.RangeExpressionContains: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        try PredicateTranslator.checkOrder(of: Element.Output.self)
        guard case .range(let lower, let upper, let isClosed) = try translator.meaning(range) else {
            throw PredicateTranslator.refused(self)
        }
        return .condition(try translator.isIn(element, lower, upper, isClosed))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.CollectionContainsCollection: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        try translator.search(self, base, .contains, other)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.SequenceStartsWith: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        try translator.search(self, base, .beginsWith, prefix)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateTranslator {
    fileprivate mutating func range(
        _ expression: Any, from lower: Any, to upper: Any, isClosed: Bool
    ) throws -> Meaning {
        guard case .literal(let first) = try meaning(lower), case .literal(let last) = try meaning(upper) else {
            throw Self.refused(expression, "is only supported for constants")
        }
        return .range(lower: first, upper: last, isClosed: isClosed)
    }

    /// Translates a search for a constant in the text of an attribute.
    fileprivate mutating func search(
        _ expression: Any, _ base: Any, _ op: PredicateOperator, _ part: Any
    ) throws -> Meaning {
        guard case .path(let path) = try meaning(base), path.destination == nil,
            case .literal(.text(let text)) = try meaning(part)
        else { throw Self.refused(expression, "is only supported for an attribute and a constant string") }
        return .condition(try compared(path, op, .text(text)))
    }
}

// MARK: Calculations

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Arithmetic: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        let operation: PredicateTerm.Operation =
            switch op {
            case .add: .plus
            case .subtract: .minus
            case .multiply: .times
            @unknown default: throw PredicateTranslator.refused(self)
            }
        return try translator.calculated(lhs, operation, rhs, of: Output.self)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.IntDivision: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        try translator.calculated(lhs, .dividedBy, rhs, of: Output.self)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.IntRemainder: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        try translator.calculated(lhs, .remainder, rhs, of: Output.self)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.FloatDivision: TranslatedExpression {
    /// Division by zero is infinity in Swift, but NULL in SQL. So the divisor must be a constant other than zero.
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        guard case .literal(.number(let text)) = try translator.meaning(rhs), Double(text) != 0 else {
            throw PredicateTranslator.refused(self, "is only supported for a constant divisor other than zero")
        }
        return try translator.calculated(lhs, .dividedBy, rhs, of: Output.self)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.UnaryMinus: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        if case .literal(.number(let text)) = try translator.meaning(wrapped) {
            return .literal(.number(text.hasPrefix("-") ? String(text.dropFirst()) : "-" + text))
        }
        return .term(.calculated(.literal(.number("0"), .none), .minus, try translator.term(wrapped), .none))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateTranslator {
    fileprivate mutating func calculated(
        _ left: Any, _ operation: PredicateTerm.Operation, _ right: Any, of type: Any.Type
    ) throws -> Meaning {
        guard Self.exactTypes.contains(where: { $0 == type }) else {
            throw Self.refused(
                "'\(operation.rawValue)' of type \(type) differs between Swift and SQLite")
        }
        return .term(.calculated(try term(left), operation, try term(right), .none))
    }

    /// The types whose arithmetic is the same in Swift and in SQL, except on overflow.
    private static let exactTypes: [Any.Type] = [
        Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt8.self, UInt16.self, UInt32.self, Double.self,
    ]

    /// Checks that SQL has an order for values of a type: texts by bytes, other types as in Swift. A type of the app
    /// may define another order.
    fileprivate static func checkOrder(of type: Any.Type) throws {
        let known = exactTypes + [Float.self, String.self, Date.self, Decimal.self, UUID.self]
        guard known.contains(where: { $0 == type }) else {
            throw refused("the order of values of type \(type) is not supported")
        }
    }
}

extension PredicateTerm {
    /// Returns whether the term is nil if the value at the end of a path is nil.
    fileprivate func isNil(without path: [String]) -> Bool {
        switch self {
        case .path(let own, _): !own.isCount && own.components.starts(with: path)
        case .literal: false
        case .calculated(let left, _, let right, _): left.isNil(without: path) || right.isNil(without: path)
        }
    }
}
