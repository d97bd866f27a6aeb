import Foundation

/// The conversion of the values of one attribute: its transformers in order, then its date format or ``Coercion``. A
/// sync creates each conversion once. The type is a class, because a struct would be copied for each value.
package final class ValueConversion: Sendable {
    private let transformers: [AttributeTransformer]
    private let format: DateFormat?
    private let type: AttributeType
    /// The check of whether values of a payload fit the Swift type; nil if there is none.
    private let check: ValueCheck?
    /// The limit of the store for values of a payload; nil if there is none.
    private let limit: ValueLimit?

    /// Creates a conversion; nil without transformers, format, check and limit. In that case, ``Coercion`` converts the
    /// values.
    package init?(
        _ transformers: [AttributeTransformer], _ format: AttributeFormat?, as type: AttributeType,
        check: ValueCheck? = nil, limit: ValueLimit? = nil
    ) {
        self.transformers = transformers
        self.format = format.flatMap(DateFormat.init)
        self.type = type
        self.check = check
        self.limit = limit
        if transformers.isEmpty, self.format == nil, check == nil, limit == nil { return nil }
    }

    /// A description of the limit of the store, which follows the name of the type; empty without a limit.
    var limitText: String { limit?.text ?? "" }

    /// The name of the Swift type that values are checked for, with its cases if they are known; nil if there is no
    /// check.
    var typeName: String? {
        guard let fitting = check?.fitting else { return nil }
        let cases = fitting.cases
        return fitting.typeName + (cases.isEmpty ? "" : " (\(TruncatedList(cases).text))")
    }

    /// Returns why a value does not fit the Swift type, in messages; nil if the name of the type says it.
    func misfitReason(_ tape: JSONTape, at index: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        guard let fitting = check?.fitting else { return nil }
        return storedValue(tape.value(at: index, in: bytes)).flatMap(fitting.misfitReason)
    }

    /// Converts the JSON value at a token other than null; nil if it is invalid, or beyond the limit of the store.
    func slot(
        _ tape: JSONTape, at index: Int, _ bytes: UnsafeBufferPointer<UInt8>, arena: inout [UInt8]
    ) -> PackedValue? {
        guard let value = checked(tape, at: index, bytes, arena: &arena) else { return nil }
        guard let limit else { return value }
        let isAdmitted = arena.withUnsafeBufferPointer { limit.admits(value, TextPool(payload: bytes, arena: $0)) }
        return isAdmitted ? value : nil
    }

    private func checked(
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
        if transformers.isEmpty {
            guard let format else { return Coercion.slot(tape, at: index, as: type, bytes: bytes, arena: &arena) }
            let token = tape.tokens[index]
            guard token.kind == .number || (token.kind == .string && !token.hasEscapes) else {
                return format.milliseconds(tape.value(at: index, in: bytes)).map(PackedValue.date)
            }
            let text = UnsafeBufferPointer(rebasing: bytes[token.offset..<token.offset + Int(token.length)])
            return format.milliseconds(token.kind, text).map(PackedValue.date)
        }
        return storedValue(tape.value(at: index, in: bytes))?.slot(arena: &arena)
    }

    /// Converts a JSON value other than null to a stored value, or returns nil if the JSON value is invalid.
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

    // MARK: Export

    /// The conversion by the transformers alone; nil if there are none.
    package var withoutFormat: ValueConversion? { ValueConversion(transformers, nil, as: type) }

    /// Whether values can be converted back to JSON.
    package var canExport: Bool { type != .transformable && transformers.allSatisfy(\.canExport) }

    /// Whether exports write the same JSON as without the conversion.
    package var isUnchangedOnExport: Bool { format == nil && transformers.allSatisfy(\.isUnchangedOnExport) }

    /// Converts a stored value other than null to JSON for an export, or returns nil if the conversion is not possible.
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
    /// Creates a value from the JSON that one transformer passes to the next.
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

/// The format of a date attribute in JSON, for reading and for exports.
///
/// Without a format, a sync reads ISO 8601 and Unix times, and exports write ISO 8601. The magnitude of a Unix time
/// determines its unit. With a format, a sync reads dates only in that format. For one export, a date format in
/// ``ExportOptions`` overrides the formats of the attributes.
///
/// A string literal is the string of a format in a schema file, such as `"unix-seconds"` or `"dd.MM.yyyy"`.
public enum AttributeFormat: Sendable, Hashable, ExpressibleByStringLiteral {
    /// Seconds since the start of 1970 in UTC, as a number or string, optionally with a fraction, such as
    /// `1709231399.25`.
    case unixSeconds
    /// Milliseconds since 1970, as a number or string, such as `1709231399250`.
    case unixMilliseconds
    /// Microseconds since 1970, as a number or string. A sync rounds the time down to milliseconds.
    case unixMicroseconds
    /// Nanoseconds since 1970, as a number or string. A sync rounds the time down to milliseconds.
    case unixNanoseconds
    /// ISO 8601 only, such as `2024-02-29T18:29:59.999Z`.
    case iso8601
    /// A pattern of Unicode Technical Standard 35, such as `dd.MM.yyyy` or `yyyy-MM-dd HH:mm:ss`. A date without a zone
    /// is in UTC. `Docs/MappingDates.md` lists the supported letters. A model cannot be created with an invalid
    /// pattern.
    case pattern(String)

    private static let words: [(word: String, format: AttributeFormat)] = [
        ("unix-seconds", .unixSeconds), ("unix-milliseconds", .unixMilliseconds),
        ("unix-microseconds", .unixMicroseconds), ("unix-nanoseconds", .unixNanoseconds), ("iso8601", .iso8601),
    ]

    /// The names of the formats that are not patterns.
    package static var names: [String] { words.map(\.word) }

    /// Creates a format from its string in a schema file: `unix-seconds`, `unix-milliseconds`, `unix-microseconds`,
    /// `unix-nanoseconds`, `iso8601`, or a pattern.
    public init(_ text: String) {
        self = Self.words.first { $0.word == text }?.format ?? .pattern(text)
    }

    /// Creates the format from its string in a schema file.
    public init(stringLiteral text: String) { self.init(text) }

    /// The string of the format in a schema file.
    package var text: String {
        if case .pattern(let pattern) = self { return pattern }
        return Self.words.first { $0.format == self }?.word ?? ""
    }

    /// The problem of an invalid pattern; nil if the format is valid.
    package var problem: String? {
        guard case .pattern(let pattern) = self else { return nil }
        do {
            _ = try DatePattern(pattern)
            return nil
        } catch {
            let names = Self.names.joined(separator: ", ")
            return "'\(pattern)' is neither a date pattern (\(error.message)) nor one of \(names)"
        }
    }
}

/// An ``AttributeFormat`` with its pattern parsed.
enum DateFormat: Sendable {
    case unix(UnixTime)
    case iso8601
    case pattern(DatePattern)

    /// Creates the parsed format; nil for an invalid pattern, which a validated model does not have.
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

    /// Parses a number or text in this format. Returns milliseconds since 1970; nil if it is invalid.
    func milliseconds(_ kind: JSONTape.Kind, _ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        switch (self, kind) {
        case (.unix(let unit), .number), (.unix(let unit), .string): unit.milliseconds(text)
        // Without the test for a hyphen, a text of digits would be parsed as Unix time.
        case (.iso8601, .string) where text.count >= 10 && text[4] == .minus: DateParser.milliseconds(text)
        // A service may send a date such as `20240229` as a number.
        case (.pattern(let pattern), .string), (.pattern(let pattern), .number): pattern.milliseconds(text)
        default: nil
        }
    }

    /// Parses a JSON value in this format. Returns milliseconds since 1970; nil if it is invalid.
    func milliseconds(_ value: JSONValue) -> Int64? {
        let (kind, text): (JSONTape.Kind, String)
        switch value {
        case .number(let number): (kind, text) = (.number, number)
        case .string(let string): (kind, text) = (.string, string)
        default: return nil
        }
        return Array(text.utf8).withUnsafeBufferPointer { milliseconds(kind, $0) }
    }

    /// Returns a date in this format; nil if the format cannot express it.
    func json(_ date: Date) -> JSONValue? {
        guard let milliseconds = date.milliseconds else { return nil }
        return switch self {
        case .unix(let unit): .number(unit.text(milliseconds))
        case .iso8601: .string(DateText.iso(milliseconds))
        case .pattern(let pattern): pattern.text(milliseconds).map(JSONValue.string)
        }
    }
}
