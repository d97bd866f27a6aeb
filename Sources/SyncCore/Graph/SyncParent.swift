/// The stored row whose children a payload lists, or the row of the record that encloses a record to insert.
///
/// ```swift
/// try await Sync.changes(data, inEntity: "Note", stack: stack, parent: SyncParent("User", id: 6))
/// ```
public struct SyncParent: Sendable, Hashable {
    /// The entity of the row.
    public var entity: String
    /// The primary key of the row; null for a keyless row.
    public var id: JSONValue
    /// The relationship of the row that has the children; nil if it is not named.
    package var relationship: String?

    /// Creates a parent.
    ///
    /// - Parameters:
    ///   - entity: The entity of the row.
    ///   - id: The primary key of the row.
    ///   - relationship: The relationship of the row that has the children. It is required only if several
    ///     relationships lead to their entity.
    public init(_ entity: String, id: JSONValue, relationship: String? = nil) {
        self.entity = entity
        self.id = id
        self.relationship = relationship
    }
}
