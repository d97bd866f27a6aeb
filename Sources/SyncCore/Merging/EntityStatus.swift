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

/// A row that is out of step because one side refuses it.
public struct BlockedChange: Sendable, Hashable {
    /// The entity of the row.
    public let entity: String
    /// The row's key.
    public let key: PrimaryKeyValue
    /// Why it was refused.
    public let reason: String

    package init(entity: String, key: PrimaryKeyValue, reason: String) {
        self.entity = entity
        self.key = key
        self.reason = reason
    }
}

/// One domain of a row in which both sides differed, and who won.
public struct LoggedConflict: Sendable, Hashable {
    /// The entity of the row.
    public let entity: String
    /// The row's key.
    public let key: PrimaryKeyValue
    /// The column, or the relationship.
    public let domain: String
    /// What both sides had agreed on, as an export writes it; null where nobody knows.
    public let base: JSONValue
    /// What was here, as an export writes it.
    public let local: JSONValue
    /// What the server had, as an export writes it; of a row that was deleted here, its record.
    public let remote: JSONValue
    /// `local`, `remote`, or `open` as long as nobody decided.
    public let winner: String
    /// The rule that decided.
    public let why: String
    /// When.
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

/// A value that was changed here and on the server since both last agreed, for an app's own rule to settle.
public struct DomainConflict: Sendable, Hashable {
    /// The entity of the row.
    public let entity: String
    /// The row's key.
    public let key: PrimaryKeyValue
    /// The attribute or to-one relationship.
    public let domain: String
    /// What both sides had agreed on; null where nobody knows.
    public let base: JSONValue
    /// What is here, as the column has it.
    public let local: JSONValue
    /// What the server has, as the column has it.
    public let remote: JSONValue
    /// When it was edited here. 1970 for a value that a row made here never had set, and where the time is not known.
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

    /// What becomes of it.
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

/// What an engine forgets.
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
