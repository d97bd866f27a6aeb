public import Foundation

/// The sync status of one entity: pending changes, blocked changes, conflicts.
public struct EntityStatus: Sendable, Hashable {
    /// The entity.
    public let entity: String
    /// The number of rows with pending changes, without blocked ones.
    public let pendingChanges: Int
    /// The number of rows with blocked changes: the service or a local constraint rejected them.
    public let blockedChanges: Int
    /// The number of rows with open conflicts.
    public let openConflicts: Int
    /// The number of fields with open conflicts.
    package let conflictingValues: Int
    /// The date of the last complete sync; nil if there was none.
    public let lastSync: Date?
    /// Whether the entity was pulled completely once.
    public let isInitialSyncComplete: Bool

    package init(
        entity: String, pendingChanges: Int, blockedChanges: Int, openConflicts: Int, conflictingValues: Int,
        lastSync: Date?,
        isInitialSyncComplete: Bool
    ) {
        self.entity = entity
        self.pendingChanges = pendingChanges
        self.blockedChanges = blockedChanges
        self.openConflicts = openConflicts
        self.conflictingValues = conflictingValues
        self.lastSync = lastSync
        self.isInitialSyncComplete = isInitialSyncComplete
    }
}

/// A change that is not sent or applied because one side rejects it.
public struct BlockedChange: Sendable, Hashable {
    /// The entity of the row.
    public let entity: String
    /// The key of the row.
    public let key: PrimaryKeyValue
    /// The reason of the rejection.
    public let reason: String

    package init(entity: String, key: PrimaryKeyValue, reason: String) {
        self.entity = entity
        self.key = key
        self.reason = reason
    }
}

/// The kinds of a reset.
public enum EngineReset: String, Sendable, Hashable, CaseIterable {
    /// Forgets cursors and the versions of rows. The next pull is complete and matches rows by key. Pending changes
    /// stay, and so do edits that the engine still has to find because the triggers were missing.
    case cursors = "relink"
    /// Deletes all rows of the registered entities and their pending changes. The next pull starts from nothing. Synced
    /// rows of other entities stay with their changes, unless delete rules remove them.
    case localData = "local"
    /// Forgets what the service has: the engine sends each row as a new one. Use it for a service that was emptied. A
    /// service that still has the rows stores duplicates, unless the app generates IDs.
    case remoteState = "remote"
}
