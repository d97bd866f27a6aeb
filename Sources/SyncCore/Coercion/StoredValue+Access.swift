public import Foundation

/// The value as a Swift type, nil if it is another kind of value. Nothing is converted but URLs.
extension StoredValue {
    /// Whether there is no value.
    public var isNull: Bool { self == .null }

    public var int: Int64? {
        guard case .integer(let value) = self else { return nil }
        return value
    }

    public var double: Double? {
        guard case .double(let value) = self else { return nil }
        return value
    }

    public var decimal: Decimal? {
        guard case .decimal(let value) = self else { return nil }
        return value
    }

    public var bool: Bool? {
        guard case .boolean(let value) = self else { return nil }
        return value
    }

    public var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    public var date: Date? {
        guard case .date(let value) = self else { return nil }
        return value
    }

    public var uuid: UUID? {
        guard case .uuid(let value) = self else { return nil }
        return value
    }

    public var url: URL? {
        guard case .url(let value) = self else { return nil }
        return URL(string: value)
    }

    public var binary: Data? {
        guard case .binary(let value) = self else { return nil }
        return value
    }

    public var json: JSONValue? {
        guard case .json(let value) = self else { return nil }
        return value
    }
}
