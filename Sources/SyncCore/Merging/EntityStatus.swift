public import Foundation

/// How an entity stands.
public struct EntityStatus: Sendable, Hashable {
    /// The entity.
    public let entity: String
    /// Rows with changes that the server does not have, parked ones left out.
    public let pending: Int
    /// Rows that the server refused, or that a constraint here did.
    public let parked: Int
    /// Conflicts that wait for a decision.
    public let conflicts: Int
    /// When the entity was last in step.
    public let lastSync: Date?
    /// Whether all there was of it has been pulled once.
    public let isInitialSyncComplete: Bool

    package init(
        entity: String, pending: Int, parked: Int, conflicts: Int, lastSync: Date?, isInitialSyncComplete: Bool
    ) {
        self.entity = entity
        self.pending = pending
        self.parked = parked
        self.conflicts = conflicts
        self.lastSync = lastSync
        self.isInitialSyncComplete = isInitialSyncComplete
    }
}
