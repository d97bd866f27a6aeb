/// The value of a primary key.
public enum PrimaryKeyValue: Sendable, CustomStringConvertible {
    /// An integer key, or the surrogate key of a row of a keyless entity.
    case integer(Int64)
    /// A floating-point number.
    case double(Double)
    /// A string, a UUID in upper case, a decimal in the shortest form, or a date. A date has the form
    /// `2024-02-29T18:29:59.999Z`. Milliseconds of zero are omitted.
    case text(String)
    /// The parts of a composite key, in the order of the model.
    case composite([PrimaryKeyValue])

    /// The key as JSON: a number, a string, or, for a composite key, an array.
    public var json: JSONValue {
        switch self {
        case .integer(let value): JSONValue(value)
        case .double(let value): JSONValue(floatLiteral: value)
        case .text(let value): .string(value)
        case .composite(let parts): .array(parts.map(\.json))
        }
    }

    /// The key as a string. A composite key becomes a JSON array, such as `["Alamofire","5.9"]`.
    public var description: String {
        switch self {
        case .integer(let value): String(value)
        case .double(let value): "\(value)"
        case .text(let value): value
        case .composite: String(decoding: CanonicalJSON.bytes(json), as: UTF8.self)
        }
    }
}

extension PrimaryKeyValue: Hashable {
    /// Returns whether two keys are equal. Strings are compared by their UTF-8 bytes.
    public static func == (left: PrimaryKeyValue, right: PrimaryKeyValue) -> Bool {
        switch (left, right) {
        case (.integer(let l), .integer(let r)): l == r
        case (.double(let l), .double(let r)): l == r
        case (.text(let l), .text(let r)): l.hasBytes(of: r)
        case (.composite(let l), .composite(let r)): l == r
        default: false
        }
    }

    /// Hashes the key. Strings are hashed by their UTF-8 bytes.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .integer(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value)
        case .text(let text):
            for byte in text.utf8 { hasher.combine(byte) }
        case .composite(let parts): hasher.combine(parts)
        }
    }
}

extension PrimaryKeyValue: Codable, Comparable {
    /// Decodes a key from a number, a string, or an array of the parts of a composite key. A number that can be decoded
    /// as an `Int64` becomes ``integer(_:)``. Any other number becomes ``double(_:)``.
    ///
    /// - Throws: `DecodingError` for any other value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let integer = try? container.decode(Int64.self) {
            self = .integer(integer)
        } else if let double = try? container.decode(Double.self) {
            self = .double(double)
        } else if let parts = try? container.decode([PrimaryKeyValue].self) {
            self = .composite(parts)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    /// Encodes the key as a number, a string, or an array of the parts of a composite key.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .integer(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .composite(let parts): try container.encode(parts)
        }
    }

    /// Returns whether a key precedes another key. Integers come first, then other numbers, then strings, then
    /// composite keys. Strings are compared by their UTF-8 bytes, and composite keys part by part.
    public static func < (left: PrimaryKeyValue, right: PrimaryKeyValue) -> Bool {
        switch (left, right) {
        case (.integer(let l), .integer(let r)): l < r
        case (.double(let l), .double(let r)): l < r
        case (.text(let l), .text(let r)): l.precedesByBytes(r)
        case (.composite(let l), .composite(let r)): precedes(l, r)
        case (.integer, _): true
        case (.double, .text), (.double, .composite), (.text, .composite): true
        default: false
        }
    }

    private static func precedes(_ left: [PrimaryKeyValue], _ right: [PrimaryKeyValue]) -> Bool {
        for place in 0..<min(left.count, right.count) where left[place] != right[place] {
            return left[place] < right[place]
        }
        return left.count < right.count
    }
}
