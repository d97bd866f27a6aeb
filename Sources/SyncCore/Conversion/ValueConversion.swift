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
    ) -> PackedValue? {
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
    ) -> PackedValue? {
        if transformers.isEmpty, let format {
            let token = tape.tokens[index]
            guard token.kind == .number || (token.kind == .string && !token.hasEscapes) else {
                return format.milliseconds(tape.value(at: index, in: bytes)).map(PackedValue.date)
            }
            let text = UnsafeBufferPointer(rebasing: bytes[token.offset..<token.offset + Int(token.length)])
            return format.milliseconds(token.kind, text).map(PackedValue.date)
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

/// How a service writes the instants of a date attribute, read and exported so.
///
/// Without one a date is read from ISO 8601 and from Unix time by its size, and exported as ISO 8601. With one nothing else
/// fits: text that could be several dates is never guessed.
public enum AttributeFormat: Sendable, Hashable {
    /// Seconds since 1970, a number that may have a fraction: `1709231399.25`. Also as text.
    case unixSeconds
    /// Milliseconds since 1970: `1709231399250`.
    case unixMilliseconds
    /// Microseconds since 1970, kept to the millisecond.
    case unixMicroseconds
    /// Nanoseconds since 1970, kept to the millisecond.
    case unixNanoseconds
    /// ISO 8601 and nothing else: `2024-02-29T18:29:59.999Z`.
    case iso8601
    /// A pattern of Unicode Technical Standard 35, such as `dd.MM.yyyy` or `yyyy-MM-dd HH:mm:ss`, in UTC where it has no
    /// zone. Which letters are known says `Docs/MappingContract.md`.
    case pattern(String)

    private static let words: [(word: String, format: AttributeFormat)] = [
        ("unix-seconds", .unixSeconds), ("unix-milliseconds", .unixMilliseconds),
        ("unix-microseconds", .unixMicroseconds), ("unix-nanoseconds", .unixNanoseconds), ("iso8601", .iso8601),
    ]

    /// The names of the formats that are no patterns.
    package static var names: [String] { words.map(\.word) }

    /// The format as a schema file has it: `unix-seconds`, `unix-milliseconds`, `unix-microseconds`,
    /// `unix-nanoseconds`, `iso8601`, or a pattern.
    public init(_ text: String) {
        self = Self.words.first { $0.word == text }?.format ?? .pattern(text)
    }

    /// The format as a schema file has it.
    public var text: String {
        if case .pattern(let pattern) = self { return pattern }
        return Self.words.first { $0.format == self }?.word ?? ""
    }

    /// What is wrong with it; nil if nothing is.
    package var problem: String? {
        guard case .pattern(let pattern) = self else { return nil }
        do {
            _ = try DatePattern(pattern)
            return nil
        } catch {
            let names = Self.names.joined(separator: ", ")
            return "'\(pattern)' is no date pattern (\(error.message)), nor one of \(names)"
        }
    }
}

/// An ``AttributeFormat`` ready for use.
enum DateFormat: Sendable {
    case unix(UnixTime)
    case iso8601
    case pattern(DatePattern)

    /// Nil for a pattern that is none, which a model cannot have.
    init?(_ format: AttributeFormat) {
        switch format {
        case .unixSeconds: self = .unix(.seconds)
        case .unixMilliseconds: self = .unix(.milliseconds)
        case .unixMicroseconds: self = .unix(.microseconds)
        case .unixNanoseconds: self = .unix(.nanoseconds)
        case .iso8601: self = .iso8601
        case .pattern(let text):
            guard let pattern = try? DatePattern(text) else { return nil }
            self = .pattern(pattern)
        }
    }

    /// The instant that a number or a text is in this format; nil if it is none.
    func milliseconds(_ kind: JSONTape.Kind, _ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        switch (self, kind) {
        case (.unix(let unit), .number), (.unix(let unit), .string): unit.milliseconds(text)
        // Without its dashes a text would be taken for Unix time.
        case (.iso8601, .string) where text.count >= 10 && text[4] == .minus: DateParser.milliseconds(text)
        // `20240229` is written as a number too.
        case (.pattern(let pattern), .string), (.pattern(let pattern), .number): pattern.milliseconds(text)
        default: nil
        }
    }

    /// A value that a transformer gives.
    func milliseconds(_ value: JSONValue) -> Int64? {
        let (kind, text): (JSONTape.Kind, String)
        switch value {
        case .number(let number): (kind, text) = (.number, number)
        case .string(let string): (kind, text) = (.string, string)
        default: return nil
        }
        return Array(text.utf8).withUnsafeBufferPointer { milliseconds(kind, $0) }
    }

    /// The instant in this format; nil if the format cannot say it.
    func json(_ date: Date) -> JSONValue? {
        guard let milliseconds = date.milliseconds else { return nil }
        return switch self {
        case .unix(let unit): .number(unit.text(milliseconds))
        case .iso8601: .string(DateText.iso(milliseconds))
        case .pattern(let pattern): pattern.text(milliseconds).map(JSONValue.string)
        }
    }
}
