public import Foundation

/// The sync status of one entity: the numbers of pending changes, blocked changes and open conflicts.
public struct EntityStatus: Sendable, Hashable {
    /// The name of the entity.
    public let entity: String
    /// The number of rows with pending changes that are not blocked.
    public let pendingChanges: Int
    /// The number of blocked changes and quarantined records. A quarantined record is a pulled record that cannot be
    /// stored.
    public let blockedChanges: Int
    /// The number of rows with open conflicts.
    public let openConflicts: Int
    /// The number of fields with open conflicts.
    package let conflictingValues: Int
    /// The date of the last successful engine run that pulled the entity. The date is nil if no successful run has
    /// pulled the entity since the last engine reset or `deleteAllRows()`.
    public let lastSyncDate: Date?
    /// Whether a successful engine run has pulled all records of the entity since the last engine reset or
    /// `deleteAllRows()`.
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

/// A local change that the engine does not send for now, or a quarantined record.
///
/// The engine sends a blocked change after the row of the change is edited. The engine also tries some changes again
/// without an edit, for example after a referenced row arrives. In each pull, the engine tries again to store the
/// quarantined records.
public struct BlockedChange: Sendable, Hashable {
    /// The entity of the row, or of the quarantined record.
    public let entity: String
    /// The key of the row, or of the quarantined record.
    public let key: PrimaryKeyValue
    /// The reason why the change is blocked or the record is quarantined; empty if the reason is not known.
    public let reason: String

    package init(entity: String, key: PrimaryKeyValue, reason: String) {
        self.entity = entity
        self.key = key
        self.reason = reason
    }
}

/// The state that an engine reset discards.
public enum EngineReset: String, Sendable, Hashable, CaseIterable {
    /// The cursors and the quarantined records. The next pull fetches all records, and matches records with stored rows
    /// by key. Pending changes stay. The next pull still detects edits that were made while change capture was off.
    case cursors = "relink"
    /// All rows of the engine's entities, and their pending changes. The next pull fetches all records again. Rows of
    /// other entities stay, unless a delete rule deletes these rows.
    case localData = "local"
    /// The list of the rows that have a record at the service, and the pending deletions. After the reset, the engine
    /// sends each row as a new record. Use this reset for a service that has lost its records. If the service still has
    /// the records, the service may store duplicates, unless the client assigns the IDs.
    case remoteState = "remote"
}
