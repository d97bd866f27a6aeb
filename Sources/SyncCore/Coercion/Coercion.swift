import Foundation

/// The conversion of JSON to attribute types. The conversion determines which JSON is valid for each type, and the form
/// in which the value is stored.
package enum Coercion {
    private typealias Bytes = UnsafeBufferPointer<UInt8>

    /// Converts the JSON value at a token, or returns nil if the value is not valid for the type. The result references
    /// text that is verbatim in the payload. Other text and data are appended to the arena, a byte buffer.
    @inline(__always)
    package static func slot(
        _ tape: JSONTape, at index: Int, as type: AttributeType, bytes: UnsafeBufferPointer<UInt8>,
        arena: inout [UInt8]
    ) -> PackedValue? {
        let token = tape.tokens[index]
        if token.kind == .null { return .null }
        if token.kind == .string, token.hasEscapes, type != .json {
            var plain: [UInt8] = []
            JSONText.unescape(Bytes(rebasing: bytes[token.offset..<token.offset + Int(token.length)]), into: &plain)
            return plain.withUnsafeBufferPointer { slot(.string, $0, offset: nil, as: type, arena: &arena) }
        }
        switch type {
        case .json:
            let start = arena.count
            CanonicalJSON.append(tape, at: index, in: bytes, to: &arena)
            return text(from: start, arena)
        case .transformable: return nil
        default: break
        }
        switch token.kind {
        case .true_, .false_: return slot(token.kind == .true_, as: type, arena: &arena)
        case .object, .array, .null: return nil
        case .number, .string:
            let text = Bytes(rebasing: bytes[token.offset..<token.offset + Int(token.length)])
            return slot(token.kind, text, offset: token.offset, as: type, arena: &arena)
        }
    }

    private static func slot(_ value: Bool, as type: AttributeType, arena: inout [UInt8]) -> PackedValue? {
        switch type {
        case .integer, .boolean: .integer(value ? 1 : 0)
        case .double: .real(value ? 1 : 0)
        case .decimal, .string: append(value ? "1".utf8 : "0".utf8, to: &arena)
        default: nil
        }
    }

    /// Converts a number or string.
    ///
    /// - Parameter offset: The offset of the text in the payload; nil if the text is not verbatim there.
    @inline(__always)
    private static func slot(
        _ kind: JSONTape.Kind, _ text: Bytes, offset: Int?, as type: AttributeType, arena: inout [UInt8]
    ) -> PackedValue? {
        switch type {
        case .integer: return NumberText.integer(text).map(PackedValue.integer)
        case .double: return NumberText.double(text).map { .real($0 == 0 ? 0 : $0) }
        case .string where kind == .string: return verbatim(text, offset, &arena)
        case .string:
            let start = arena.count
            guard NumberText.appendExact(text, to: &arena) else { return nil }
            return Coercion.text(from: start, arena)
        case .date:
            let milliseconds = kind == .number ? DateParser.milliseconds(number: text) : DateParser.milliseconds(text)
            return milliseconds.map(PackedValue.date)
        case .decimal:
            let start = arena.count
            guard DecimalText.append(text, to: &arena) else { return nil }
            return Coercion.text(from: start, arena)
        case .boolean: return kind == .number ? boolean(number: text) : boolean(text)
        case .uuid where kind == .string: return uuid(text, offset, &arena)
        case .url where kind == .string: return isURL(text) ? verbatim(text, offset, &arena) : nil
        case .binary where kind == .string: return binary(text, &arena)
        default: return nil
        }
    }

    // MARK: Types

    private static func boolean(number text: Bytes) -> PackedValue? {
        switch NumberText.integer(text) {
        case 0: .integer(0)
        case 1: .integer(1)
        default: nil
        }
    }

    private static func boolean(_ text: Bytes) -> PackedValue? {
        guard text.count <= 5 else { return nil }
        switch String(decoding: text, as: UTF8.self).lowercased() {
        case "true", "yes", "1": return .integer(1)
        case "false", "no", "0": return .integer(0)
        default: return nil
        }
    }

    private static func uuid(_ text: Bytes, _ offset: Int?, _ arena: inout [UInt8]) -> PackedValue? {
        guard text.count == 36 else { return nil }
        var isUpper = true
        for (index, byte) in text.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                if byte != .minus { return nil }
            } else {
                guard JSONText.hexadecimal(byte) != nil else { return nil }
                if byte >= UInt8(ascii: "a") { isUpper = false }
            }
        }
        if isUpper { return verbatim(text, offset, &arena) }
        return append(text.map { $0 >= UInt8(ascii: "a") ? $0 - .caseBit : $0 }, to: &arena)
    }

    /// Returns whether a text can be a URL: it is not empty, and RFC 3986 allows each of its characters. Characters
    /// beyond ASCII are also allowed. Each `%` must begin a complete escape.
    private static func isURL(_ text: Bytes) -> Bool {
        guard !text.isEmpty else { return false }
        for (index, byte) in text.enumerated() {
            switch byte {
            case 0...UInt8.blank, .quote, UInt8(ascii: "<"), UInt8(ascii: ">"), .backslash, UInt8(ascii: "^"),
                UInt8(ascii: "`"), .openBrace, UInt8(ascii: "|"), .closeBrace, .delete:
                return false
            case .percent:
                guard index + 2 < text.count, JSONText.hexadecimal(text[index + 1]) != nil,
                    JSONText.hexadecimal(text[index + 2]) != nil
                else { return false }
            default: break
            }
        }
        return true
    }

    private static func binary(_ text: Bytes, _ arena: inout [UInt8]) -> PackedValue? {
        // Foundation also decodes text that no encoder writes, such as `aa=a`, so encoding the result must give the
        // same text.
        let encoded = String(decoding: text, as: UTF8.self)
        guard let data = Data(base64Encoded: encoded), data.base64EncodedString() == encoded else { return nil }
        let start = arena.count
        arena += data
        return PackedValue(kind: .arenaBlob, offset: start, length: data.count)
    }

    // MARK: Texts

    @inline(__always)
    private static func verbatim(_ text: Bytes, _ offset: Int?, _ arena: inout [UInt8]) -> PackedValue {
        guard let offset else { return append(text, to: &arena) }
        return PackedValue(kind: .payloadText, offset: offset, length: text.count)
    }

    static func append(_ text: some Sequence<UInt8>, to arena: inout [UInt8]) -> PackedValue {
        let start = arena.count
        arena.append(contentsOf: text)
        return Coercion.text(from: start, arena)
    }

    private static func text(from start: Int, _ arena: [UInt8]) -> PackedValue {
        PackedValue(kind: .arenaText, offset: start, length: arena.count - start)
    }

    // MARK: Single values

    /// Converts a JSON value, including null, to a stored value. Returns nil if the value is not valid for the type.
    package static func storedValue(_ value: JSONValue, as type: AttributeType) -> StoredValue? {
        var builder = JSONTapeBuilder()
        var arena: [UInt8] = []
        guard (try? builder.read(value)) != nil else { return nil }
        return builder.bytes.withUnsafeBufferPointer { bytes in
            guard let slot = slot(builder.tape, at: 0, as: type, bytes: bytes, arena: &arena) else { return nil }
            return arena.withUnsafeBufferPointer {
                StoredValue(slot, as: type, TextPool(payload: bytes, arena: $0))
            }
        }
    }
}

/// The type of an attribute. The raw value is the name of the type in schema files.
///
/// `Docs/MappingValues.md` lists the JSON that each type accepts, and the stored form of each type.
public enum AttributeType: String, Sendable, Hashable, CaseIterable, Codable {
    /// A 64-bit integer.
    case integer
    /// A 64-bit floating-point number. Use ``decimal`` for values that must be exact, such as money.
    case double
    /// An exact decimal number of up to 38 digits, stored as text.
    case decimal
    /// A Boolean, stored as 0 or 1.
    case boolean
    /// A string. JSON numbers are converted to strings, and Booleans to `"1"` or `"0"`.
    case string
    /// A date in the years 1 to 9999 with millisecond precision, stored as text in UTC. Without a format, a sync reads
    /// ISO 8601 strings and Unix times.
    case date
    /// A UUID, stored as text in upper case.
    case uuid
    /// A URL, stored as text without changes.
    case url
    /// Binary data. In JSON, the data is a base64 string.
    case binary
    /// Any JSON value, stored as canonical text.
    case json
    /// The result of the attribute's transformer, stored as JSON. Without a transformer, a sync stores null. Exports
    /// omit attributes of this type.
    case transformable

    /// Whether values of this type can identify a row.
    package var canBeKey: Bool {
        switch self {
        case .integer, .string, .uuid, .date, .decimal, .double: true
        case .boolean, .url, .binary, .json, .transformable: false
        }
    }
}

/// The types of the values of an entity's primary key.
package indirect enum KeyType: Sendable, Hashable {
    /// A key of one attribute.
    case single(AttributeType)
    /// A composite key with parts of these types. A relationship that is a part has the key type of its destination.
    case composite([KeyType])
}

/// A check of whether values fit the Swift type of a property.
package protocol ValueFitting: Sendable {
    /// Returns whether a value other than null fits the type.
    func fits(_ value: StoredValue) -> Bool
    /// Returns why a value does not fit the type, in messages; nil if the name of the type says it.
    func misfitReason(_ value: StoredValue) -> String?
    /// The range of the integers that fit, if the range alone decides; nil otherwise.
    var integers: ClosedRange<Int64>? { get }
    /// The name of the Swift type in messages.
    var typeName: String { get }
    /// The raw values of all cases of the Swift type, in messages; empty if they are not known.
    var cases: [String] { get }
}

extension ValueFitting {
    package var integers: ClosedRange<Int64>? { nil }
    package var cases: [String] { [] }
    package func misfitReason(_ value: StoredValue) -> String? { nil }
}

/// The check of values for the Swift type of an attribute. All checks are equal, so that two models with different
/// checks can be equal.
package struct ValueCheck: Sendable, Hashable {
    package let fitting: any ValueFitting

    init?(_ fitting: (any ValueFitting)?) {
        guard let fitting else { return nil }
        self.fitting = fitting
    }

    package static func == (left: ValueCheck, right: ValueCheck) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}

// MARK: - String+ByteOrder

extension String {
    /// Returns whether two strings have the same bytes. The database compares strings in this way.
    func hasBytes(of other: String) -> Bool {
        withBytes(other) { TextPool.equal($0, $1) } ?? utf8.elementsEqual(other.utf8)
    }

    /// Returns whether a string precedes another string by its bytes. The database orders strings in this way.
    func precedesByBytes(_ other: String) -> Bool {
        withBytes(other) { TextPool.precedes($0, $1) } ?? utf8.lexicographicallyPrecedes(other.utf8)
    }

    /// Calls a closure with the bytes of both strings; nil if the storage of one is not contiguous, as in bridged
    /// strings.
    private func withBytes<Result>(
        _ other: String, _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result? {
        utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in body(left, right) }
        } ?? nil
    }
}
