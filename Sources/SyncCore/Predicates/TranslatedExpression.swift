import Foundation

/// An expression of a Foundation predicate that can be translated to a condition.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
protocol TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning
}

// MARK: Rows and values

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Variable: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        guard let path = translator.path(of: key) else { throw PredicateTranslator.refused(self) }
        return .path(path)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.KeyPath: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        switch try translator.meaning(root) {
        case .path(var path):
            guard let type = path.destination else { return try ofValue(path, translator) }
            let isMany = path.components.isEmpty ? false : Root.Output.self is any Collection.Type
            if isMany { return try ofRows(path, translator) }
            guard let property = type.property(keyPath) else {
                throw PredicateTranslator.refused(
                    "\(keyPath) is not an attribute or relationship of \(type.entityName)")
            }
            path.components.append(property.name)
            path.destination = property.destination
            return .path(path)
        case .filtered(let path, let node):
            guard case .collectionIsEmpty = kind else {
                throw PredicateTranslator.refused("\(keyPath) of filtered rows is not supported; only 'isEmpty' is")
            }
            return .condition(.not(try translator.related(.any, path, node)))
        default: throw PredicateTranslator.refused("\(keyPath) is not a property of a row")
        }
    }

    private func ofRows(
        _ path: PredicateTranslator.Path, _ translator: PredicateTranslator
    ) throws -> PredicateTranslator.Meaning {
        switch kind {
        case .collectionCount: return .count(path)
        case .collectionIsEmpty: return .condition(try translator.compared(path, .equal, .null))
        default: break
        }
        throw PredicateTranslator.refused("\(keyPath) of a to-many relationship is not supported")
    }

    /// Translates a property of an attribute's value: `rawValue` of an enum, or `isEmpty` of a string. A key path has no
    /// name, so a property of a type that is stored as JSON cannot be translated.
    private func ofValue(
        _ path: PredicateTranslator.Path, _ translator: PredicateTranslator
    ) throws -> PredicateTranslator.Meaning {
        if let type = Root.Output.self as? any CaseIterable.Type, type.areRawValues(at: keyPath) { return .path(path) }
        if keyPath as AnyKeyPath == \String.isEmpty {
            return .condition(try translator.compared(path, .equal, .text("")))
        }
        let name = path.components.joined(separator: ".")
        let hint = isMemberOfJSON ? "; a text condition can use it, for example \"\(name).name == 'x'\"" : ""
        throw PredicateTranslator.refused("this property of the attribute '\(name)' is not supported\(hint)")
    }

    /// Whether the value with the property is of a `Codable` type whose members are stored as JSON.
    private var isMemberOfJSON: Bool {
        let type: Any.Type = Root.Output.self
        guard type is any Decodable.Type, !(type is any AttributeValue.Type) else { return false }
        return !(type is any RawRepresentable.Type) && !(type is any Collection.Type)
    }
}

extension SyncEntity {
    fileprivate static func property(_ path: AnyKeyPath) -> SyncProperty? {
        (path as? PartialKeyPath<Self>).flatMap { syncProperties[$0] }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Value: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) throws -> PredicateTranslator.Meaning {
        if let literal = PredicateLiteral(captured: value) { return .literal(literal) }
        if let range = value as? any CapturedRange, let meaning = range.meaning { return meaning }
        if let list = value as? any Collection {
            let literals = list.map { PredicateLiteral(captured: $0) }
            let known = literals.compactMap(\.self)
            if known.count == literals.count { return .list(known) }
        }
        throw PredicateTranslator.refused("a constant of type \(Output.self) is not supported")
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.NilLiteral: TranslatedExpression {
    func meaning(_ translator: inout PredicateTranslator) -> PredicateTranslator.Meaning { .literal(.null) }
}

/// A range that a predicate captures as a constant.
private protocol CapturedRange {
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    var meaning: PredicateTranslator.Meaning? { get }
}

extension CapturedRange {
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    fileprivate func meaning(from lower: Any, to upper: Any, isClosed: Bool) -> PredicateTranslator.Meaning? {
        guard let lower = PredicateLiteral(captured: lower), let upper = PredicateLiteral(captured: upper) else {
            return nil
        }
        return .range(lower: lower, upper: upper, isClosed: isClosed)
    }
}

extension ClosedRange: CapturedRange {
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    var meaning: PredicateTranslator.Meaning? { meaning(from: lowerBound, to: upperBound, isClosed: true) }
}

extension Range: CapturedRange {
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    var meaning: PredicateTranslator.Meaning? { meaning(from: lowerBound, to: upperBound, isClosed: false) }
}

extension PredicateLiteral {
    /// Creates a literal from a captured Swift constant; nil if there is no literal for it.
    fileprivate init?(captured value: Any) {
        if let optional = value as? any OptionalValue, optional.content == nil {
            self = .null
            return
        }
        let value = (value as? any OptionalValue)?.content ?? value
        // A relative URL is rejected: it differs from the absolute URL that it resolves to.
        if let url = value as? URL, url.baseURL != nil { return nil }
        // Use a text of fixed length, so that dates are also ordered as texts.
        if let date = value as? Date {
            guard let milliseconds = date.milliseconds else { return nil }
            self = .text(DateText.string(milliseconds))
            return
        }
        if let value = value as? Character {
            self = .text(String(value))
            return
        }
        if let value = value as? any AttributeValue {
            self.init(stored: value.storedValue)
        } else if let raw = (value as? any RawRepresentable)?.anyRawValue as? any AttributeValue {
            self.init(stored: raw.storedValue)
        } else {
            return nil
        }
    }

    private init?(stored: StoredValue) {
        switch stored {
        case .null: self = .null
        case .integer(let number): self = .number(String(number))
        case .double(let number):
            guard number.isFinite else { return nil }
            self = .number("\(number)")
        case .boolean(let value): self = .boolean(value)
        case .json: return nil
        default:
            switch stored.jsonForm {
            case .string(let text): self = .text(text)
            case .number(let text): self = .number(text)
            default: return nil
            }
        }
    }
}

extension RawRepresentable {
    fileprivate var anyRawValue: Any { rawValue }
}

extension CaseIterable {
    /// Returns whether a key path returns the raw value of every case. There is no other way to recognize a `rawValue`
    /// key path.
    fileprivate static func areRawValues(at path: AnyKeyPath) -> Bool {
        !allCases.isEmpty
            && allCases.allSatisfy { one in
                let raw = (one as? any RawRepresentable)?.anyRawValue as? any AttributeValue
                return raw != nil && raw?.storedValue == (one[keyPath: path] as? any AttributeValue)?.storedValue
            }
    }
}
