/// The stored row whose children a payload lists, or the row that a record to insert is nested in.
///
/// ```swift
/// try await Sync.changes(data, inEntity: "Note", stack: stack, parent: SyncParent("User", id: 6))
/// ```
public struct SyncParent: Sendable, Hashable {
    /// The entity of the row.
    public var entity: String
    /// The key of the row, as JSON; null if it has none.
    public var id: JSONValue
    /// The relationship of the row that has the children; nil if only one leads to their entity.
    package var relationship: String?

    /// Creates a parent.
    public init(_ entity: String, id: JSONValue, relationship: String? = nil) {
        self.entity = entity
        self.id = id
        self.relationship = relationship
    }
}
