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
    /// The remote value, in the form of an export; of a row that was deleted here, the record.
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

    /// How a conflict is resolved.
    public enum Resolution: Sendable, Hashable {
        /// What the policy of the entity says.
        case byPolicy
        /// The value here stays, and is sent.
        case local
        /// The value of the server is taken.
        case remote
        /// Another value, as the column has it: it is stored and sent.
        case value(JSONValue)
        /// The row waits until somebody decides.
        case wait
    }
}

/// The kinds of a reset.
public enum EngineReset: String, Sendable, Hashable, CaseIterable {
    /// Where pulls ended, and which versions rows had: the next pull is a whole one, and rows are told by their keys. Edits
    /// stay, also those that are still to be found because triggers were away.
    case relink
    /// All rows of the registered entities, and all edits of them: the next pull begins with nothing. Rows of other entities that
    /// were kept in step stay, but for those that go along by the delete rules, with what is known of them and what was edited.
    case local
    /// What the service is known to have: every row is sent as a new one. For a service that was emptied: one that has the rows still
    /// gets them a second time, unless ids come from here.
    case remote
}
