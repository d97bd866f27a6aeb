/// The type of an attribute's values, as written in a schema file.
///
/// What each type accepts from JSON and how it is stored is the coercion table of `Docs/MappingContract.md`.
public enum AttributeType: String, Sendable, Hashable, CaseIterable, Codable {
    case integer, double, decimal, boolean, string, date, uuid, url, binary, json, transformable

    /// Whether values of this type can identify a row.
    public var canBeKey: Bool {
        switch self {
        case .integer, .string, .uuid, .date, .decimal, .double: true
        case .boolean, .url, .binary, .json, .transformable: false
        }
    }
}
