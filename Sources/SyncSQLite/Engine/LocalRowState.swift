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
    /// Whether the row is preexisting, and the service has not confirmed that it has the row.
    let isPreexisting: Bool
    /// Whether a request without a response may have created the row. The value stays true if a repetition was
    /// rejected.
    let isTried: Bool
    /// Whether the change is blocked because the service does not have the row.
    let isBlockedAsMissing: Bool

    init(of key: DatabaseValue, _ table: TrackedTable, _ db: Database) throws {
        let ledger = EngineLedger(db)
        try self.init(of: key, table, ledger.knownRow(key, table), ledger.change(of: key, table), ledger)
    }

    init(
        of key: DatabaseValue, _ table: TrackedTable, _ known: KnownRow?, _ change: PendingChange?,
        _ ledger: EngineLedger
    ) throws {
        var state: LocalState = known == nil ? .absent : .clean
        switch change?.kind {
        case .create: state = .created
        case .delete: state = .deleted
        case .update: state = try table.isStored(key, in: ledger.db) ? .updated : .deleted
        case nil: break
        }
        self.key = key
        self.state = state
        version = known?.version
        time = known?.time
        isKnown = known != nil
        isWhole = known?.trust == .current
        mayHaveUncapturedEdits = known?.trust == .uncaptured
        isPreexisting = known?.origin == .preexisting
        isTried = try state != .clean && state != .absent && ledger.mayBeCreated(key, table)
        isBlockedAsMissing = change?.reason == .missing
    }
}
