/// The operations that a sync may perform. The default is ``all``.
///
/// A sync skips a root record, or a record in a to-many relationship, if the operations do not allow the required
/// insertion or update. The sync also skips all records nested in a skipped record.
///
/// In a record that is not skipped, the operations do not restrict records in to-one relationships, IDs, lists of IDs,
/// or null.
public struct SyncOperations: OptionSet, Sendable, Hashable {
    /// The bit mask of the operations.
    public let rawValue: Int
    /// Creates a set of operations from a bit mask.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The insertion of new rows for root records.
    public static let insert = SyncOperations(rawValue: 1)
    /// The update of stored rows with the values of root records.
    public static let update = SyncOperations(rawValue: 2)
    /// The deletion of rows in scope that the payload omits.
    public static let delete = SyncOperations(rawValue: 4)
    /// The insertion of new rows for records in to-many relationships, at any depth.
    public static let insertRelationships = SyncOperations(rawValue: 8)
    /// The update of stored rows with the values of records in to-many relationships, at any depth.
    public static let updateRelationships = SyncOperations(rawValue: 16)
    /// The deletion or unlinking of rows that the list of records of a to-many relationship omits. The list may be
    /// nested at any depth. Null and lists of IDs remove links even without this operation.
    public static let deleteRelationships = SyncOperations(rawValue: 32)
    /// All six operations.
    public static let all = SyncOperations(rawValue: 63)
    /// All operations except ``delete`` and ``deleteRelationships``. Null, IDs and lists of IDs can still remove links.
    public static let allButDelete: SyncOperations = [.insert, .update, .insertRelationships, .updateRelationships]

    /// The names used in scenario files and on the command line.
    package static let names: [(name: String, operation: SyncOperations)] = [
        ("insert", .insert), ("update", .update), ("delete", .delete),
        ("insertRelationships", .insertRelationships), ("updateRelationships", .updateRelationships),
        ("deleteRelationships", .deleteRelationships),
    ]
}

/// The operations that are allowed for one record. The operations of root records and of records in to-many lists are
/// set separately.
package struct AllowedOperations: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let insert = AllowedOperations(rawValue: 1)
    package static let update = AllowedOperations(rawValue: 2)
    package static let full: AllowedOperations = [.insert, .update]

    /// Creates the allowed operations of a root record.
    package init(root operations: SyncOperations) {
        self = []
        if operations.contains(.insert) { insert(.insert) }
        if operations.contains(.update) { insert(.update) }
    }

    /// Creates the allowed operations of a record in a to-many list.
    package init(child operations: SyncOperations) {
        self = []
        if operations.contains(.insertRelationships) { insert(.insert) }
        if operations.contains(.updateRelationships) { insert(.update) }
    }
}

// MARK: - Parent

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
