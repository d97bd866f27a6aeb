import GRDB
import SyncCore
import SyncStore

/// The entries of the rows of one page, read together before the page is merged.
///
/// A merge that changes the entries of a row must call ``discard(_:)``. The entries of that row are then read again.
final class PageEntries {
    let facts: EngineLedger.Facts
    private let table: TrackedTable
    private let ledger: EngineLedger
    private var known: [BinaryComparedValue: KnownRow] = [:]
    private var changes: [BinaryComparedValue: PendingChange] = [:]
    /// The keys whose entries are up to date.
    private var read: Set<BinaryComparedValue> = []

    /// - Parameter isTogether: Whether to read the entries now. Otherwise each row's entries are read separately.
    init(of rows: [RemoteRecord], _ table: TrackedTable, isTogether: Bool, _ db: Database) throws {
        self.table = table
        ledger = EngineLedger(db)
        facts = try ledger.facts(of: table)
        // The key of a row with a surrogate key depends on whether the row is stored.
        guard isTogether, !table.key.isSurrogate, rows.count > 1 else { return }
        let keys = try rows.compactMap { try table.key.k(of: $0.id, in: db) }
        if facts.hasKnownRows { known = try ledger.knownRows(keys, table) }
        if facts.hasChanges { changes = try ledger.changes(of: keys, table) }
        read = Set(keys.map(\.exact))
    }

    func knownRow(_ key: DatabaseValue) throws -> KnownRow? {
        read.contains(key.exact) ? known[key.exact] : try ledger.knownRow(key, table)
    }

    func state(of key: DatabaseValue) throws -> LocalRowState {
        guard read.contains(key.exact) else { return try LocalRowState(of: key, table, ledger.db) }
        return try LocalRowState(of: key, table, known[key.exact], changes[key.exact], ledger)
    }

    /// Discards the entries of a row, because they change.
    func discard(_ key: DatabaseValue) { read.remove(key.exact) }

    /// Discards the entries of all rows, because the keys of rows change.
    func discardAll() { read = [] }
}

/// The values and entries of the rows that a push examines next, read together.
struct OutgoingEntries {
    private let ledger: EngineLedger
    /// The number of the entity. Rows of other entities may have the same keys.
    private var entity: Int?
    private var read: Set<BinaryComparedValue> = []
    /// The values of the rows; nil if they were not read.
    private var values: [BinaryComparedValue: [String: DatabaseValue]]?
    /// The base values of the rows; nil if they were not read.
    private var bases: [BinaryComparedValue: [String: EngineLedger.Base]]?
    private var known: [BinaryComparedValue: KnownRow] = [:]
    private var keysWithRequests: Set<BinaryComparedValue> = []

    /// Creates entries of no rows. Each row is then read separately.
    init(_ db: Database) { ledger = EngineLedger(db) }

    /// - Parameter isDeleted: Whether the rows are deleted. Requests of deletions contain no values.
    init(of keys: [DatabaseValue], _ table: TrackedTable, isDeleted: Bool, _ db: Database) throws {
        self.init(db)
        if !isDeleted {
            values = try table.fieldReader.values(of: keys, in: db)
            bases = try ledger.bases(of: keys, table)
        }
        known = try ledger.knownRows(keys, table)
        if try ledger.hasRequests() { keysWithRequests = try ledger.keysWithRequests(among: keys, table) }
        entity = table.number
        read = Set(keys.map(\.exact))
    }

    private func isRead(_ key: DatabaseValue, _ table: TrackedTable) -> Bool {
        entity == table.number && read.contains(key.exact)
    }

    /// Returns the values of a row by column; nil if the row is not stored.
    func values(of key: DatabaseValue, _ table: TrackedTable) throws -> [String: DatabaseValue]? {
        guard isRead(key, table), let values else { return try table.fieldReader.values(of: key, in: ledger.db) }
        return values[key.exact]
    }

    func bases(of key: DatabaseValue, _ table: TrackedTable) throws -> [String: EngineLedger.Base] {
        guard isRead(key, table), let bases else { return try ledger.bases(of: key, table) }
        return bases[key.exact] ?? [:]
    }

    func known(_ key: DatabaseValue, _ table: TrackedTable) throws -> KnownRow? {
        isRead(key, table) ? known[key.exact] : try ledger.knownRow(key, table)
    }

    func mayHaveRequest(_ key: DatabaseValue, _ table: TrackedTable) -> Bool {
        !isRead(key, table) || keysWithRequests.contains(key.exact)
    }
}
