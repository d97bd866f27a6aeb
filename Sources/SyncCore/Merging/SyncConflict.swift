public import Foundation

/// A conflict, such as a field that both sides changed since the base value.
///
/// The engine passes a field that both sides changed to the resolver of the app
/// (`SyncEngine.Configuration.conflictResolver`). The conflict log also has other conflicts, such as those about
/// deleted rows.
public struct SyncConflict: Sendable, Hashable {
    /// The entity of the row.
    public let entity: String
    /// The key of the row.
    public let key: PrimaryKeyValue
    /// The name of the field: an attribute or a relationship. In the log, it is empty for a conflict about a row as a
    /// whole.
    public let field: String
    /// The base value; null if it is not known.
    public let base: JSONValue
    /// The local value. A resolver receives the value as the column stores it, or an array of IDs for a list. The log
    /// has the value as an export writes it.
    public let local: JSONValue
    /// The remote value, in the same form as the local value. For a row that was deleted locally, it is the remote
    /// record.
    public let remote: JSONValue
    /// The date of the local edit. Nil in the log, and if the date is not known, such as for a value that a new row
    /// never set.
    public let localEditDate: Date?
    /// The outcome in the conflict log; nil for a conflict that a resolver receives.
    public let outcome: Outcome?

    /// Creates a conflict, for a test of a resolver.
    public init(
        entity: String, key: PrimaryKeyValue, field: String, base: JSONValue, local: JSONValue, remote: JSONValue,
        localEditDate: Date? = nil, outcome: Outcome? = nil
    ) {
        self.entity = entity
        self.key = key
        self.field = field
        self.base = base
        self.local = local
        self.remote = remote
        self.localEditDate = localEditDate
        self.outcome = outcome
    }

    /// The decision of a resolver.
    public enum Resolution: Sendable, Hashable {
        /// The conflict policy of the entity decides.
        case usePolicy
        /// The local value stays, and the engine sends it.
        case local
        /// The remote value is stored.
        case remote
        /// The engine stores and sends this value, which has the form in which the column stores it. For a list, it is
        /// an array of IDs in the merged order.
        case merged(JSONValue)
        /// The conflict stays open, and the engine does not send the row, until the conflict is closed.
        case manual
    }

    /// A side of a conflict.
    public enum Side: String, Sendable, Hashable, CaseIterable {
        /// The store on this device.
        case local
        /// The service.
        case remote
    }

    /// The outcome of a conflict, from the conflict log.
    public struct Outcome: Sendable, Hashable {
        /// The side that won; nil while the conflict is open.
        public let winner: Side?
        /// The rule that decided the conflict.
        public let reason: Reason
        /// Whether the values of the losing side were restored later.
        package let isRestored: Bool
        /// The date of the conflict.
        public let date: Date

        /// Creates an outcome from an entry of the conflict log.
        ///
        /// - Parameter reason: The text in the conflict log, which may end with `, restored`.
        package init(winner: Side?, reason: String, date: Date) {
            self.winner = winner
            isRestored = reason.hasSuffix(Self.restored)
            self.reason = Reason(logged: isRestored ? String(reason.dropLast(Self.restored.count)) : reason)
            self.date = date
        }

        private static let restored = ", restored"
    }

    /// The rule that decided a conflict. The raw value is the text in the conflict log, without details.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The policy ``ConflictPolicy/clientWins``.
        case clientWins
        /// The policy ``ConflictPolicy/serverWins``.
        case serverWins
        /// The policy ``ConflictPolicy/manual``.
        case manual
        /// The policy ``ConflictPolicy/lastWriterWins``: the local edit is later.
        case editedLaterLocally = "the local edit is later"
        /// The policy ``ConflictPolicy/lastWriterWins``: the remote edit is later.
        case editedLaterRemotely = "the remote edit is later"
        /// The policy ``ConflictPolicy/lastWriterWins``, but the record has no modification time.
        case noRemoteTime = "serverWins: the service's record has no time"
        /// The resolver of the app.
        case resolver
        /// The caller resolved the open conflict.
        case resolved
        /// The caller reset the engine.
        case reset
        /// The policy ``DeleteConflictPolicy/editWins``.
        case editWins
        /// The policy ``DeleteConflictPolicy/deleteWins``.
        case deleteWins
        /// The row was deleted locally only because a delete rule cascaded to it, so the remote edit wins.
        case onlyCascaded = "the local deletion was a cascade"
        /// The service deleted the row.
        case deletedRemotely = "deleted by the service"
        /// The service no longer has the row, or hides it from the user.
        case missingRemotely = "deleted by the service, or hidden from the user"
        /// A delete rule deleted the row together with a row that the service deleted.
        case cascaded = "deleted with a row that the service deleted"
        /// The service does not have a row that was stored before the engine first ran.
        case preexistingMissing = "preexisting row that the service does not have"
        /// The row was stored before the engine first ran, and the service has other values.
        case preexisting = "preexisting row"
        /// The service deleted the row, which may have local edits from a time without change capture.
        case deletedWhileUncaptured = "deleted by the service; possibly edited while change capture was off"
        /// The row may have local edits from a time without change capture, and the service has another version.
        case editedWhileUncaptured = "edits may not have been captured, and the service has another version"
        /// The row referenced a row that is not stored.
        case danglingReference = "the referenced row does not exist"
        /// Another local row is the same record of the service, for example because both have the same natural key.
        case duplicateRow = "another local row has the same natural key"
        /// The service changed the field back to the base value, or to the local value.
        case remoteReverted = "the service returned to this value"
        /// The open conflict ended because the row was deleted locally.
        case rowDeletedLocally = "the row was deleted locally"
        /// The open conflict ended because the service deleted the row.
        case rowDeletedRemotely = "the row was deleted by the service"
        /// The open conflict ended because the row was edited to the remote value.
        case editedToRemote = "the row was edited to the service's value"
        /// The model no longer has the field.
        case fieldRemoved = "no longer in the model"
        /// The text in the log is not known, for example because another version of the library wrote it.
        case unknown

        init(logged text: String) {
            self =
                if let reason = Reason(rawValue: text) {
                    reason
                } else if text.hasPrefix("resolver: ") {
                    .resolver
                } else if text.hasPrefix("editWins: ") {
                    .editWins
                } else if text.hasSuffix(Reason.fieldRemoved.rawValue) {
                    .fieldRemoved
                } else {
                    .unknown
                }
        }
    }
}
