import Foundation
import GRDB
import SyncCore
import SyncStore

/// The store of a two-way engine, in SQLite. Each operation is one transaction.
package struct SQLiteEngineStore: EngineStore {
    let stack: DataStack
    let registration: EngineRegistration
    /// Whether the runs only import pages. Change capture is then off, unless another engine uses it.
    let isImport: Bool
    /// The registered tables, in the order of the registration.
    let tables: [TrackedTable]
    /// The tables of entities that only other engines of the database sync.
    let otherTables: [TrackedTable]
    /// The tables whose rows a nested list unlinks and does not delete.
    var unlinkedTables: Set<TableID> { Set((tables + otherTables).map(\.entity.table)) }
    let tableByName: [String: TrackedTable]
    /// The identity of the sync state. See ``EngineLedger/identity()``.
    private let identity: String
    let memory = EngineRunCache()

    init(
        _ stack: DataStack, _ registration: EngineRegistration, isImport: Bool, _ tables: [TrackedTable],
        others: [TrackedTable], identity: String
    ) {
        self.identity = identity
        (self.stack, self.registration, self.isImport) = (stack, registration, isImport)
        (self.tables, otherTables) = (tables, others)
        tableByName = Dictionary(tables.map { ($0.entity.name, $0) }) { first, _ in first }
    }

    var model: SyncModel { stack.model }
    package var memberPaths: [String: [[String]]] { tableByName.mapValues(\.memberPaths) }

    func table(_ entity: String) throws -> TrackedTable {
        guard let table = tableByName[entity] else {
            throw SyncError(
                .unknownEntity, "unknown entity '\(entity)': it is not registered with the engine", entity: entity)
        }
        return table
    }

    func table(of row: TrackedRow) -> TrackedTable? { tables.first { $0.number == row.table } }

    /// Returns the table of a referenced row, among the registered or the given tables; nil if none has the row. If only
    /// one table is possible, the row need not be stored.
    func table(
        _ destination: TableID?, holding key: DatabaseValue, among tables: [TrackedTable]? = nil, in db: Database
    ) throws -> TrackedTable? {
        let tables = (tables ?? self.tables).filter { $0.entity.table == destination }
        if tables.count == 1, let table = tables.first, !table.isPart { return table }
        return try tables.first { try $0.isStored(key, in: db) }
    }

    /// Returns the primary key of a referenced row as JSON. For a row that is not synced, returns the given key.
    func id(_ key: DatabaseValue, of destination: TableID?, in db: Database) throws -> JSONValue {
        guard let table = try table(destination, holding: key, in: db) else { return key.json }
        return try table.recordKey(key, in: db).json
    }

    /// Returns the columns that contain keys of a table: foreign keys, and columns of join tables.
    func references(to table: TrackedTable) -> [(link: CompiledAssociation, names: LinkTable)] {
        model.compiled.links.flatMap { link in
            [CompiledAssociation.End.first, .second].compactMap { end in
                // A foreign key is at the first end, and has a key of the second end.
                guard link.side(end).table == table.entity.table, link.storage == .joinTable || end == .second else {
                    return nil
                }
                return (link, LinkTable(link, end, stack.layout))
            }
        }
    }

    /// Returns the keys in a list that was sent. If a key was replaced since, the result has the current key.
    func sentKeys(
        _ value: DatabaseValue, _ joinTable: TrackedTable.JoinTable, in db: Database
    ) throws -> [DatabaseValue] {
        let numbers = tables.filter { $0.entity.table == joinTable.destination }.map { "\($0.number)" }
            .joined(separator: ", ")
        return try LinkedRowList.keys(value).map { key in
            let later = try EngineLedger(db).laterKey(than: key, ofEntities: numbers)
            return try currentElement(later ?? key, of: joinTable, db)
        }
    }

    // MARK: Transactions

    /// Runs one transaction of an engine run. `keepsMemory`: whether the state in ``EngineRunCache`` is still valid
    /// after the transaction. Throws ``SyncError`` `engineBusy` if another run has taken the lease.
    func writing<T: Sendable>(
        _ lease: EngineLease, keepsMemory: Bool = false, _ body: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await transaction(keepsMemory: keepsMemory, hasLease: true) { [stack] db, start in
            try stack.watch.insertingRowsOnlyBySyncs(db, since: start) {
                try LeaseStore.check(lease, in: db)
                return try body(db)
            }
        }
    }

    func reading<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await stack.reading { db in
            try EngineTableCheck.located(in: db) {
                try checkIdentity(in: db)
                return try body(db)
            }
        }
    }

    /// Checks that the sync state is the one that this engine was created with. An engine of a former user must not read
    /// or write the rows of the next one.
    ///
    /// - Throws: ``SyncError`` `databaseError`.
    func checkIdentity(in db: Database) throws {
        guard try EngineLedger(db).identity() == identity else { throw EngineTableCheck.removed() }
    }

    /// Runs one transaction without a check of the lease. `hasLease`: whether `body` checks the lease, which ends with
    /// the sync state.
    func transaction<T: Sendable>(
        keepsMemory: Bool = false, hasLease: Bool = false,
        _ body: @escaping @Sendable (Database, _ start: StoreMonitor.Moment) throws -> T
    ) async throws -> T {
        let (watch, isAppDatabase, layout) = (stack.watch, stack.isAppDatabase, stack.layout)
        return try await DatabaseErrorMapper.mapped(.databaseError, "cannot write to the store") { [memory] in
            try await stack.database.write { db in
                try watch.check(db)
                return try EngineTableCheck.located(in: db) {
                    if !hasLease { try checkIdentity(in: db) }
                    let start = try StoreMonitor.Moment(db)
                    let result = try memory.during(db, since: start, isPreserved: keepsMemory, watch.transactionEnd) {
                        try DeferredForeignKeys.during(db, isAppDatabase) { try body(db, start) }
                    }
                    // SQLite would reject the commit, without the name of the table.
                    if DeferredForeignKeys.areBroken(db) { try ForeignKeyViolations(db, layout).refuse() }
                    try EngineLedger(db).notifyObservers()
                    return result
                }
            }
        }
    }

    /// Runs writes that triggers do not capture. The row in `sync_capture_off` is never committed, so other connections never
    /// see it.
    func muted<T>(in db: Database, _ body: () throws -> T) throws -> T {
        try db.savepoint {
            try CaptureSuppression.writing.set(in: db)
            let result = try body()
            try CaptureSuppression.clearAll(in: db)
            return result
        }
    }
}

extension DataStack {
    /// Prepares the database for an engine or an import, and returns its store. The call creates missing tables and
    /// triggers, and records preexisting rows.
    ///
    /// - Throws: ``SyncError`` `serviceMismatch` or `userMismatch` if the database syncs with another service or user.
    ///   `unknownEntity`, `keylessEntity`, `unknownAttribute` or `invalidOption` if an entity cannot be synced as
    ///   registered. `cannotOpenStore` if the engine's tables have an unknown version.
    func engine(_ registration: EngineRegistration, isImport: Bool) throws -> SQLiteEngineStore {
        var (tables, others, identity): ([TrackedTable], [TrackedTable], String) = ([], [], "")
        try DatabaseErrorMapper.mapped(.databaseError, "cannot create the engine's tables") {
            try database.write { db in
                try watch.check(db)
                try EngineTableCheck.located(in: db) {
                    (tables, others, identity) = try EngineSetup(self, registration, isImport: isImport, db).open()
                }
            }
        }
        return SQLiteEngineStore(
            self, registration, isImport: isImport, tables, others: others, identity: identity)
    }
}

// MARK: - Cache of a run

/// The state that the transactions of a run share, so that each transaction need not read it again. The cache discards
/// the state if another writer wrote between two transactions.
///
/// `@unchecked Sendable`: only write transactions use the cache, one at a time. `lock` protects its variables.
final class EngineRunCache: @unchecked Sendable {
    private let lock = NSLock()
    private var point: StoreMonitor.Moment?
    private var newRows: [Int: NewRows] = [:]
    private var areKeysFree = false
    let outboxScan = OutboxScan()

    /// Runs `body`, inside a transaction. Discards the state first if it is out of date. `start` is the current moment.
    /// `isPreserved`: whether `body` keeps the state up to date. If false, the state is discarded.
    func during<T>(
        _ db: Database, since start: StoreMonitor.Moment, isPreserved: Bool, _ transactionEnd: TransactionEndObserver,
        _ body: () throws -> T
    ) throws -> T {
        lock.withLock {
            if point != start || !isPreserved { clear() }
            point = nil
        }
        let result = try body()
        let end = start.after(writesOf: db)
        if isPreserved {
            transactionEnd.afterTransaction(of: db, onCommit: { [self] _ in lock.withLock { point = end } })
        }
        return result
    }

    private func clear() {
        outboxScan.clear()
        newRows = [:]
        areKeysFree = false
    }

    /// Whether no new row has the key of a pending reference of the service. See ``KeyCollisions/removePendingKeys()``.
    var arePendingKeysFree: Bool {
        get { lock.withLock { areKeysFree } }
        set { lock.withLock { areKeysFree = newValue } }
    }

    func newRows(of table: Int, _ make: () -> NewRows) -> NewRows {
        lock.withLock {
            let rows = newRows[table] ?? make()
            newRows[table] = rows
            return rows
        }
    }
}

/// The progress of a push through the outbox. The push examines rows by key, and continues after the last examined row.
/// If a row waits for another row, the push examines it again once the request of the other row is completed.
final class OutboxScan {
    /// The push examines first the rows, then the deletions.
    typealias Pass = EngineLedger.Selection

    private struct Position: Hashable {
        let pass: Pass
        let table: Int
    }

    /// The key of the last examined row of each table.
    private var lastKeys: [Position: DatabaseValue] = [:]
    /// The waiting rows, by the row that they wait for.
    private var dependents: [TrackedRow: [TrackedRow]] = [:]
    private var requeued: [Position: [DatabaseValue]] = [:]
    /// Whether the push found no cycle of new rows. The value becomes false when the push examines another row.
    var hasNoCycle = false

    var isEmpty: Bool { lastKeys.isEmpty }

    func clear() {
        (lastKeys, dependents, requeued) = ([:], [:], [:])
        hasNoCycle = false
    }

    // MARK: Progress

    func lastKey(_ pass: Pass, _ table: Int) -> DatabaseValue { lastKeys[Position(pass: pass, table: table)] ?? .null }

    func advance(_ pass: Pass, _ table: Int, to key: DatabaseValue) {
        lastKeys[Position(pass: pass, table: table)] = key
    }

    /// Removes and returns the keys of rows to examine again, at most `limit`.
    func takeRequeued(_ pass: Pass, _ table: Int, _ limit: Int) -> [DatabaseValue] {
        let position = Position(pass: pass, table: table)
        let keys = requeued[position]?.suffix(limit) ?? []
        requeued[position]?.removeLast(keys.count)
        return Array(keys)
    }

    /// Marks rows to be examined again before all other rows.
    func requeue(_ keys: [DatabaseValue], _ pass: Pass, _ table: Int) {
        guard !keys.isEmpty else { return }
        requeued[Position(pass: pass, table: table), default: []] += keys
    }

    // MARK: Waiting rows

    func add(_ row: TrackedRow, dependingOn others: [TrackedRow]) {
        for other in others { dependents[other, default: []].append(row) }
    }

    /// Marks the rows that wait for a row to be examined again, and the row itself if it still has a change.
    func requeue(_ row: TrackedRow, hasChange: Bool = true) {
        for row in (hasChange ? [row] : []) + (dependents.removeValue(forKey: row) ?? []) {
            for pass in [Pass.rows, .deletions] {
                requeued[Position(pass: pass, table: row.table), default: []].append(row.key)
            }
        }
    }
}
