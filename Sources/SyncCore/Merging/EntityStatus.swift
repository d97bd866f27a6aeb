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

extension EntityStatus: CustomStringConvertible {
    /// The status on one line, such as `Task: 3 pending changes, 1 blocked change; last sync 2026-11-23T16:34:43Z`.
    /// Counts of zero are omitted.
    public var description: String {
        let counts = [
            (pendingChanges, "pending change", ""), (blockedChanges, "blocked change", ""),
            (openConflicts, "row", " with open conflicts"),
        ]
        let pending = counts.filter { $0.0 > 0 }.map { CountText.count($0.0, $0.1) + $0.2 }.joined(separator: ", ")
        let date = lastSyncDate.flatMap(\.milliseconds).map { "last sync \(DateText.iso($0))" } ?? "never synced"
        let initial = lastSyncDate == nil || isInitialSyncComplete ? "" : ", initial sync not complete"
        return "\(entity): \(pending.isEmpty ? "nothing pending" : pending); \(date)\(initial)"
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

extension BlockedChange: CustomStringConvertible {
    /// The row and the reason on one line, such as `Task 7 is blocked: the title is too long`.
    public var description: String { "\(entity) \(key) is blocked" + (reason.isEmpty ? "" : ": \(reason)") }
}

/// The state that an engine reset discards.
public enum EngineReset: String, Sendable, Hashable, CaseIterable {
    /// The cursors and the quarantined records. The next pull fetches all records, and matches records with stored rows
    /// by key. Pending changes stay. The next pull still detects edits that were made while change capture was off.
    /// A new row that the service accepted and does not list is sent once more, because a backup may lack the row.
    case cursors = "relink"
    /// All rows of the engine's entities, and their pending changes. The next pull fetches all records again. Rows of
    /// other entities stay, unless a delete rule deletes these rows.
    case localData = "local"
    /// The list of the rows that have a record at the service, and the pending deletions. After the reset, the engine
    /// sends each row as a new record. Use this reset for a service that has lost its records. If the service still has
    /// the records, the service may store duplicates, unless the client assigns the IDs.
    case remoteState = "remote"
}
