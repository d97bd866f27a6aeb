import Foundation

/// `Codable` values as JSON, which is how attributes keep them.
package enum CodedValue {
    /// Whether values of a type may be nil.
    package static func isOptional(_ type: Any.Type) -> Bool { type is any OptionalValue.Type }

    /// The JSON of a value.
    package static func json(_ value: some Encodable) throws -> JSONValue {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in
            guard let milliseconds = date.milliseconds else {
                throw EncodingError.invalidValue(
                    date, .init(codingPath: encoder.codingPath, debugDescription: "no text says this date"))
            }
            var container = encoder.singleValueContainer()
            try container.encode(DateText.iso(milliseconds))
        }
        return try JSONValue(parsing: encoder.encode(value))
    }

    /// The value that JSON is of.
    package static func value<Value: Decodable>(_ json: JSONValue, as type: Value.Type = Value.self) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try JSONValue(from: decoder)
            guard let date = Coercion.storedValue(text, as: .date)?.date else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "no date can be read here"))
            }
            return date
        }
        return try decoder.decode(type, from: Data(JSONText.bytes(of: json)))
    }
}
