import Foundation
package import GRDB
package import SyncCore
package import SyncStore

/// The `StoreSession` for SQLite: access to the database inside one transaction.
package final class SQLiteSession {
    package let db: Database
    let layout: StoreLayout
    /// The SQL of the columns of each table, created on demand because a session may handle only a single row.
    private var rowSQL: [RowSQL?]
    let statements: StatementCache
    /// The access to the facts of the ``StoreMonitor``.
    private let visit: StoreMonitor.Visit
    /// The known lower bounds of row counts, by quoted table name.
    package var scratch: [String: Int] = [:]
    /// The rows of ``rows(of:where:after:limit:)`` that are read only in part; nil if there are none.
    var openRows: OpenRows?

    // The state of the running sync.
    private(set) var graph: PayloadGraph?
    private(set) var tables: SyncTables?
    private(set) var lookups: [NodeLookup] = []
    private(set) var steps = ProgressReporter(nil)
    /// The moment when the sync began.
    private var start: StoreMonitor.Moment?
    /// Whether the store had pending references when the sync began, or has got some since.
    private(set) var hasReferences = false
    /// The resolved tables: only syncs have added rows, so no pending reference waits for a row that they already
    /// contain.
    private(set) var resolvedTables: Set<TableID> = []
    /// The associations that were checked for dangling links.
    var validLinks = StoreMonitor.ValidLinks()
    /// By association, the rows that have no node, but that links reference. These rows may be missing from the store.
    var danglingCandidates: [AssociationID: DanglingCandidates] = [:]
    /// The keys of the deleted rows of tables that tables outside the model reference.
    var deletedKeys: [TableID: Set<RowKey>] = [:]
    /// Whether the caller's transaction already had unresolved foreign keys, which the caller must resolve.
    private var hadOpenLinks = false

    init(_ visit: StoreMonitor.Visit, _ layout: StoreLayout) {
        SQLFunctionInstaller.install(in: visit.db)
        self.visit = visit
        db = visit.db
        self.layout = layout
        rowSQL = Array(repeating: nil, count: layout.model.hierarchies.count)
        statements = StatementCache(db)
    }

    var model: CompiledModel { layout.model }

    func columns(_ table: TableID) -> RowColumns { rowSQL(table).columns }

    func rowSQL(_ table: TableID) -> RowSQL {
        if let made = rowSQL[table.index] { return made }
        let made = RowSQL(model[table], layout)
        rowSQL[table.index] = made
        return made
    }
}

extension SQLiteSession: StoreSession {
    package func begin(_ graph: PayloadGraph, _ tables: SyncTables, _ steps: ProgressReporter) throws {
        self.graph = graph
        self.tables = tables
        self.steps = steps
        lookups = tables.map { NodeLookup($0.batch, testsStorageClass: layout.hasExistingTables) }
        danglingCandidates = [:]
        deletedKeys = [:]
        hasReferences = try db.hasPendingReferences()
        hadOpenLinks = hasOpenLinks
        let start = try StoreMonitor.Moment(db)
        self.start = start
        resolvedTables = hasReferences ? visit.resolvedTables(at: start) : Set(tables.lazy.map(\.id))
        validLinks = visit.validLinks(at: start)
    }

    /// Ends the sync. If there are pending references, the monitor records the resolved tables when the transaction
    /// commits.
    package func end(awaits: Bool) throws {
        // Release the payload graph now. It may be large, and so may the graph of the next chunk.
        (graph, tables, lookups) = (nil, nil, [])
        guard let start, hasReferences || awaits else { return }
        visit.setResolvedTables(resolvedTables, since: start)
    }

    /// Whether the transaction has unresolved foreign keys, from any statement.
    private var hasOpenLinks: Bool { DeferredForeignKeys.areBroken(db) }

    /// Records that the store now has pending references.
    func setHasReferences() { hasReferences = true }

    func addResolvedTables(_ tables: some Sequence<TableID>) { resolvedTables.formUnion(tables) }

    /// Records ``validLinks`` for later transactions.
    func storeValidLinks() {
        guard let start, !validLinks.checked.isEmpty else { return }
        visit.storeValidLinks(validLinks, at: start)
    }

    package func reserveCapacity(forInserting count: Int) throws { try PageCache.grow(forInserting: count, db) }

    /// Checks foreign keys before the commit. The error of a failed commit would not name the violations.
    package func checkLinks() throws -> [OutsideReferences] {
        guard hasOpenLinks else { return [] }
        let violations = try ForeignKeyViolations(db, layout, ofOwnTables: hadOpenLinks, deleted: deletedKeys)
        try violations.refuse()
        return violations.denied
    }

    private static let tablesPerNotice = 64

    package func notifyObservers(of tables: [ChangedTable], andLinks: Bool) throws {
        let own = tables.map { layout[$0.table].name } + (andLinks ? layout.joinTables : [])
        let others = try visit.tables(writtenWith: tables, andLinks: andLinks, layout).subtracting(own)
        let names = own + others.sorted()
        // GRDB copies a region each time a table is added to it, so build several small regions.
        for start in stride(from: 0, to: names.count, by: Self.tablesPerNotice) {
            var region = DatabaseRegion()
            for name in names[start..<min(start + Self.tablesPerNotice, names.count)] {
                region.formUnion(try Table(name).databaseRegion(db))
            }
            try db.notifyChanges(in: region)
        }
    }
}

/// Rows that are read in several calls.
struct OpenRows {
    let entity: Int
    let predicate: RowPredicate?
    /// The statement, which has returned the row `last`.
    let statement: RawStatement
    let last: RowKey
}

/// The prepared statements that one sync uses repeatedly, by their SQL.
final class StatementCache {
    private let db: Database
    private var statements: [String: RawStatement] = [:]

    init(_ db: Database) { self.db = db }

    /// Releases all statements, so that their tables can be dropped.
    func removeAll() { statements = [:] }

    /// Returns a statement that is ready to be bound.
    func statement(_ sql: String) throws -> RawStatement {
        if let known = statements[sql] {
            known.reset()
            return known
        }
        let statement = try RawStatement(db, sql)
        statements[sql] = statement
        return statement
    }
}

// MARK: - Outbox

extension SQLiteSession {
    package func rowsWithPendingChanges(of table: TableID) throws -> Set<RowKey> {
        return try Set(EngineLedger(db).changedKeys(of: layout.model, table).compactMap { RowKey($0) })
    }
}
