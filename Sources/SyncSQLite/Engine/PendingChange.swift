import GRDB
import SyncCore
import SyncStore

/// A pending change of a row: its entry in the outbox.
struct PendingChange {
    typealias Kind = PushOperation.Kind

    enum State: String {
        case ready
        /// A field of the row has an open conflict.
        case conflicted
        case blocked
    }

    /// What caused the change.
    enum Cause: String {
        case edit
        /// The engine deleted another row, and this change is the result. If the service has another version of the row,
        /// that version wins.
        case cascade
    }

    /// The reason why a change is blocked. It determines which events make the change pending again. See
    /// ``EngineLedger/Unblocked``.
    enum BlockReason: String, CaseIterable {
        /// The service will never accept the change.
        case rejected
        /// The outcome of the request stays unknown, although the service responds to other requests.
        case failing
        /// The service had another version several consecutive times.
        case contended
        /// The service does not have the row. When a run confirms this, the row is deleted or created again.
        case missing
        /// An earlier attempt may have created the row. The request is kept.
        case uncertain
        /// New rows require each other.
        case cycle
        /// The row or a value cannot be sent.
        case unsendable
        /// The service stores a field under another key than the model.
        case misnamed

        static let sqlList = allCases.map(\.rawValue.literal).joined(separator: ", ")
    }

    let key: DatabaseValue
    let kind: Kind
    let state: State
    let cause: Cause
    /// The creation ID of a row that the service is not known to have; nil for other rows.
    let creationID: String?
    /// The edit counter of the last edit; 0 if the engine found the edit when it was set up.
    let edit: Int64
    let reason: BlockReason?
    let rejections: Int
    /// The number of consecutive responses with another version. For a row that is created again, the number of
    /// consecutive responses that rejected its ID.
    let contentions: Int

    static let columns = "k, kind, state, cause, creation_id, seq, reason, rejections, contentions"

    init(_ row: ResultRow) throws {
        key = row[0]
        kind = try row.state(atIndex: 1)
        state = try row.state(atIndex: 2)
        cause = try row.state(atIndex: 3)
        creationID = try row.decode(atIndex: 4)
        edit = try row.decode(atIndex: 5)
        reason = try row.decode(String?.self, atIndex: 6) == nil ? nil : row.state(atIndex: 6)
        rejections = try row.decode(atIndex: 7)
        contentions = try row.decode(atIndex: 8)
    }
}
