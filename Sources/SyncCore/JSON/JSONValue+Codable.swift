import Foundation

extension JSONValue: Codable {
    /// Decodes any JSON. Numbers keep their value, not their spelling; the members of objects are in key order.
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

    /// Encodes the value as what it is in JSON. A number too large for both `Decimal` and `Double` is an error.
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

    /// Any key of an object.
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
