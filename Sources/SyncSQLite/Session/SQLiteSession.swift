import Foundation
package import GRDB
package import SyncCore
package import SyncStore

/// A connection to SQLite inside a transaction, as a sync uses it.
package final class SQLiteSession {
    package let db: Database
    let layout: StoreLayout
    /// By table, made when they are asked for: a session may be of one row.
    private var columns: [RowColumns?]
    let statements: StatementCache
    /// What is known of who wrote what.
    private let visit: StoreMonitor.Visit
    /// By quoted table: how many rows it is known to have more than.
    package var memory: [String: Int] = [:]

    // Of the sync that is under way.
    private(set) var plan: PayloadGraph?
    private(set) var tables: SyncTables?
    private(set) var lookups: [NodeLookup] = []
    private(set) var steps = ProgressReporter(nil)
    /// When it began.
    private var start: StoreMonitor.Moment?
    /// Whether references were remembered when it began.
    private(set) var hasReferences = false
    /// The tables that no awaited row can have come to without a sync that saw it.
    private(set) var settled: Set<TableID> = []
    /// What is known of links since others wrote.
    var soundLinks = StoreMonitor.ValidLinks()
    /// Of links of which something was read that may lead nowhere, where it leads.
    var doubtfulEnds: [AssociationID: DoubtfulEnds] = [:]
    /// Whether the caller's transaction had links that lead nowhere yet, which are the caller's to mend.
    private var hadOpenLinks = false

    init(_ visit: StoreMonitor.Visit, _ layout: StoreLayout) {
        SQLFunctionInstaller.install(in: visit.db)
        self.visit = visit
        db = visit.db
        self.layout = layout
        columns = Array(repeating: nil, count: layout.model.trees.count)
        statements = StatementCache(db)
    }

    var model: CompiledModel { layout.model }

    func columns(_ table: TableID) -> RowColumns {
        if let made = columns[table.index] { return made }
        let made = RowColumns(model[table], layout)
        columns[table.index] = made
        return made
    }
}

extension SQLiteSession: StoreSession {
    package func begin(_ plan: PayloadGraph, _ tables: SyncTables, _ steps: ProgressReporter) throws {
        self.plan = plan
        self.tables = tables
        self.steps = steps
        lookups = tables.map { NodeLookup($0.batch) }
        doubtfulEnds = [:]
        hasReferences = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM sync_pending)") ?? false
        hadOpenLinks = hasOpenLinks
        let start = try StoreMonitor.Moment(db)
        self.start = start
        settled = hasReferences ? visit.settled(at: start) : Set(tables.lazy.map(\.id))
        soundLinks = visit.soundLinks(at: start)
    }

    /// Keeps in mind, once the transaction is committed, that nothing else has written to the store up to here.
    package func end(awaits: Bool) throws {
        // They may be large, and what comes next may be too.
        (plan, tables, lookups) = (nil, nil, [])
        guard let start, hasReferences || awaits else { return }
        visit.settle(settled, since: start)
    }

    /// Whether something is written that leads nowhere yet, by whomever.
    private var hasOpenLinks: Bool { DeferredForeignKeys.areBroken(db) }

    /// References are remembered from now on.
    func markHasReferences() { hasReferences = true }

    func settle(_ tables: some Sequence<TableID>) { settled.formUnion(tables) }

    /// Keeps what was found of links for later transactions.
    func keepSoundLinks() {
        guard let start, !soundLinks.checked.isEmpty else { return }
        visit.keep(soundLinks, at: start)
    }

    package func makeRoom(forInserting count: Int) throws { try PageCache.grow(forInserting: count, db) }

    /// Asked before the commit, which could only say that one does not.
    package func checkLinks() throws {
        guard hasOpenLinks else { return }
        try ForeignKeyViolations(db, layout, ofOwnTables: hadOpenLinks).refuse()
    }

    private static let tablesPerNotice = 64

    package func notifyObservers(of tables: [TableID], andPairs: Bool) throws {
        let names = tables.map { layout[$0].name } + (andPairs ? layout.pairTables : [])
        // A region is copied for each table that is added to it.
        for start in stride(from: 0, to: names.count, by: Self.tablesPerNotice) {
            var region = DatabaseRegion()
            for name in names[start..<min(start + Self.tablesPerNotice, names.count)] {
                region.formUnion(try Table(name).databaseRegion(db))
            }
            try db.notifyChanges(in: region)
        }
    }
}

/// The statements of one sync that are used again and again, by their SQL.
final class StatementCache {
    private let db: Database
    private var statements: [String: RawStatement] = [:]

    init(_ db: Database) { self.db = db }

    /// Forgets all statements, so that what they are about can be dropped.
    func removeAll() { statements = [:] }

    /// A statement ready to be bound.
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
    package func unsentRows(of table: TableID) throws -> Set<RowKey> {
        guard try EngineSchema.isThere(in: db) else { return [] }
        let keys = try DatabaseValue.fetchAll(
            db, sql: "SELECT k FROM sync_change WHERE e IN (\(layout.model.engineNumbers(of: table)))")
        return Set(keys.compactMap { RowKey($0) })
    }
}

// MARK: - Marks

// Marks of a run that take too much memory are in a temporary table of this connection.
extension SQLiteSession {
    package func marks(of rows: [StoredRow], in table: String) throws -> [RowFlags] {
        let statement = try statements.statement("SELECT mark FROM temp.\(table) WHERE tree = ? AND key = ?")
        return try rows.map { row in
            statement.bind(Int64(row.table.index), at: 1)
            statement.bind(row.key, at: 2)
            defer { statement.reset() }
            return try statement.step() ? RowFlags(rawValue: UInt8(truncatingIfNeeded: statement.integer(0))) : []
        }
    }

    package func move(_ marks: inout RowFlagTable, to table: String?) throws -> String {
        let table = try table ?? makeMarkTable()
        let statement = try statements.statement(
            """
            INSERT INTO temp.\(table) (tree, key, mark) VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET mark = mark | excluded.mark
            """)
        try marks.removeAll { row, mark in
            statement.bind(Int64(row.table.index), at: 1)
            statement.bind(row.key, at: 2)
            statement.bind(Int64(mark.rawValue), at: 3)
            try statement.execute()
        }
        return table
    }

    /// A table that is there until the run or the connection ends. Keys are kept as they are.
    private func makeMarkTable() throws -> String {
        let name = "\"sync_run_\(UUID().uuidString)\""
        try db.execute(
            sql: """
                CREATE TEMP TABLE \(name) (
                  tree INTEGER NOT NULL, key ANY NOT NULL, mark INTEGER NOT NULL, PRIMARY KEY (tree, key)
                ) STRICT, WITHOUT ROWID
                """)
        return name
    }

    package func dropMarks(in table: String) throws {
        statements.removeAll()
        try db.execute(sql: "DROP TABLE temp.\(table)")
    }
}
