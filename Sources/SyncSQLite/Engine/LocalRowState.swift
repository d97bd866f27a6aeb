import GRDB
import SyncCore
import SyncStore

/// The state of a row in the store and in the engine's tables, for a merge.
struct LocalRowState {
    let key: DatabaseValue
    let state: LocalState
    let version: String?
    let time: Int64?
    let isKnown: Bool
    /// Whether the store has all values of the known version. If so, a record of that version need not be merged.
    let isWhole: Bool
    /// Whether the row may have local edits from a time without change capture.
    let mayHaveUncapturedEdits: Bool
    /// The SQL condition, for `sync_known`, that edits of a row may not have been captured.
    static let auditedCondition = "\"whole\" IN (2, 4)"
    /// Whether the row is preexisting, and the service has not confirmed that it has the row.
    let isPreexisting: Bool
    /// Whether a request without a response may have created the row. The value stays true if a repetition was
    /// rejected.
    let isTried: Bool
    /// Whether the change is blocked because the service does not have the row.
    let isBlockedAsMissing: Bool

    init(of key: DatabaseValue, _ table: TrackedTable, _ db: Database) throws {
        let change = try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT kind, state, \(RequestCompletion.isNotFound) FROM sync_change WHERE e = ? AND k = ?"),
            arguments: [table.number, key])
        let known = try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT version, time, whole, \(PreexistingRows.condition) FROM sync_known WHERE e = ? AND k = ?"),
            arguments: [table.number, key])
        var state: LocalState = known == nil ? .absent : .clean
        if let change {
            switch try change.decode(String.self, atIndex: 0) {
            case "create": state = .created
            case "delete": state = .deleted
            default: state = try table.isStored(key, in: db) ? .updated : .deleted
            }
        }
        self.key = key
        self.state = state
        version = try known?.decode(atIndex: 0)
        time = try known?.decode(atIndex: 1)
        isKnown = known != nil
        let whole: Int? = try known?.decode(atIndex: 2)
        isWhole = whole == 1
        mayHaveUncapturedEdits = whole == 2 || whole == 4
        isPreexisting = try known?.decode(atIndex: 3) == true
        isTried =
            try state != .clean && state != .absent
            && db.finds(
                sql: "SELECT 1 FROM sync_request WHERE e = ? AND k = ? AND kind = 'create' AND attempts > 0",
                arguments: [table.number, key])
        isBlockedAsMissing =
            try change?.decode(String.self, atIndex: 1) == "parked" && change?.decode(Bool.self, atIndex: 2) == true
    }
}
