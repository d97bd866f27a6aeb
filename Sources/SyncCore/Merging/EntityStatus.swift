public import Foundation

/// How an entity stands.
public struct EntityStatus: Sendable, Hashable {
    /// The entity.
    public let entity: String
    /// Rows with changes that the server does not have, parked ones left out.
    public let pending: Int
    /// Rows that the server refused, or that a constraint here did.
    public let parked: Int
    /// Rows that wait for a decision.
    public let conflicts: Int
    /// The values of those rows that somebody has to decide about.
    public let conflictingValues: Int
    /// When the entity was last in step.
    public let lastSync: Date?
    /// Whether all there was of it has been pulled once.
    public let isInitialSyncComplete: Bool

    package init(
        entity: String, pending: Int, parked: Int, conflicts: Int, conflictingValues: Int, lastSync: Date?,
        isInitialSyncComplete: Bool
    ) {
        self.entity = entity
        self.pending = pending
        self.parked = parked
        self.conflicts = conflicts
        self.conflictingValues = conflictingValues
        self.lastSync = lastSync
        self.isInitialSyncComplete = isInitialSyncComplete
    }
}
