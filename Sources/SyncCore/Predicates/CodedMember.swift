import Foundation

/// The properties of `Codable` types that are stored as JSON.
enum CodedMember {
    /// Returns the JSON key of a stored property; nil for any other property, and if no key fills just this property.
    ///
    /// A key path does not contain names, and `CodingKeys` may rename a property. So the type is decoded from sample
    /// values, once for each key with another value of this key. The property belongs to the key whose values it has.
    static func key(of path: AnyKeyPath, in type: Any.Type) -> String? {
        guard isCoded(type), let type = type as? any Codable.Type else { return nil }
        return key(of: path, decoding: type)
    }

    /// Returns whether values of a type are stored as JSON.
    static func isCoded(_ type: Any.Type) -> Bool {
        type is any Codable.Type && !(type is any AttributeValue.Type || type is any RawRepresentable.Type)
    }

    private static func key<Value: Codable>(of path: AnyKeyPath, decoding type: Value.Type) -> String? {
        // A computed property, and a property with observers, has no offset.
        guard let path = path as? PartialKeyPath<Value>, MemoryLayout<Value>.offset(of: path) != nil,
            let base = sample(type, changing: nil)
        else { return nil }
        let found = json(base.value[keyPath: path])
        return base.given.keys.sorted().first { key in
            guard found == base.given[key], let other = sample(type, changing: key) else { return false }
            let changed = json(other.value[keyPath: path])
            return changed == other.given[key] && changed != found
        }
    }

    /// Returns whether members of a type can be compared: scalars whose JSON is unambiguous, and types with members of
    /// their own. A date, for example, has several forms in JSON.
    static func isComparable(_ type: Any.Type) -> Bool {
        let type = (type as? any OptionalValue.Type)?.wrappedType ?? type
        if scalars.contains(where: { $0 == type }) { return true }
        if type is any AttributeValue.Type || type is any Collection.Type { return false }
        if let raw = type as? any RawRepresentable.Type { return scalars.contains { $0 == raw.rawType } }
        return type is any Codable.Type
    }

    private static let scalars: [Any.Type] = [
        String.self, Bool.self, Double.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt8.self,
        UInt16.self, UInt32.self,
    ]

    private static func sample<Value: Codable>(
        _ type: Value.Type, changing key: String?
    ) -> (value: Value, given: [String: JSONValue])? {
        let record = SampleRecord(changedKey: key)
        guard let value = try? Value(from: SampleDecoder(record: record)) else { return nil }
        return (value, record.given)
    }

    /// Returns the JSON of a value; nil if it cannot be encoded, or is encoded in another way than its raw value.
    fileprivate static func json(_ value: Any) -> JSONValue? {
        guard let coded = value as? any Encodable, let json = try? JSONCodedValue.json(coded) else { return nil }
        let content = (value as? any OptionalValue)?.content ?? value
        guard let raw = (content as? any RawRepresentable)?.anyRawValue else { return json }
        return json == self.json(raw) ? json : nil
    }
}

extension RawRepresentable {
    fileprivate static var rawType: Any.Type { RawValue.self }
}

extension CaseIterable {
    /// The first case, or the last; nil if there are no cases.
    fileprivate static func sample(_ isChanged: Bool) -> Any? {
        let cases = Array(allCases)
        return isChanged ? cases.last : cases.first
    }
}

extension FixedWidthInteger {
    fileprivate static func sample(_ isChanged: Bool) -> Any { Self(isChanged ? 1 : 0) }
}

/// The values of the keys of a decoded type.
private final class SampleRecord {
    let changedKey: String?
    var given: [String: JSONValue] = [:]

    init(changedKey: String?) { self.changedKey = changedKey }
}

/// A decoder that supplies a sample value for each key. Lists are empty.
private struct SampleDecoder: Decoder {
    /// The record of the outermost type; nil for the values inside.
    var record: SampleRecord?
    var isChanged = false
    var depth = 0
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Types that contain themselves would never end.
    private static let maximumDepth = 5

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Keyed(decoder: self))
    }
    func unkeyedContainer() -> any UnkeyedDecodingContainer { Unkeyed(decoder: self) }
    func singleValueContainer() -> any SingleValueDecodingContainer { Single(decoder: self) }

    func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // The texts show whether the type changes case or blanks.
        let sample: Any? =
            switch type {
            case is String.Type: isChanged ? " Sample b " : " Sample A "
            case is Bool.Type: isChanged
            case is Double.Type: isChanged ? 1.5 : 0.5
            case is Float.Type: Float(isChanged ? 1.5 : 0.5)
            case is UUID.Type: UUID()
            case is URL.Type: URL(string: "sample:")
            case is Decimal.Type: Decimal()
            case let type as any FixedWidthInteger.Type: type.sample(isChanged)
            case let type as any CaseIterable.Type: type.sample(isChanged)
            default: nil
            }
        if let value = sample as? Value { return value }
        guard depth < Self.maximumDepth else { throw Self.missing(type) }
        return try Value(from: SampleDecoder(isChanged: isChanged, depth: depth + 1))
    }

    static func missing(_ type: Any.Type) -> DecodingError {
        .valueNotFound(type, .init(codingPath: [], debugDescription: "there is no sample value"))
    }

    struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let decoder: SampleDecoder
        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { [] }

        func contains(_ key: Key) -> Bool { true }
        func decodeNil(forKey key: Key) -> Bool { false }

        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            guard let record = decoder.record else { return try decoder.value(type) }
            var decoder = SampleDecoder()
            decoder.isChanged = key.stringValue == record.changedKey
            let value = try decoder.value(type)
            record.given[key.stringValue] = CodedMember.json(value)
            return value
        }

        /// An optional value without a sample is nil.
        func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
            try? decode(type, forKey: key)
        }

        func nestedContainer<Inner: CodingKey>(
            keyedBy type: Inner.Type, forKey key: Key
        ) -> KeyedDecodingContainer<Inner> {
            SampleDecoder(depth: decoder.depth + 1).container(keyedBy: type)
        }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { decoder.unkeyedContainer() }
        func superDecoder() -> any Decoder { SampleDecoder(depth: decoder.depth + 1) }
        func superDecoder(forKey key: Key) -> any Decoder { superDecoder() }
    }

    struct Unkeyed: UnkeyedDecodingContainer {
        let decoder: SampleDecoder
        var codingPath: [any CodingKey] { [] }
        var count: Int? { 0 }
        var isAtEnd: Bool { true }
        var currentIndex: Int { 0 }

        func decodeNil() throws -> Bool { throw SampleDecoder.missing(Any.self) }
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { throw SampleDecoder.missing(type) }
        func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
            throw SampleDecoder.missing(type)
        }
        func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw SampleDecoder.missing(Any.self) }
        func superDecoder() throws -> any Decoder { throw SampleDecoder.missing(Any.self) }
    }

    struct Single: SingleValueDecodingContainer {
        let decoder: SampleDecoder
        var codingPath: [any CodingKey] { [] }

        func decodeNil() -> Bool { false }
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.value(type) }
    }
}
