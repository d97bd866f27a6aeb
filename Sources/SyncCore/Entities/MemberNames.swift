/// Which attribute the names fill under which records stand as members of an object: `{"AD": {…}, "AE": {…}}`.
public enum MemberNames: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The names are the values of the primary key.
    case primaryKey
    /// The names are the values of another attribute, given by its local name, or by the key it has in JSON.
    case attribute(String)

    /// The attribute of this name.
    public init(stringLiteral name: String) { self = .attribute(name) }
}
