import GRDB
import SyncCore
import SyncStore

/// The state of a row in the store and in the engine's tables, for a merge.
struct LocalRowState {
    let key: DatabaseValue
    let state: LocalState
    private let known: KnownRow?
    private let change: PendingChange?

    var version: String? { known?.version }
    var time: Int64? { known?.time }
    var isKnown: Bool { known != nil }
    /// Whether the store has all values of the known version. If so, a record of that version need not be merged.
    var isWhole: Bool { known?.trust == .current }
    /// Whether the row may have local edits from a time without change capture.
    var mayHaveUncapturedEdits: Bool { known?.trust == .uncaptured }
    /// Whether the row is preexisting, and the service has not confirmed that it has the row.
    var isPreexisting: Bool { known?.origin == .preexisting }
    /// Whether the change is blocked because the service does not have the row.
    var isBlockedAsMissing: Bool { change?.reason == .missing }
    /// Whether a request without a response may have created the row. The value stays true if a repetition was
    /// rejected.
    let isTried: Bool

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
        (self.key, self.state, self.known, self.change) = (key, state, known, change)
        isTried = try state != .clean && state != .absent && ledger.mayBeCreated(key, table)
    }
}

/// The edit times of a row to be created at the service: when the row was created locally, and when its columns were
/// set since. The edit times of other rows are stored with their base values.
struct LocalEditTimes {
    /// The field name of the whole row in `sync_made`.
    private static let row = ""

    private let times: [String: Int64]

    /// Whether the row is to be created again, because the service deleted it. Its edited columns have base values, and
    /// also edit times if they were set since.
    let isRestored: Bool

    /// Returns whether a column was set after the row was created or after ``recordRestored(_:_:in:)``.
    func isSet(_ column: String) -> Bool { times[column] != nil }

    init(of key: DatabaseValue, _ table: TrackedTable, _ db: Database) throws {
        let rows = try db.rows(
            "SELECT field, edited, is_restored FROM sync_made WHERE e = ? AND k = ?", table.number, key)
        isRestored = try rows.contains { try $0.decode(Bool.self, atIndex: 2) }
        times = Dictionary(try rows.map { try ($0.decode(String.self, atIndex: 0), $0.decode(Int64.self, atIndex: 1)) })
        { first, _ in first }
    }

    /// Returns when a column was edited, in milliseconds since 1970; 0 if not known, or if the column is NULL and was
    /// never set.
    func editTime(of column: String, holding value: DatabaseValue) -> Int64 {
        if let time = times[column] { return time }
        return value.isNull || isRestored ? 0 : times[Self.row] ?? 0
    }

    /// Returns the SQL condition that a row is to be created again. `isRow` is the SQL condition that selects the
    /// entries of the row in `sync_made`.
    static func isRestored(_ isRow: String) -> String {
        "EXISTS (SELECT 1 FROM \"sync_made\" WHERE \(isRow) AND \"is_restored\")"
    }

    /// Marks a row to be created again.
    static func recordRestored(_ key: DatabaseValue, _ table: TrackedTable, in db: Database) throws {
        try db.run("DELETE FROM sync_made WHERE e = ? AND k = ?", table.number, key)
        try db.run(
            "INSERT INTO sync_made (e, k, field, edited, is_restored) VALUES (?, ?, ?, ?, 1)", table.number, key, row,
            SQLiteEngineStore.now)
    }
}
