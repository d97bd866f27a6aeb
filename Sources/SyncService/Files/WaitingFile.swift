public import SyncCore

/// A file that was attached to a row and that the service does not have yet.
public struct WaitingFile: Sendable, Hashable {
    /// The entity of the row.
    public let entity: String
    /// The row's key.
    public let key: RecordKey
    /// The attribute that will hold its name.
    public let attribute: String
    /// The name that it was attached with.
    public let name: String
    /// Why the service refused it; nil for one that is still to be sent. Attach another one, or remove it.
    public let reason: String?
}
