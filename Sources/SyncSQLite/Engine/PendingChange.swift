import GRDB
import SyncCore

/// A pending change of a row: its entry in the outbox.
struct PendingChange {
    enum Kind: String {
        case create, update, delete
    }

    enum State: String {
        case ready
        /// A field of the row has an open conflict.
        case conflicted
        case blocked = "parked"
    }

    let key: DatabaseValue
    let kind: Kind
    let state: State
    /// The creation ID of a row that the service is not known to have; nil for other rows.
    let creationID: String?
    /// The edit counter of the last edit; 0 if the engine found the edit when it was set up.
    let edit: Int64
    /// The number of final rejections.
    let attempts: Int
    /// The number of consecutive responses with another version.
    let rounds: Int
    private let reason: String?

    static let columns = "k, kind, state, birth, seq, attempts, rounds, reason"

    init(_ row: Row) throws {
        key = row[0]
        kind = try Kind(rawValue: row.decode(atIndex: 1)) ?? .update
        state = try State(rawValue: row.decode(atIndex: 2)) ?? .ready
        creationID = try row.decode(atIndex: 3)
        edit = try row.decode(atIndex: 4)
        attempts = try row.decode(atIndex: 5)
        rounds = try row.decode(atIndex: 6)
        reason = try row.decode(atIndex: 7)
    }

    /// Whether the change is only the cascade of a remote deletion, and no edit.
    var isCascade: Bool { CascadeMarker.isMarked(reason) }

    /// Whether the change is blocked because the service does not have the row.
    var isBlockedAsMissing: Bool {
        state == .blocked && reason.map(CascadeMarker.shown) == RequestCompletion.notFoundReason
    }
}

extension EngineLedger {
    /// The blocked changes that an event makes pending again.
    enum Unblocked {
        /// All blocked changes without a stored request, except those of missing rows: the store got another model.
        case model
        /// Changes that were contended, or whose requests failed: another run begins.
        case run
        /// Changes of an entity that the service rejected once: rows were deleted.
        case rejectedOnce(TrackedTable)
        /// New rows in a cycle. The next push determines whether they still form one.
        case cycle
        /// Rejected changes of rows whose foreign key in a column references a row that became known since. The last
        /// value has the numbers of the referenced entities.
        case referencing(TrackedTable, TrackedTable.Column, [Int])
        /// Changes of rows in a list of keys, as SQL with the parameter `:key`, except those of missing rows: a row that
        /// they reference is created again, or gone.
        case rows(TrackedTable, keys: String, DatabaseValue)
        /// The change of a row, except if the service does not have the row.
        case row(TrackedTable, DatabaseValue)
        /// The change of a row, whatever the reason.
        case storedRow(TrackedTable, DatabaseValue)
        /// Changes of an entity that are blocked because the service did not have the row: the listing has the row.
        case listed(TrackedTable)
    }
}
