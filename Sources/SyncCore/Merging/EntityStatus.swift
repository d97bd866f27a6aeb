public import Foundation

/// The sync status of one entity: pending changes, blocked changes, conflicts.
public struct EntityStatus: Sendable, Hashable {
    /// The entity.
    public let entity: String
    /// The number of rows with pending changes, without blocked ones.
    public let pending: Int
    /// The number of rows with blocked changes: the service or a local constraint rejected them.
    public let parked: Int
    /// The number of rows with open conflicts.
    public let conflicts: Int
    /// The number of fields with open conflicts.
    public let conflictingValues: Int
    /// The date of the last complete sync; nil if there was none.
    public let lastSync: Date?
    /// Whether the entity was pulled completely once.
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

/// An entry of the conflict log: a field that both sides changed, and the side that won.
public struct LoggedConflict: Sendable, Hashable {
    /// The entity of the row.
    public let entity: String
    /// The key of the row.
    public let key: PrimaryKeyValue
    /// The field: an attribute or a relationship.
    public let domain: String
    /// The base value, in the form of an export; null if it is not known.
    public let base: JSONValue
    /// The local value, in the form of an export.
    public let local: JSONValue
    /// The remote value, in the form of an export. For a row that was deleted locally, it is the remote record.
    public let remote: JSONValue
    /// The side that won: `local` or `remote`; `open` until the conflict is resolved.
    public let winner: String
    /// The rule that decided the conflict.
    public let why: String
    /// The date of the conflict.
    public let time: Date

    package init(
        entity: String, key: PrimaryKeyValue, domain: String, base: JSONValue, local: JSONValue, remote: JSONValue,
        winner: String, why: String, time: Date
    ) {
        self.entity = entity
        self.key = key
        self.domain = domain
        self.base = base
        self.local = local
        self.remote = remote
        self.winner = winner
        self.why = why
        self.time = time
    }
}

/// A field that both sides changed since the base value, for the resolver of an app.
public struct DomainConflict: Sendable, Hashable {
    /// The entity of the row.
    public let entity: String
    /// The key of the row.
    public let key: PrimaryKeyValue
    /// The field: an attribute or a to-one relationship.
    public let domain: String
    /// The base value; null if it is not known.
    public let base: JSONValue
    /// The local value, in the form of the column.
    public let local: JSONValue
    /// The remote value, in the form of the column.
    public let remote: JSONValue
    /// The date of the local edit; 1970 if it is not known, or if a new row never set the value.
    public let edited: Date

    package init(
        entity: String, key: PrimaryKeyValue, domain: String, base: JSONValue, local: JSONValue, remote: JSONValue,
        edited: Date
    ) {
        self.entity = entity
        self.key = key
        self.domain = domain
        self.base = base
        self.local = local
        self.remote = remote
        self.edited = edited
    }

    /// The answer of a resolver.
    public enum Resolution: Sendable, Hashable {
        /// The conflict policy of the entity decides.
        case byPolicy
        /// The local value stays, and the engine sends it.
        case local
        /// The remote value is stored.
        case remote
        /// Another value, in the form of the column. The engine stores it and sends it.
        case value(JSONValue)
        /// The conflict stays open, and the row is not sent, until the caller resolves it.
        case wait
    }
}

/// The kinds of a reset.
public enum EngineReset: String, Sendable, Hashable, CaseIterable {
    /// Forgets cursors and the versions of rows. The next pull is complete and matches rows by key. Pending changes
    /// stay, and so do edits that the engine still has to find because the triggers were missing.
    case relink
    /// Deletes all rows of the registered entities and their pending changes. The next pull starts from nothing. Synced
    /// rows of other entities stay with their changes, unless delete rules remove them.
    case local
    /// Forgets what the service has: the engine sends each row as a new one. Use it for a service that was emptied. A
    /// service that still has the rows stores duplicates, unless the app generates IDs.
    case remote
}
