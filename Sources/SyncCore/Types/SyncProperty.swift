/// An attribute or relationship that a property of a ``SyncEntity`` is.
public struct SyncProperty: Sendable, ExpressibleByStringLiteral {
    /// The local name in the model.
    public let name: String
    /// The type of the rows that a relationship leads to; nil for an attribute.
    public let destination: (any SyncEntity.Type)?

    /// An attribute, or a relationship to rows of a type.
    public init(_ name: String, to destination: (any SyncEntity.Type)? = nil) {
        self.name = name
        self.destination = destination
    }

    /// An attribute.
    public init(stringLiteral name: String) { self.init(name) }
}
