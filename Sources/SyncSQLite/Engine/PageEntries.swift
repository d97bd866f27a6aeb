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

    /// Returns the state of a row for a merge.
    func state(of key: DatabaseValue) throws -> LocalRowState {
        guard read.contains(key.exact) else { return try LocalRowState(of: key, table, ledger.db) }
        return try LocalRowState(of: key, table, known[key.exact], changes[key.exact], ledger)
    }

    /// Discards the entries of a row, because they change.
    func discard(_ key: DatabaseValue) { read.remove(key.exact) }

    /// Discards the entries of all rows, because the keys of rows change.
    func discardAll() { read = [] }
}
