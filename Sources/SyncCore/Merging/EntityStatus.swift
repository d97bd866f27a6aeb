public import Foundation

/// The sync status of one entity: the numbers of pending changes, blocked changes and open conflicts.
public struct EntityStatus: Sendable, Hashable {
    /// The name of the entity.
    public let entity: String
    /// The number of rows with pending changes, without rows whose changes are blocked.
    public let pendingChanges: Int
    /// The number of blocked changes, including quarantined records: pulled records that cannot be stored.
    public let blockedChanges: Int
    /// The number of rows with open conflicts.
    public let openConflicts: Int
    /// The number of fields with open conflicts.
    package let conflictingValues: Int
    /// The date of the last successful engine run that pulled the entity; nil if there was none.
    public let lastSyncDate: Date?
    /// Whether a successful engine run has pulled all rows of the entity.
    public let isInitialSyncComplete: Bool

    package init(
        entity: String, pendingChanges: Int, blockedChanges: Int, openConflicts: Int, conflictingValues: Int,
        lastSyncDate: Date?,
        isInitialSyncComplete: Bool
    ) {
        self.entity = entity
        self.pendingChanges = pendingChanges
        self.blockedChanges = blockedChanges
        self.openConflicts = openConflicts
        self.conflictingValues = conflictingValues
        self.lastSyncDate = lastSyncDate
        self.isInitialSyncComplete = isInitialSyncComplete
    }
}

/// A local change that the engine does not send until its row is edited, or a pulled record that cannot be stored.
public struct BlockedChange: Sendable, Hashable {
    /// The entity of the row.
    public let entity: String
    /// The key of the row.
    public let key: PrimaryKeyValue
    /// The reason why the change is blocked, as text; empty if it is not known.
    public let reason: String

    package init(entity: String, key: PrimaryKeyValue, reason: String) {
        self.entity = entity
        self.key = key
        self.reason = reason
    }
}

/// The kind of an engine reset: which state the engine discards.
public enum EngineReset: String, Sendable, Hashable, CaseIterable {
    /// Discards cursors, quarantined records, and the versions of rows. The next pull fetches all rows and matches them
    /// by key. Pending changes stay. Edits that were made while change capture was off are still found later.
    case cursors = "relink"
    /// Deletes all rows of the engine's entities, and their pending changes. The next pull fetches all rows again. Rows
    /// of other synced entities stay with their changes, unless delete rules remove them.
    case localData = "local"
    /// Discards the record of which rows the service has, so that the engine sends each row as a new one. Use it for a
    /// service that has lost its rows. If the service still has the rows, it stores duplicates, unless the app
    /// generates the IDs.
    case remoteState = "remote"
}
