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
        let keys = try rows.compactMap { try table.key.engineKey(of: $0.id, in: db) }
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
            db.now())
    }
}

// MARK: - Known row

/// A row that the service has, as far as the engine knows.
struct KnownRow {
    let version: String?
    /// When the service last changed the known version, in milliseconds since 1970; nil if not known.
    let time: Int64?
    /// How the engine learned of the row.
    let origin: Origin
    /// Whether the store has the values of the known version.
    let trust: Trust

    enum Origin: String {
        /// The service returned a record of the row.
        case pulled
        /// The service returned the row only inside other records.
        case nested
        /// The row was stored before the engine first ran, and the service has not confirmed that it has the row.
        case preexisting
    }

    enum Trust: String {
        /// The store has all values of the known version. A record of that version need not be merged.
        case current
        /// The next record is merged, whatever its version.
        case recheck
        /// The row may have local edits from a time without change capture.
        case uncaptured
    }

    /// The remote ID as the service spells it, as JSON; nil if an export spells it the same.
    private let spelled: String?

    static let columns = "version, time, origin, trust, remote"

    init(_ row: ResultRow) throws {
        version = try row.decode(atIndex: 0)
        time = try row.decode(atIndex: 1)
        origin = try row.state(atIndex: 2)
        trust = try row.state(atIndex: 3)
        spelled = try row.decode(atIndex: 4)
    }

    /// Returns the remote ID as the service spells it; nil if an export spells it the same.
    func spelledID() throws -> JSONValue? { try spelled.map { try EngineTableCheck.json($0) } }

    static let isPreexisting = "\"origin\" = 'preexisting'"
    static let mayHaveUncapturedEdits = "\"trust\" = 'uncaptured'"
    static let isNestedOnly = "\"origin\" = 'nested'"
}

extension EngineLedger {
    /// A row to record as known.
    struct KnownEntry {
        let key: DatabaseValue
        let version: String?
        let time: Int64?
        /// Whether the store has all values of the version.
        var isWhole = false
        /// The remote ID as the service spells it; nil if an export spells it the same.
        let spelled: String?
    }

    /// How the engine learned that the service has a row.
    enum Source {
        /// The service returned a record, which is stored now.
        case pulled
        /// The service applied a request. The next record of the row is merged, whatever its version.
        case sent(isCreated: Bool)
        /// The service returned a record of a locally deleted row, whose deletion is sent for the version of the record.
        /// The row need not be known, since the response to its create may be lost. The values of the record are not
        /// stored.
        case pulledDeleted

        /// The assignments for a row that is already known.
        var update: String {
            switch self {
            case .pulled:
                """
                version = excluded.version, time = excluded.time, origin = 'pulled', trust = excluded.trust,
                  remote = excluded.remote
                WHERE origin <> 'pulled' OR version IS NOT excluded.version OR time IS NOT excluded.time
                  OR trust <> excluded.trust OR remote IS NOT excluded.remote
                """
            case .sent(let isCreated):
                """
                version = coalesce(excluded.version, version), time = coalesce(excluded.time, time), origin = 'pulled',
                  trust = 'recheck', remote = coalesce(excluded.remote, remote)
                """ + (isCreated ? ", heard = excluded.heard" : "")
            case .pulledDeleted:
                """
                version = excluded.version, time = excluded.time,
                  trust = iif(trust = 'current', 'recheck', trust)
                """
            }
        }
    }
}

// MARK: - Pending change

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
