public import Foundation

/// A conflict between the local and the remote version of a row, for example because both sides changed the same field.
///
/// If both sides changed a field, the engine passes the conflict to the resolver of the app
/// (`SyncEngine.Configuration.conflictResolver`). The conflict log, which `SyncEngine.conflicts(only:)` returns, also
/// has other conflicts, such as conflicts about deleted rows.
public struct SyncConflict: Sendable, Hashable {
    /// The entity of the row.
    public let entity: String
    /// The key of the row.
    public let key: PrimaryKeyValue
    /// The name of the attribute or relationship; `sync_entity` for a conflict about the entity of a row in an
    /// inheritance hierarchy. In the conflict log, the name is empty if the conflict is about a row as a whole.
    public let field: String
    /// The base value, which is the last value that both sides had; null if this value is not known.
    public let base: JSONValue
    /// The local value; null if ``field`` is empty. A resolver receives the value in its stored form, the ID of the row
    /// for a reference, or an array of IDs for a list. The conflict log has the value in its exported form.
    public let local: JSONValue
    /// The remote value, in the same form as the local value; null if there is no remote value, for example after a
    /// remote deletion. If ``field`` is empty and the row was deleted locally, the value is the remote record.
    public let remote: JSONValue
    /// The date of the local edit; nil in the conflict log, and if the date is not known.
    public let localEditDate: Date?
    /// The outcome in the conflict log; nil for a conflict that a resolver receives.
    public let outcome: Outcome?

    /// Whether the conflict log has the conflict as open. See ``Resolution/manual``.
    public var isOpen: Bool { outcome.map { $0.winner == nil } ?? false }

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
        /// The engine keeps and sends the local value.
        case local
        /// The engine stores the remote value.
        case remote
        /// The engine stores and sends this value. Return the value in its stored form. For a reference, return the ID
        /// of a row. For a list, return an array of IDs in the merged order. If the value does not fit the attribute, is
        /// not a valid ID, or is not an array of valid IDs, the conflict stays open.
        case merged(JSONValue)
        /// The conflict stays open. The engine does not send changes of the row until the conflict is closed.
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
        /// The side that won; nil while the conflict is open. A merged value counts as a local value.
        public let winner: Side?
        /// The reason for the outcome.
        public let reason: Reason
        /// The value that the resolver of the app merged, in the form that the resolver returned; nil for other reasons
        /// than ``Reason/merged``.
        public let mergedValue: JSONValue?
        /// Whether the values of the losing side were restored later.
        package let isRestored: Bool
        /// The date when the engine recorded the conflict.
        public let date: Date

        package init(
            winner: Side?, reason: Reason, mergedValue: JSONValue? = nil, isRestored: Bool, date: Date
        ) {
            self.winner = winner
            self.reason = reason
            self.mergedValue = mergedValue
            self.isRestored = isRestored
            self.date = date
        }
    }

    /// The reason for the outcome of a conflict. The raw value is a text for users.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The policy ``ConflictPolicy/clientWins``.
        case clientWins
        /// The policy ``ConflictPolicy/serverWins``.
        case serverWins
        /// The policy ``ConflictPolicy/manual``.
        case manual
        /// The policy ``ConflictPolicy/lastWriterWins``, because the local edit is later.
        case editedLaterLocally = "the local edit is later"
        /// The policy ``ConflictPolicy/lastWriterWins``, because the local edit is not later.
        case editedLaterRemotely = "the remote edit is later"
        /// The policy ``ConflictPolicy/lastWriterWins``, because the record has no modification time.
        case noRemoteTime = "serverWins: the service's record has no time"
        /// The resolver of the app chose a side, or left the conflict open.
        case resolver
        /// The resolver of the app merged the values.
        case merged = "merged by the resolver"
        /// The caller resolved the open conflict.
        case resolved
        /// The open conflict ended because the caller reset the engine.
        case reset
        /// The policy ``DeleteConflictPolicy/editWins``.
        case editWins
        /// The policy ``DeleteConflictPolicy/deleteWins``.
        case deleteWins
        /// The local deletion was only a cascade: the service deleted the record of another row, and a delete rule then
        /// deleted this row. The remote edit wins.
        case onlyCascaded = "the local deletion was a cascade"
        /// The service deleted the record of the row, or another record whose deletion cascaded to this row.
        case deletedRemotely = "deleted by the service"
        /// The same as ``deletedRemotely``, but without a tombstone. The service may have only hidden the record from
        /// the user.
        case missingRemotely = "deleted by the service, or hidden from the user"
        /// The service deleted the record of another row, and a delete rule then deleted this row. This row had no
        /// local edits.
        case cascaded = "deleted with a row that the service deleted"
        /// The engine deleted a preexisting row that has no record at the service. The row had no local edits.
        case preexistingMissing = "preexisting row that the service does not have"
        /// The row was stored before the engine first ran, and the service has other values.
        case preexisting = "preexisting row"
        /// The service deleted the record of the row. The row may have been edited while change capture was off.
        case deletedWhileUncaptured = "deleted by the service; possibly edited while change capture was off"
        /// The service has another version of the row. The row may have been edited while change capture was off.
        case editedWhileUncaptured = "edits may not have been captured, and the service has another version"
        /// The row has another entity now, which does not have the list.
        case entityChanged = "the entity of the row changed"
        /// The row referenced a row that is not stored.
        case danglingReference = "the referenced row does not exist"
        /// Another local row belongs to the same record of the service, for example because both rows have the same
        /// natural key.
        case duplicateRow = "another local row has the same natural key"
        /// The open conflict ended because the remote value is again the base value, or equals the local value.
        case remoteReverted = "the service returned to this value"
        /// The open conflict ended because the row was deleted locally.
        case rowDeletedLocally = "the row was deleted locally"
        /// The open conflict ended because the service deleted the record of the row.
        case rowDeletedRemotely = "the row was deleted by the service"
        /// The open conflict ended because a local edit set the remote value.
        case editedToRemote = "the row was edited to the service's value"
        /// The open conflict ended because the model no longer has the field.
        case fieldRemoved = "no longer in the model"
        /// The reason in the log is not known, for example because another version of the library wrote the reason.
        case unknown

        /// The reason as the conflict log stores it.
        package var code: String { "\(self)" }

        private static let byCode = Dictionary(allCases.map { ($0.code, $0) }) { first, _ in first }

        package init(code: String) { self = Self.byCode[code] ?? .unknown }

        /// A text that an earlier version of the library stored as reason.
        package struct Logged {
            package let reason: Reason
            /// The details after the reason; nil for none.
            package let note: String?
            /// Whether the values of the losing side were restored later.
            package let isRestored: Bool

            private static let restored = ", restored"

            package init(_ text: String) {
                isRestored = text.hasSuffix(Self.restored)
                let text = isRestored ? String(text.dropLast(Self.restored.count)) : text
                let parts = text.split(separator: ": ", maxSplits: 1).map(String.init)
                if let reason = Reason(rawValue: text) ?? Self.earlier[text] {
                    (self.reason, note) = (reason, nil)
                } else if parts.count == 2,
                    let reason = [Reason.resolver, .editWins].first(where: { $0.rawValue == parts[0] })
                {
                    (self.reason, note) = (reason, parts[1])
                } else if [Reason.fieldRemoved.rawValue, "not in the model any more"].contains(where: text.hasSuffix) {
                    (reason, note) = (.fieldRemoved, nil)
                } else {
                    (reason, note) = (.unknown, text)
                }
            }

            /// The texts of versions that had other raw values.
            private static let earlier: [String: Reason] = [
                "deleted there": .deletedRemotely, "deleted there, or hidden": .missingRemotely,
                "stored before the service was first asked": .preexisting,
                "stored before the service was first asked, which does not have it": .preexistingMissing,
                "edited later here": .editedLaterLocally, "edited later there": .editedLaterRemotely,
                "serverWins: it gave no time": .noRemoteTime, "nobody deleted it by itself": .onlyCascaded,
                "it pointed to a row that is not there": .danglingReference,
                "another row made here is the same": .duplicateRow,
                "the server came back to it": .remoteReverted,
                "the row was edited to what the service has": .editedToRemote,
                "the row was deleted here": .rowDeletedLocally, "the row was deleted there": .rowDeletedRemotely,
                "went along with a row that was deleted there": .cascaded,
                "deleted there, and may have been edited here while triggers were missing": .deletedWhileUncaptured,
                "edits may have been missed, and the service has another version": .editedWhileUncaptured,
            ]
        }
    }
}

extension SyncConflict: CustomStringConvertible {
    /// The conflict on one line, such as `Task 4, points: base 1, local 2, remote 3; local wins (clientWins)`.
    public var description: String {
        let text =
            field.isEmpty
            ? "\(entity) \(key): remote \(remote)"
            : "\(entity) \(key), \(field): base \(base), local \(local), remote \(remote)"
        return text + (outcome.map { "; \($0)" } ?? "")
    }
}

extension SyncConflict.Outcome: CustomStringConvertible {
    /// The winner and the reason, such as `local wins (clientWins)`; `open (manual)` for an open conflict, and
    /// `7 wins (merged by the resolver)` for a merged value.
    public var description: String {
        let winner = (mergedValue?.description ?? winner?.rawValue).map { "\($0) wins" } ?? "open"
        return "\(winner) (\(reason.rawValue))" + (isRestored ? ", restored" : "")
    }
}
