public import SyncCore

/// A stored row that is no value of a Swift type: with a case that an enumeration does not have, say.
public struct UnreadableRow: Sendable, Hashable {
    /// Its entity.
    public let entity: String
    /// Its key.
    public let key: RecordKey
    /// What does not fit, and in which column (``SyncError/path``).
    public let error: SyncError
}
