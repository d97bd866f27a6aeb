import Foundation

/// What is done with the values of one attribute instead of the coercion table: its transformers one after the other, then
/// its format. Made once per payload; a class, so that a value takes no copy of it.
package final class ValueConversion: Sendable {
    private let transformers: [AttributeTransformer]
    private let format: DateFormat?
    private let type: AttributeType
    /// What is done with values that come in only.
    private let check: ValueCheck?

    /// Nil if the coercion table alone decides.
    package init?(
        _ transformers: [AttributeTransformer], _ format: AttributeFormat?, as type: AttributeType,
        check: ValueCheck? = nil
    ) {
        self.transformers = transformers
        self.format = format.flatMap(DateFormat.init)
        self.type = type
        self.check = check
        if transformers.isEmpty, self.format == nil, check == nil { return nil }
    }

    /// The Swift type that values are checked for.
    var typeName: String? { check?.fitting.typeName }

    /// The value of a token other than null; nil if it does not fit.
    func slot(
        _ tape: JSONTape, at index: Int, _ bytes: UnsafeBufferPointer<UInt8>, arena: inout [UInt8]
    ) -> Slot? {
        guard let fitting = check?.fitting else { return converted(tape, at: index, bytes, arena: &arena) }
        if transformers.isEmpty, format == nil {
            if fitting.integers == nil {
                guard let value = storedValue(tape.value(at: index, in: bytes)), value.isNull || fitting.fits(value)
                else { return nil }
            }
            let slot = Coercion.slot(tape, at: index, as: type, bytes: bytes, arena: &arena)
            guard let slot, slot.kind == .integer, let integers = fitting.integers else { return slot }
            return integers.contains(slot.integer) ? slot : nil
        }
        guard let value = storedValue(tape.value(at: index, in: bytes)), value.isNull || fitting.fits(value) else {
            return nil
        }
        return value.slot(arena: &arena)
    }

    private func converted(
        _ tape: JSONTape, at index: Int, _ bytes: UnsafeBufferPointer<UInt8>, arena: inout [UInt8]
    ) -> Slot? {
        if transformers.isEmpty, let format {
            let token = tape.tokens[index]
            guard token.kind == .number || (token.kind == .string && !token.hasEscapes) else {
                return format.milliseconds(tape.value(at: index, in: bytes)).map(Slot.date)
            }
            let text = UnsafeBufferPointer(rebasing: bytes[token.offset..<token.offset + Int(token.length)])
            return format.milliseconds(token.kind, text).map(Slot.date)
        }
        return storedValue(tape.value(at: index, in: bytes))?.slot(arena: &arena)
    }

    /// The value to store for JSON other than null; nil if it does not fit.
    package func storedValue(_ json: JSONValue) -> StoredValue? {
        var value = StoredValue.json(json)
        for transformer in transformers {
            let given = value.jsonForm
            if given == .null { return .null }
            guard let next = transformer.imported(given) else { return nil }
            value = next
        }
        switch (value, type) {
        case (.null, _), (.json(.null), _): return .null
        case (.json(let json), _) where format != nil:
            return format?.milliseconds(json).map { .date(Date(milliseconds: $0)) }
        case (_, .transformable): return .json(value.jsonForm)
        case (.json(let json), _): return Coercion.storedValue(json, as: type)
        case (_, .json): return .json(value.jsonForm)
        default: return value.inStoredForm(of: type)
        }
    }

    // MARK: Back

    /// The same without a format.
    package var withoutFormat: ValueConversion? { ValueConversion(transformers, nil, as: type) }

    /// Whether values have a way back at all.
    package var canExport: Bool { type != .transformable && transformers.allSatisfy(\.canExport) }

    /// Whether a value is exported as it would be without the conversion.
    package var isUnchangedOnExport: Bool { format == nil && transformers.allSatisfy(\.isUnchangedOnExport) }

    /// The JSON to export for a value other than nil; nil if there is none.
    package func json(_ value: StoredValue) -> JSONValue? {
        var value = value
        if let format, case .date(let date) = value {
            guard let json = format.json(date) else { return nil }
            value = StoredValue(chained: json)
        }
        for transformer in transformers.reversed() where !transformer.isUnchangedOnExport {
            guard let json = transformer.json(value) else { return nil }
            value = StoredValue(chained: json)
            if value.isNull { return .null }
        }
        return value.jsonForm
    }
}

extension StoredValue {
    /// What one transformer of a chain gives to the next: what a value of that kind is in a row.
    fileprivate init(chained json: JSONValue) {
        switch json {
        case .null: self = .null
        case .bool(let flag): self = .boolean(flag)
        case .string(let text): self = .string(text)
        case .number: self = Coercion.storedValue(json, as: .integer) ?? .json(json)
        case .array, .object: self = .json(json)
        }
    }
}
