public import Foundation

/// A JSON value. A number is stored as a string, so no digits are lost.
///
/// An absent key has no member in an object. A key with the value `null` has a member with the value ``null``.
public indirect enum JSONValue: Sendable, Hashable {
    /// The value `null`. In a payload, `null` removes the stored value of an optional attribute. An absent key leaves
    /// the stored value unchanged.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, spelled as in the JSON, such as `7.50` or `1e3`.
    case number(String)
    /// A string, unescaped.
    case string(String)
    /// An array, with its elements in the order of the JSON.
    case array([JSONValue])
    /// An object, with its members in the order of the JSON. If a key is repeated, the last value of the key applies.
    case object([Member])

    /// A member of an object: a key and its value.
    public struct Member: Sendable, Hashable {
        /// The key, unescaped.
        public var key: String
        /// The value of the key.
        public var value: JSONValue

        /// Creates a member from a key and a value.
        public init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// The value of a key of the object; nil if the object lacks the key, and for another kind of value. If the key is
    /// repeated, the last value of the key applies. Keys are compared byte for byte.
    public subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.key.utf8.elementsEqual(key.utf8) }?.value
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Creates `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a whole number.
    public init(integerLiteral value: Int64) { self = .number(String(value)) }
    /// Creates a number, spelled as the description of the `Double`, such as `1.0`.
    public init(floatLiteral value: Double) { self = .number("\(value)") }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object, with its members in the order of the literal.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}

extension JSONValue {
    /// Creates a whole number.
    public init(_ value: some BinaryInteger) { self = .number(String(value)) }
    /// Creates a string from a UUID, in upper case.
    package init(_ value: UUID) { self = .string(value.uuidString) }
}

// Strings are compared by their bytes, as JSON and databases do. Swift would also treat canonically equivalent strings
// as equal.
extension JSONValue {
    /// Returns whether both values are equal, including the spelling of numbers and the order of members.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }
}

extension JSONValue.Member {
    /// Returns whether both members have the same key, byte for byte, and the same value.
    public static func == (left: Self, right: Self) -> Bool {
        left.key.utf8.elementsEqual(right.key.utf8) && left.value == right.value
    }
}

// MARK: - Codable

extension JSONValue: Codable {
    /// Creates a value by decoding any JSON value. Numbers keep their value within the precision of `Decimal`, but not
    /// their spelling. The members of objects are sorted by the bytes of their keys.
    public init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: Name.self) {
            let names = object.allKeys.sorted { $0.stringValue.utf8.lexicographicallyPrecedes($1.stringValue.utf8) }
            self = .object(try names.map { Member($0.stringValue, try object.decode(JSONValue.self, forKey: $0)) })
        } else if var array = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !array.isAtEnd { elements.append(try array.decode(JSONValue.self)) }
            self = .array(elements)
        } else {
            try self.init(scalar: decoder.singleValueContainer())
        }
    }

    private init(scalar: any SingleValueDecodingContainer) throws {
        if scalar.decodeNil() {
            self = .null
        } else if let value = try? scalar.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? scalar.decode(String.self) {
            self = .string(value)
        } else if let value = try? scalar.decode(Int64.self) {
            self = .number(String(value))
        } else if let value = try? scalar.decode(Decimal.self), !value.isNaN {
            self = .number("\(value)")
        } else {
            self = .number("\(try scalar.decode(Double.self))")
        }
    }

    /// Encodes the value. Numbers keep their value within the precision of `Decimal`, but not their spelling.
    ///
    /// - Throws: An error of the encoder. For example, `JSONEncoder` throws an error for a number beyond the ranges of
    ///   `Decimal` and `Double`.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let members):
            var object = encoder.container(keyedBy: Name.self)
            for member in members { try object.encode(member.value, forKey: Name(stringValue: member.key)) }
        case .array(let elements):
            var array = encoder.unkeyedContainer()
            for element in elements { try array.encode(element) }
        default:
            var scalar = encoder.singleValueContainer()
            try encode(to: &scalar)
        }
    }

    private func encode(to scalar: inout any SingleValueEncodingContainer) throws {
        switch self {
        case .bool(let value): try scalar.encode(value)
        case .string(let value): try scalar.encode(value)
        case .number(let text):
            if let value = Int64(text) {
                try scalar.encode(value)
            } else if let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), !value.isNaN {
                try scalar.encode(value)
            } else {
                try scalar.encode(Double(text) ?? .nan)
            }
        case .null, .array, .object: try scalar.encodeNil()
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

// MARK: - Description

extension JSONValue: CustomStringConvertible {
    /// The largest number of bytes of the JSON text in a description.
    private static let shownBytes = 1000

    /// The value as JSON text. Text of more than 1,000 bytes is truncated, and followed by the size of the whole text.
    public var description: String {
        let bytes = JSONText.bytes(of: self)
        guard bytes.count > Self.shownBytes else { return String(decoding: bytes, as: UTF8.self) }
        var end = Self.shownBytes
        // Cut at the boundary of a character.
        while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return String(decoding: bytes[..<end], as: UTF8.self) + "… (\(bytes.count) bytes)"
    }
}

// MARK: - Parsing

extension JSONValue {
    /// Creates a value from JSON text in UTF-8. The text must contain exactly one value, and conform strictly to RFC
    /// 8259.
    ///
    /// - Throws: ``SyncError`` `malformedJSON`, `invalidUTF8` or `nestingTooDeep`, with line and column.
    public init(parsing data: Data) throws {
        self = try data.withUnsafeBytes { try JSONValue(parsing: $0.bindMemory(to: UInt8.self)) }
    }

    /// Creates a value from a string of JSON text. The text must contain exactly one value, and conform strictly to RFC
    /// 8259.
    ///
    /// - Throws: ``SyncError`` `malformedJSON` or `nestingTooDeep`, with line and column.
    public init(parsing text: String) throws { try self.init(parsing: Array(text.utf8)) }

    /// Creates a value from JSON text in UTF-8. The text must contain exactly one value, and conform strictly to RFC
    /// 8259.
    ///
    /// - Throws: ``SyncError`` with line and column.
    package init(parsing bytes: [UInt8]) throws {
        self = try bytes.withUnsafeBufferPointer { try JSONValue(parsing: $0) }
    }

    /// Creates a value from the types of `JSONSerialization` and from common Swift types.
    ///
    /// - Throws: ``SyncError`` `nestingTooDeep`, or `typeMismatch` with the path of a value that has no JSON form.
    package init(any value: Any, path: String = "$") throws {
        var builder = JSONTapeBuilder()
        try builder.read(any: value, path: path)
        self = builder.bytes.withUnsafeBufferPointer { builder.tape.value(at: 0, in: $0) }
    }

    private init(parsing bytes: UnsafeBufferPointer<UInt8>) throws {
        var scanner = JSONScanner(bytes, maximumDepth: 512)
        var tape = JSONTape()
        try scanner.value(into: &tape, depth: 0)
        scanner.skipBlanks()
        guard scanner.isAtEnd else { throw scanner.failure(expected: "the end of the text") }
        self = tape.value(at: 0, in: bytes)
    }
}

extension JSONTape {
    /// Returns the text of a string, key or number token.
    package func text(at token: Int, in bytes: UnsafeBufferPointer<UInt8>) -> String {
        let found = tokens[token]
        let raw = UnsafeBufferPointer(rebasing: bytes[found.offset..<found.offset + Int(found.length)])
        guard found.hasEscapes else { return String(decoding: raw, as: UTF8.self) }
        var plain: [UInt8] = []
        JSONText.unescape(raw, into: &plain)
        return String(decoding: plain, as: UTF8.self)
    }

    /// Returns the value at a token. The recursion is safe, because the nesting depth of a tape is limited.
    package func value(at token: Int, in bytes: UnsafeBufferPointer<UInt8>) -> JSONValue {
        switch tokens[token].kind {
        case .null: return .null
        case .true_: return .bool(true)
        case .false_: return .bool(false)
        case .number: return .number(text(at: token, in: bytes))
        case .string: return .string(text(at: token, in: bytes))
        case .array:
            var elements: [JSONValue] = []
            var element = token + 1
            while element < Int(tokens[token].next) {
                elements.append(value(at: element, in: bytes))
                element = Int(tokens[element].next)
            }
            return .array(elements)
        case .object:
            var members: [JSONValue.Member] = []
            var key = token + 1
            while key < Int(tokens[token].next) {
                members.append(.init(text(at: key, in: bytes), value(at: key + 1, in: bytes)))
                key = Int(tokens[key + 1].next)
            }
            return .object(members)
        }
    }
}
