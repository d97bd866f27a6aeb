/// A row whose children a payload lists. For the parent that an insert hook receives, see
/// ``SyncOptions/Insertion/parent``.
///
/// ```swift
/// try await Sync.changes(data, inEntity: "Note", stack: stack, parent: SyncParent("User", id: 6))
/// ```
public struct SyncParent: Sendable, Hashable {
    /// The entity of the row.
    public var entity: String
    /// The primary key of the row: an array for a composite key, null for a row of a keyless entity.
    public var id: JSONValue
    /// The name of the relationship between the row and its children; nil if the caller does not name it.
    package var relationship: String?

    /// Creates a parent.
    ///
    /// - Parameters:
    ///   - entity: The entity of the row.
    ///   - id: The primary key of the row; for a composite key, an array of its parts.
    ///   - relationship: The name of the to-many relationship from the row to its children. If the row has no such
    ///     relationship, pass the name of the to-one relationship from the children to the row. A name is required only
    ///     if several relationships are possible.
    public init(_ entity: String, id: JSONValue, relationship: String? = nil) {
        self.entity = entity
        self.id = id
        self.relationship = relationship
    }
}
