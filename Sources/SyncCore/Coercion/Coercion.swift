import Foundation

/// The coercion table: which JSON fits which attribute, and as what it is stored.
package enum Coercion {
    private typealias Bytes = UnsafeBufferPointer<UInt8>

    /// Brings a token to the storage class of a type; nil if it does not fit. Text that is verbatim in the payload
    /// stays there, other text goes to the arena.
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

    /// A number or string. `offset` is its place in the payload, if its text is there as it is.
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

    /// A reference as of RFC 3986, or with characters beyond ASCII: no blanks, controls or quotes, escapes complete.
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
        // Foundation also decodes text that no encoder writes, such as `aa=a`: what it reads must give the text again.
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

    /// The same table for one value, `null` included; nil if it does not fit.
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

/// The type of an attribute's values, as written in a schema file.
///
/// What each type accepts from JSON and how it is stored is the coercion table of `Docs/MappingContract.md`.
public enum AttributeType: String, Sendable, Hashable, CaseIterable, Codable {
    /// A whole number of 64 bits.
    case integer
    /// A floating-point number of 64 bits; what must stay exact, such as money, is ``decimal``.
    case double
    /// A decimal number of up to 38 digits, kept exactly; stored as text.
    case decimal
    /// True or false; stored as 1 or 0.
    case boolean
    /// A text; a JSON number or boolean becomes one.
    case string
    /// An instant, to the millisecond, from ISO 8601 or Unix time; stored as text in UTC.
    case date
    /// A UUID; stored in upper case.
    case uuid
    /// A URL; stored as it is written.
    case url
    /// Bytes, which JSON has as base64.
    case binary
    /// Any JSON value, stored as text in one canonical spelling.
    case json
    /// What the attribute's transformer makes of the JSON, stored as JSON; nil without a transformer.
    case transformable

    /// Whether values of this type can identify a row.
    public var canBeKey: Bool {
        switch self {
        case .integer, .string, .uuid, .date, .decimal, .double: true
        case .boolean, .url, .binary, .json, .transformable: false
        }
    }
}

/// What the keys of an entity are: values of an attribute's type, or lists of the values of several parts.
package indirect enum KeyType: Sendable, Hashable {
    /// Of one attribute.
    case single(AttributeType)
    /// Of these parts; that of a relationship is the key type of the entity it leads to.
    case composite([KeyType])
}

/// Whether values have room in the Swift type of a property.
package protocol ValueFitting: Sendable {
    /// Whether a value that is not nil is one of the type.
    func fits(_ value: StoredValue) -> Bool
    /// The whole numbers that fit, where that is all there is to know.
    var integers: ClosedRange<Int64>? { get }
    /// What the type is called.
    var typeName: String { get }
}

extension ValueFitting {
    package var integers: ClosedRange<Int64>? { nil }
}

/// What an attribute of a Swift type is checked with; nothing where any value of its kind fits. Attributes are equal without it:
/// a store keeps none.
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
    /// Whether two texts have the same bytes, as the database compares them.
    func hasBytes(of other: String) -> Bool {
        withBytes(other) { TextPool.equal($0, $1) } ?? utf8.elementsEqual(other.utf8)
    }

    /// Whether the bytes of a text come before those of another: the order of the database.
    func precedesByBytes(_ other: String) -> Bool {
        withBytes(other) { TextPool.precedes($0, $1) } ?? utf8.lexicographicallyPrecedes(other.utf8)
    }

    /// Nil where the bytes of one are not in one piece: texts of another runtime.
    private func withBytes<Result>(
        _ other: String, _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result? {
        utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in body(left, right) }
        } ?? nil
    }
}
