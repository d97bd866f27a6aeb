public import SyncCore

/// A row as it was when it was fetched.
public struct Record: Sendable, Hashable {
    /// The entity the row is of; for a fetch over an inheritance tree, the most specific one.
    public let entity: String
    /// The key the row is stored under, also where the key attribute reads as nil because the key is local.
    public let key: RecordKey
}
