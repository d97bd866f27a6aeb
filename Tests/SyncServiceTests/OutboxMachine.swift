/// The state of a row in the outbox: its pending change, and its request if one is stored.
enum OutboxState: String, Sendable, CaseIterable {
    /// The row is neither stored nor known, and has no pending change.
    case absent
    /// The service has the row, and no change is pending.
    case synced
    /// A new row to be sent.
    case create
    /// The create was prepared, and its outcome is not recorded.
    case createSent
    /// The row was edited after its create was prepared.
    case createSentEdited
    /// A pull returned the row before the outcome of its create was recorded.
    case createSentPulled
    /// The row was deleted after its create was prepared.
    case createSentDeleted
    /// An attempt to create the row had no response, or the service accepted the row without returning it.
    case createUncertain
    /// The service also rejected a repetition, or did not list the row in time.
    case createUncertainBlocked
    /// The row of an uncertain create was deleted.
    case createUncertainDeleted
    case createBlocked
    /// An edited row to be sent.
    case update
    case updateSent
    case updateSentEdited
    case updateSentDeleted
    case updateBlocked
    /// A deletion to be sent.
    case delete
    case deleteSent
    /// The row was inserted again after its deletion was prepared.
    case deleteSentInserted
    case deleteBlocked
}

/// An event that changes the state of a row in the outbox.
enum OutboxEvent: String, Sendable, CaseIterable {
    // Local writes
    case insert, edit, delete
    /// The user discarded the change.
    case discard
    /// A pull returned a new version of the row, without a conflict.
    case pullRecord
    /// A pull returned a tombstone of the row, and the deletion was applied.
    case pullDeletion
    /// A push prepared a request.
    case prepare

    // Outcomes of the request
    case applied, conflict, notFound, rejected, rejectedAfterRetry, failing, postponed, inDoubt, unknown, accepted
    case notListed

    /// Whether the event is the outcome of a request.
    var isOutcome: Bool {
        switch self {
        case .insert, .edit, .delete, .discard, .pullRecord, .pullDeletion, .prepare: false
        case .applied, .conflict, .notFound, .rejected, .rejectedAfterRetry, .failing, .postponed, .inDoubt, .unknown,
            .accepted, .notListed:
            true
        }
    }
}

/// The states of a row in the outbox, and the transitions between them. `Docs/SyncProtocol.md` shows the transitions.
///
/// The transitions hold for the policy `deleteWins`, and for the first outcome of its kind. A run records the outcomes of
/// earlier requests before it pulls, so a row with a request in flight is not deleted by a pull. A blocked change becomes
/// pending again by the events of `EngineLedger.Unblocked`.
enum OutboxMachine {
    private static let transitions: [OutboxState: [OutboxEvent: OutboxState]] = [
        .absent: [
            .insert: .create, .pullRecord: .synced,
        ],
        .synced: [
            .edit: .update, .delete: .delete, .pullRecord: .synced, .pullDeletion: .absent,
        ],
        .create: [
            .edit: .create, .delete: .absent, .pullRecord: .update, .pullDeletion: .create, .prepare: .createSent,
            .discard: .absent,
        ],
        .createSent: [
            .edit: .createSentEdited, .delete: .createSentDeleted, .pullRecord: .createSentPulled,
            .applied: .synced, .conflict: .update, .notFound: .createBlocked,
            .rejected: .createBlocked, .failing: .createBlocked, .postponed: .create, .inDoubt: .create,
            .unknown: .createUncertain, .accepted: .createUncertain, .discard: .createSentDeleted,
        ],
        .createSentEdited: [
            .edit: .createSentEdited, .delete: .createSentDeleted, .pullRecord: .createSentPulled,
            .applied: .update, .conflict: .update, .notFound: .create,
            .rejected: .create, .failing: .create, .postponed: .create, .inDoubt: .create,
            .unknown: .createUncertain, .accepted: .createUncertain, .discard: .createSentDeleted,
        ],
        .createSentPulled: [
            .edit: .createSentPulled, .delete: .createSentDeleted, .pullRecord: .createSentPulled,
            .applied: .synced, .conflict: .update, .notFound: .update, .rejected: .update,
            .failing: .update, .postponed: .update, .inDoubt: .update, .unknown: .createSentPulled,
            .accepted: .createSentPulled, .discard: .createSentPulled,
        ],
        .createSentDeleted: [
            .insert: .createSentEdited, .pullRecord: .createSentDeleted, .applied: .delete,
            .conflict: .delete, .notFound: .absent, .rejected: .absent, .failing: .delete, .postponed: .delete,
            .inDoubt: .delete, .unknown: .createUncertainDeleted, .accepted: .createUncertainDeleted,
        ],
        .createUncertain: [
            .edit: .createUncertain, .delete: .createUncertainDeleted, .pullRecord: .update, .pullDeletion: .absent,
            .applied: .synced, .conflict: .update, .notFound: .createBlocked, .rejected: .createBlocked,
            .rejectedAfterRetry: .createUncertainBlocked, .failing: .createBlocked, .postponed: .create,
            .inDoubt: .create, .unknown: .createUncertain, .accepted: .createUncertain,
            .notListed: .createUncertainBlocked, .discard: .createUncertainDeleted,
        ],
        .createUncertainBlocked: [
            .edit: .createUncertain, .delete: .createUncertainDeleted, .pullRecord: .update, .pullDeletion: .absent,
            .applied: .synced, .conflict: .update, .notFound: .createBlocked, .rejected: .createBlocked,
            .rejectedAfterRetry: .createUncertainBlocked, .failing: .createBlocked, .postponed: .createBlocked,
            .inDoubt: .createBlocked, .unknown: .createUncertainBlocked, .accepted: .createUncertainBlocked,
            .notListed: .createUncertainBlocked, .discard: .createUncertainDeleted,
        ],
        .createUncertainDeleted: [
            .insert: .createUncertain, .pullRecord: .delete, .pullDeletion: .absent, .applied: .delete,
            .conflict: .delete, .notFound: .absent, .rejected: .absent, .rejectedAfterRetry: .createUncertainDeleted,
            .failing: .delete, .postponed: .delete, .inDoubt: .delete, .unknown: .createUncertainDeleted,
            .accepted: .createUncertainDeleted, .notListed: .absent,
        ],
        .createBlocked: [
            .edit: .create, .delete: .absent, .pullRecord: .update, .pullDeletion: .createBlocked, .discard: .absent,
        ],
        .update: [
            .edit: .update, .delete: .delete, .pullRecord: .update, .pullDeletion: .absent, .prepare: .updateSent,
            .discard: .synced,
        ],
        .updateSent: [
            .edit: .updateSentEdited, .delete: .updateSentDeleted, .pullRecord: .updateSent, .applied: .synced,
            .conflict: .update, .notFound: .updateBlocked, .rejected: .updateBlocked,
            .failing: .updateBlocked, .postponed: .update, .inDoubt: .update, .unknown: .updateSent,
            .discard: .updateSentEdited,
        ],
        .updateSentEdited: [
            .edit: .updateSentEdited, .delete: .updateSentDeleted, .pullRecord: .updateSentEdited,
            .applied: .update, .conflict: .update, .notFound: .update, .rejected: .update,
            .failing: .update, .postponed: .update, .inDoubt: .update, .unknown: .updateSentEdited,
            .discard: .updateSentEdited,
        ],
        .updateSentDeleted: [
            .insert: .updateSentEdited, .pullRecord: .updateSentDeleted, .applied: .delete,
            .conflict: .delete, .notFound: .delete, .rejected: .delete, .failing: .delete, .postponed: .delete,
            .inDoubt: .delete, .unknown: .updateSentDeleted, .discard: .updateSentEdited,
        ],
        .updateBlocked: [
            .edit: .update, .delete: .delete, .pullRecord: .update, .pullDeletion: .absent, .discard: .synced,
        ],
        .delete: [
            .insert: .update, .pullRecord: .delete, .pullDeletion: .absent, .prepare: .deleteSent, .discard: .synced,
        ],
        .deleteSent: [
            .insert: .deleteSentInserted, .pullRecord: .deleteSent, .applied: .absent,
            .conflict: .delete, .notFound: .deleteBlocked, .rejected: .deleteBlocked, .failing: .deleteBlocked,
            .postponed: .delete, .inDoubt: .delete, .unknown: .deleteSent, .discard: .deleteSentInserted,
        ],
        .deleteSentInserted: [
            .edit: .deleteSentInserted, .delete: .deleteSent, .pullRecord: .deleteSentInserted,
            .applied: .create, .conflict: .update, .notFound: .update, .rejected: .update,
            .failing: .update, .postponed: .update, .inDoubt: .update, .unknown: .deleteSentInserted,
            .discard: .deleteSentInserted,
        ],
        .deleteBlocked: [
            .insert: .update, .pullRecord: .delete, .pullDeletion: .absent, .discard: .synced,
        ],
    ]

    /// Returns the state after an event; nil if the event cannot occur in this state.
    static func next(_ state: OutboxState, _ event: OutboxEvent) -> OutboxState? { transitions[state]?[event] }

    /// The transitions as Markdown, which a test compares with the document. Transitions to the same state are left out.
    static var markdown: String {
        let rows = OutboxState.allCases.map { state in
            let next = OutboxState.allCases.filter { $0 != state }.compactMap { next -> String? in
                let events = OutboxEvent.allCases.filter { transitions[state]?[$0] == next }
                if events.isEmpty { return nil }
                return events.map { "`\($0.rawValue)`" }.joined(separator: ", ") + " → \(next.rawValue)"
            }
            return "| \(state.rawValue) | \(next.joined(separator: "; ")) |"
        }
        return (["| State | Events and next states |", "|---|---|"] + rows).joined(separator: "\n")
    }
}
