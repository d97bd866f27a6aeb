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

    init(of key: DatabaseValue, _ table: TrackedTable, _ entries: RowEntries) throws {
        let (known, change) = (try entries.known(key, table), try entries.change(key, table))
        let ledger = entries.ledger
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

/// The values and entries of the rows that a page merges, or that a push examines next, read together. The entries of
/// other rows are read when they are needed.
///
/// A merge that changes the entries of a row must call ``discard(_:)``. The entries of that row are then read again.
final class RowEntries {
    /// What an entity may have entries of. A page need not look for entries that do not exist.
    struct Facts {
        var hasKnownRows = true
        var hasChanges = true
        var hasTombstones = true
        var hasQuarantinedRecords = true
    }

    let ledger: EngineLedger
    let facts: Facts
    /// The table of the rows that were read together. Rows of other tables may have the same keys.
    private let table: TrackedTable?
    /// The keys of the rows whose entries are up to date.
    private var read: Set<BinaryComparedValue> = []
    private var known: [BinaryComparedValue: KnownRow] = [:]
    /// The pending changes; nil if they were not read. The same applies to the properties that follow.
    private var changes: [BinaryComparedValue: PendingChange]?
    private var values: [BinaryComparedValue: [String: DatabaseValue]]?
    private var bases: [BinaryComparedValue: [String: EngineLedger.Base]]?
    private var keysWithRequests: Set<BinaryComparedValue>?

    /// Creates entries of no rows.
    init(_ db: Database) { (ledger, facts, table) = (EngineLedger(db), Facts(), nil) }

    /// Reads the entries of rows to be merged. `isTogether`: whether to read them now.
    init(merging rows: [RemoteRecord], _ table: TrackedTable, isTogether: Bool, _ db: Database) throws {
        (ledger, self.table) = (EngineLedger(db), table)
        facts = try ledger.facts(of: table)
        // The key of a row with a surrogate key depends on whether the row is stored.
        guard isTogether, !table.key.isSurrogate, rows.count > 1 else { return }
        let keys = try rows.compactMap { try table.key.k(of: $0.id, in: db) }
        if facts.hasKnownRows { known = try ledger.knownRows(keys, table) }
        changes = facts.hasChanges ? try ledger.changes(of: keys, table) : [:]
        read = Set(keys.map(\.exact))
    }

    /// Reads the values and entries of rows to be sent. Requests of deletions contain no values.
    init(sending keys: [DatabaseValue], _ table: TrackedTable, isDeleted: Bool, _ db: Database) throws {
        (ledger, facts, self.table) = (EngineLedger(db), Facts(), table)
        if !isDeleted {
            values = try table.fieldReader.values(of: keys, in: db)
            bases = try ledger.bases(of: keys, table)
        }
        known = try ledger.knownRows(keys, table)
        keysWithRequests = try ledger.hasRequests() ? ledger.keysWithRequests(among: keys, table) : []
        read = Set(keys.map(\.exact))
    }

    private func isRead(_ key: DatabaseValue, _ table: TrackedTable) -> Bool {
        self.table?.number == table.number && read.contains(key.exact)
    }

    func known(_ key: DatabaseValue, _ table: TrackedTable) throws -> KnownRow? {
        isRead(key, table) ? known[key.exact] : try ledger.knownRow(key, table)
    }

    func change(_ key: DatabaseValue, _ table: TrackedTable) throws -> PendingChange? {
        guard isRead(key, table), let changes else { return try ledger.change(of: key, table) }
        return changes[key.exact]
    }

    /// Returns the values of a row by column; nil if the row is not stored.
    func values(_ key: DatabaseValue, _ table: TrackedTable) throws -> [String: DatabaseValue]? {
        guard isRead(key, table), let values else { return try table.fieldReader.values(of: key, in: ledger.db) }
        return values[key.exact]
    }

    func bases(_ key: DatabaseValue, _ table: TrackedTable) throws -> [String: EngineLedger.Base] {
        guard isRead(key, table), let bases else { return try ledger.bases(of: key, table) }
        return bases[key.exact] ?? [:]
    }

    func mayHaveRequest(_ key: DatabaseValue, _ table: TrackedTable) -> Bool {
        guard isRead(key, table), let keysWithRequests else { return true }
        return keysWithRequests.contains(key.exact)
    }

    /// Discards the entries of a row, because they change.
    func discard(_ key: DatabaseValue) { read.remove(key.exact) }

    /// Discards the entries of all rows, because the keys of rows change.
    func discardAll() { read = [] }
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
