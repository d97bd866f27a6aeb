public import Foundation

// Nothing is converted: a value of another kind reads as nil.
extension StoredValue {
    /// Whether there is no value.
    public var isNull: Bool { self == .null }

    /// The integer, if it is one.
    public var int: Int64? {
        guard case .integer(let value) = self else { return nil }
        return value
    }

    /// The floating-point number, if it is one.
    public var double: Double? {
        guard case .double(let value) = self else { return nil }
        return value
    }

    /// The decimal, if it is one.
    public var decimal: Decimal? {
        guard case .decimal(let value) = self else { return nil }
        return value
    }

    /// The boolean, if it is one.
    public var bool: Bool? {
        guard case .boolean(let value) = self else { return nil }
        return value
    }

    /// The string, if it is one.
    public var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// The date, if it is one.
    public var date: Date? {
        guard case .date(let value) = self else { return nil }
        return value
    }

    /// The UUID, if it is one.
    public var uuid: UUID? {
        guard case .uuid(let value) = self else { return nil }
        return value
    }

    /// The URL, if it is one.
    public var url: URL? {
        guard case .url(let value) = self else { return nil }
        return URL(string: value)
    }

    /// The bytes, if it is one.
    public var binary: Data? {
        guard case .binary(let value) = self else { return nil }
        return value
    }

    /// The JSON value, if it is one.
    public var json: JSONValue? {
        guard case .json(let value) = self else { return nil }
        return value
    }
}
