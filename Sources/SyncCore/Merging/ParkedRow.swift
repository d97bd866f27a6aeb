/// A row that is out of step because one side refuses it.
public struct ParkedRow: Sendable, Hashable {
    /// The entity of the row.
    public let entity: String
    /// The row's key.
    public let key: RecordKey
    /// Why it was refused.
    public let reason: String

    package init(entity: String, key: RecordKey, reason: String) {
        self.entity = entity
        self.key = key
        self.reason = reason
    }
}
