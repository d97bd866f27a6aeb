public import Foundation

/// The value of an attribute in a store.
public enum StoredValue: Sendable, Hashable {
    /// No value: NULL in the column, `nil` in a condition.
    case null
    /// The value of an integer attribute.
    case integer(Int64)
    /// The value of a double attribute. NaN and infinity cannot be stored.
    case double(Double)
    /// The exact value of a decimal attribute, stored as text.
    case decimal(Decimal)
    /// The value of a Boolean attribute, stored as 0 or 1.
    case boolean(Bool)
    /// The value of a string attribute.
    case string(String)
    /// The value of a date attribute, with millisecond precision.
    case date(Date)
    /// The value of a UUID attribute, stored as text in upper case.
    case uuid(UUID)
    /// The value of a URL attribute, unchanged from the JSON.
    case url(String)
    /// The value of a binary attribute. In JSON, the value is a base64 string.
    case binary(Data)
    /// The value of a JSON or transformable attribute, stored as canonical text. For a JSON null, the stored value is
    /// ``null``.
    case json(JSONValue)
}

// Texts are equal if their bytes are equal, as in the database. Swift strings are also equal if they are canonically
// equivalent.
extension StoredValue {
    /// Returns whether both values are of the same kind and equal. Strings are compared byte for byte.
    public static func == (left: StoredValue, right: StoredValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.decimal(let left), .decimal(let right)): left == right
        case (.boolean(let left), .boolean(let right)): left == right
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.date(let left), .date(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        case (.url(let left), .url(let right)): left.utf8.elementsEqual(right.utf8)
        case (.binary(let left), .binary(let right)): left == right
        case (.json(let left), .json(let right)): left == right
        default: false
        }
    }
}

// MARK: - Access

// Each property is nil for a value of another kind. No value is converted.
extension StoredValue {
    /// Whether the value is null.
    package var isNull: Bool { self == .null }

    /// The value of an integer attribute; nil for a value of another kind.
    public var int: Int64? {
        guard case .integer(let value) = self else { return nil }
        return value
    }

    /// The value of a double attribute; nil for a value of another kind.
    public var double: Double? {
        guard case .double(let value) = self else { return nil }
        return value
    }

    /// The value of a decimal attribute; nil for a value of another kind.
    public var decimal: Decimal? {
        guard case .decimal(let value) = self else { return nil }
        return value
    }

    /// The value of a Boolean attribute; nil for a value of another kind.
    public var bool: Bool? {
        guard case .boolean(let value) = self else { return nil }
        return value
    }

    /// The value of a string attribute; nil for a value of another kind.
    public var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// The value of a date attribute; nil for a value of another kind.
    public var date: Date? {
        guard case .date(let value) = self else { return nil }
        return value
    }

    /// The value of a UUID attribute; nil for a value of another kind.
    public var uuid: UUID? {
        guard case .uuid(let value) = self else { return nil }
        return value
    }

    /// The value of a URL attribute; nil for a value of another kind, or if `URL` cannot parse the value.
    public var url: URL? {
        guard case .url(let value) = self else { return nil }
        return URL(string: value)
    }

    /// The value of a binary attribute; nil for a value of another kind.
    public var binary: Data? {
        guard case .binary(let value) = self else { return nil }
        return value
    }

    /// The value of a JSON or transformable attribute; nil for a value of another kind.
    public var json: JSONValue? {
        guard case .json(let value) = self else { return nil }
        return value
    }
}

// MARK: - Form

extension StoredValue {
    /// Returns the value as the store returns it after writing: dates have millisecond precision, and JSON is
    /// canonical. Returns nil if the value is invalid or of another type. For a transformable attribute, returns nil
    /// for any value except null.
    func inStoredForm(of type: AttributeType) -> StoredValue? {
        switch (self, type) {
        case (.null, _): return .null
        case (.integer, .integer), (.boolean, .boolean), (.string, .string), (.uuid, .uuid), (.binary, .binary):
            return self
        case (.double(let value), .double): return value.isFinite ? .double(value == 0 ? 0 : value) : nil
        case (.decimal(let value), .decimal): return Coercion.storedValue(.string("\(value)"), as: .decimal)
        case (.date(let value), .date): return value.milliseconds.map { .date(Date(milliseconds: $0)) }
        case (.url(let text), .url): return Coercion.storedValue(.string(text), as: .url)
        case (.json(let value), .json): return Coercion.storedValue(value, as: .json)
        default: return nil
        }
    }
}

// MARK: - JSON

extension StoredValue {
    /// Whether JSON can express the value. NaN, infinity, and dates outside the years 1 to 9999 have no JSON form.
    package var hasJSONForm: Bool {
        switch self {
        case .double(let value): value.isFinite
        case .decimal(let value): value.isFinite
        case .date(let date): date.milliseconds != nil
        default: true
        }
    }

    /// The value as JSON. If ``hasJSONForm`` is true, converting the JSON to the type of the attribute gives the stored
    /// form of the value.
    package var jsonForm: JSONValue {
        switch self {
        case .null: .null
        case .integer(let value): JSONValue(value)
        case .double(let value): .number("\(value)")
        case .decimal(let value): .number("\(value)")
        case .boolean(let value): .bool(value)
        case .string(let text), .url(let text): .string(text)
        case .date(let date): date.milliseconds.map { .string(DateText.iso($0)) } ?? .null
        case .uuid(let value): JSONValue(value)
        case .binary(let data): .string(data.base64EncodedString())
        case .json(let value): value
        }
    }
}

// MARK: - Slot

extension StoredValue {
    /// Creates a value from a packed value; nil if the packed value is absent, or if its text is not valid for the
    /// type.
    package init?(_ slot: PackedValue, as type: AttributeType, _ pool: TextPool) {
        switch slot.kind {
        case .absent: return nil
        case .null: self = .null
        case .integer: self = type == .boolean ? .boolean(slot.integer != 0) : .integer(slot.integer)
        case .real: self = .double(slot.real)
        case .date: self = .date(Date(milliseconds: slot.integer))
        case .arenaBlob: self = .binary(Data(pool.bytes(slot)))
        case .payloadText, .arenaText: self.init(text: String(decoding: pool.bytes(slot), as: UTF8.self), as: type)
        }
    }

    /// Creates a value from the text in a column; nil if the text is not valid for the type. For a type that is not
    /// stored as text, creates a string.
    package init?(text: String, as type: AttributeType) {
        switch type {
        case .decimal:
            guard let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) else { return nil }
            self = .decimal(value)
        case .uuid:
            guard let value = UUID(uuidString: text) else { return nil }
            self = .uuid(value)
        case .url: self = .url(text)
        case .json, .transformable:
            guard let value = try? JSONValue(parsing: text) else { return nil }
            self = .json(value)
        case .date:
            guard let value = Array(text.utf8).withUnsafeBufferPointer({ DateParser.milliseconds($0) }) else {
                return nil
            }
            self = .date(Date(milliseconds: value))
        case .integer, .double, .boolean, .string, .binary: self = .string(text)
        }
    }

    /// Returns the value as a packed value. The text or data of the value is appended to the arena. A date or decimal
    /// that cannot be stored becomes null.
    package func slot(arena: inout [UInt8]) -> PackedValue {
        switch self {
        case .null: return .null
        case .integer(let value): return .integer(value)
        case .double(let value): return .real(value)
        case .boolean(let value): return .integer(value ? 1 : 0)
        case .string(let text), .url(let text): return Coercion.append(text.utf8, to: &arena)
        case .uuid(let value): return Coercion.append(value.uuidString.utf8, to: &arena)
        case .date(let value): return value.milliseconds.map(PackedValue.date) ?? .null
        case .json(let value): return Coercion.append(CanonicalJSON.bytes(value), to: &arena)
        case .decimal(let value):
            var text: [UInt8] = []
            let isNumber = Array("\(value)".utf8).withUnsafeBufferPointer { DecimalText.append($0, to: &text) }
            return isNumber ? Coercion.append(text, to: &arena) : .null
        case .binary(let data):
            let start = arena.count
            arena += data
            return PackedValue(kind: .arenaBlob, offset: start, length: data.count)
        }
    }
}

// MARK: - Values of JSON

// The contents of a value as Swift types. Each is nil if the value has another kind.
extension JSONValue {
    /// Whether the value is ``null``.
    public var isNull: Bool { self == .null }

    /// The Boolean; nil for another kind of value.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The string, unescaped; nil for another kind of value.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The whole number; nil for a fraction, for a number that an `Int` cannot hold, and for another kind of value.
    /// `7.0` and `7e0` are 7.
    public var int: Int? { isNumber ? Coercion.storedValue(self, as: .integer)?.int.flatMap { Int(exactly: $0) } : nil }

    /// The number as the nearest `Double`; nil if the number exceeds the range of `Double`, and for another kind of
    /// value.
    public var double: Double? {
        guard case .number(let text) = self, let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// The exact number; nil for more than 38 significant digits, for a number that a `Decimal` cannot hold, and for
    /// another kind of value.
    public var decimal: Decimal? { isNumber ? Coercion.storedValue(self, as: .decimal)?.decimal : nil }

    /// The date of an ISO 8601 string, or of a Unix time in a string or number; nil for any other value. A sync reads
    /// date attributes without a format in the same way.
    public var date: Date? {
        switch self {
        case .string, .number: Coercion.storedValue(self, as: .date)?.date
        case .null, .bool, .array, .object: nil
        }
    }

    /// The elements of the array; nil for another kind of value.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members of the object, in the order of the JSON; nil for another kind of value.
    public var object: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The element at an index of the array; nil if the index is out of bounds, or if the value is not an array.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    private var isNumber: Bool {
        if case .number = self { true } else { false }
    }
}
