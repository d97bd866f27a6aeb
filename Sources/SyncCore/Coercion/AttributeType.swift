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
