import GRDB
import GRDBSQLite
import SyncCore
import SyncStore

/// The facts about a database that a stack keeps between transactions. Each fact is valid until a certain event:
///
/// - Whether the tables match the model, which unique indexes other programs added, and which tables triggers and
///   foreign-key actions write. Valid until `schema_version` changes.
/// - The resolved tables: no pending reference waits for a row that they already contain. Valid until a write that is
///   not part of a sync or an engine run.
/// - The associations whose links all lead to stored rows. Valid until a transaction commits that may have had foreign
///   keys off: one of another connection, or one of this connection while they are off.
final class StoreMonitor: Sendable {
    /// Two counters that identify the state of a database as one connection sees it. Any change of rows changes one of
    /// them.
    struct Moment: Hashable {
        /// The `data_version` of SQLite, which changes when another connection commits.
        var dataVersion: Int
        /// The number of rows that this connection has written.
        var changes: Int

        init(dataVersion: Int, changes: Int) {
            self.dataVersion = dataVersion
            self.changes = changes
        }

        init(_ db: Database) throws {
            dataVersion = try Int.fetchOne(db, sql: "PRAGMA data_version") ?? 0
            changes = db.totalChangesCount
        }

        /// Returns this moment with the current number of rows that the connection has written.
        func after(writesOf db: Database) -> Moment {
            Moment(dataVersion: dataVersion, changes: db.totalChangesCount)
        }
    }

    /// The associations that were checked for dangling links, and those that have none.
    struct ValidLinks {
        /// The associations that are not checked again: their links were checked, or are too many to check without
        /// evidence of a dangling link.
        var checked: Set<AssociationID> = []
        var valid: Set<AssociationID> = []
    }

    fileprivate struct Memory {
        /// The schema version whose tables match the model, and the path of the database file (`file`).
        var schemaVersion: Int?
        var file: String?
        /// The writing connection of the stack, which identifies a database without a file.
        var connection: ObjectIdentifier?
        /// The last stored model that was found to match the model.
        var storedModel: StoredModel.Schema?
        var indexes: (schemaVersion: Int?, indexes: [AddedIndex])?
        var moment: Moment?
        /// The resolved tables at `moment`: no pending reference waits for a row that they already contain.
        var resolvedTables: Set<TableID> = []
        /// The resolved tables during ``StoreMonitor/insertingRowsOnlyBySyncs(_:since:_:)``; nil otherwise. Only
        /// ``StoreMonitor/recordArrival(in:)`` changes them.
        var resolvedTablesInRun: Set<TableID>?
        /// The value of ``Moment/changes`` when a row was last inserted without a sync in a transaction of an engine.
        var lastArrival: Int?
        var links: (dataVersion: Int, links: ValidLinks) = (0, ValidLinks())
    }

    private let model: SyncModel
    /// Whether the tables are existing tables, which the app may change.
    private let hasExistingTables: Bool
    private let memory: Locked<Memory>
    private let indirectWrites = IndirectWrites()
    let transactionEnd: TransactionEndObserver

    /// - Parameter schemaVersion: The version of the schema whose tables match the model.
    init(_ model: SyncModel, schemaVersion: Int?, hasExistingTables: Bool) {
        self.model = model
        self.hasExistingTables = hasExistingTables
        let memory = Locked(Memory(schemaVersion: schemaVersion))
        self.memory = memory
        // Syncs and engine runs have foreign keys on.
        transactionEnd = TransactionEndObserver(onOtherCommit: { db in
            guard memory.withLock({ !$0.links.links.checked.isEmpty }) else { return }
            if (try? AppConnectionCheck.hasForeignKeysOn(db)) == true { return }
            memory.withLock { $0.links.links = ValidLinks() }
        })
    }

    // MARK: The schema

    /// Records the database of the stack. Call this on its writing connection, which exists as long as the stack.
    func recordDatabase(_ db: Database) {
        let file = Self.file(of: db)
        memory.withLock { ($0.file, $0.connection) = (file, ObjectIdentifier(db)) }
    }

    private static func file(of db: Database) -> String {
        sqlite3_db_filename(db.sqliteConnection, "main").map { String(cString: $0) } ?? ""
    }

    /// Returns the version of the schema. Any change of a table, view, index or trigger changes it.
    static func schemaVersion(_ db: Database) throws -> Int? {
        try Int.fetchOne(db.cachedStatement(sql: "PRAGMA schema_version"))
    }

    /// Checks that the tables match the model. Call it at the start of a transaction, so that the tables cannot change
    /// after the check.
    ///
    /// - Parameter isOwn: Whether the connection belongs to the stack. A connection of the caller may be open on
    ///   another database.
    /// - Returns: The version of the schema.
    /// - Throws: ``SyncError`` `modelMismatch`, `incompatibleTables`; `cannotOpenStore` if the database is not a store.
    @discardableResult
    func check(_ db: Database, isOwn: Bool = true) throws -> Int? {
        let version = try Self.schemaVersion(db)
        let (file, connection) = (Self.file(of: db), ObjectIdentifier(db))
        let isKnown = memory.withLock { memory in
            guard memory.schemaVersion == version else { return false }
            if isOwn { memory.file = file }
            return isOwn || (file.isEmpty ? memory.connection == connection : memory.file == file)
        }
        if isKnown { return version }
        guard let stored = try StoredModel.schema(db, or: .notAStore), try matches(stored),
            try StoredModel.hasExistingTables(db) == hasExistingTables
        else { throw Self.changed }
        if hasExistingTables { try TableCompatibilityCheck.check(model, in: db, readsValues: false) }
        if isOwn { memory.withLock { ($0.schemaVersion, $0.file) = (version, file) } }
        return version
    }

    private func matches(_ stored: StoredModel.Schema) throws -> Bool {
        if memory.withLock({ $0.storedModel == stored }) { return true }
        guard try !stored.needsMigration(to: model) else { return false }
        memory.withLock { $0.storedModel = stored }
        return true
    }

    static var changed: SyncError {
        SyncError(
            .modelMismatch, "another connection migrated the store; reopen the DataStack",
            suggestion: "Open a new DataStack with the model to which the store was migrated.")
    }

    // MARK: Transactions

    /// Checks the connection and the tables, and returns the access of the current transaction to the facts.
    ///
    /// - Parameter isOwn: Whether the visit reads and keeps facts. If not, it starts without facts and drops them,
    ///   because the caller may roll back.
    /// - Throws: ``SyncError`` `incompatibleConnection`, `databaseReadOnly`, `modelMismatch`, `incompatibleTables`,
    ///   `cannotOpenStore`.
    func visit(_ db: Database, isOwn: Bool) throws -> Visit {
        try AppConnectionCheck.check(db)
        let version = try check(db, isOwn: isOwn)
        return Visit(
            db: db, schemaVersion: version, memory: isOwn ? memory : Locked(Memory()), indirectWrites: indirectWrites,
            transactionEnd: isOwn ? transactionEnd : nil)
    }

    /// Returns a visit that keeps no facts, for changes of single rows.
    static func unwatched(_ db: Database) -> Visit {
        Visit(
            db: db, schemaVersion: nil, memory: Locked(Memory()), indirectWrites: IndirectWrites(), transactionEnd: nil)
    }

    /// Runs the part of an engine's transaction in which only syncs insert rows. Its other writes do not change the
    /// resolved tables. Report any other insertion with ``recordArrival(in:)``.
    ///
    /// - Parameter start: The current moment.
    func insertingRowsOnlyBySyncs<T>(_ db: Database, since start: Moment, _ body: () throws -> T) throws -> T {
        memory.withLock { memory in
            memory.resolvedTablesInRun = memory.moment == start ? memory.resolvedTables : []
            memory.lastArrival = nil
        }
        defer { memory.withLock { $0.resolvedTablesInRun = nil } }
        let result = try body()
        let end = start.after(writesOf: db)
        // This handler runs after the handlers of the syncs in `body`, which update the same facts.
        transactionEnd.afterTransaction(
            of: db, onCommit: { [memory] _ in memory.withLock { $0.endRun(from: start, to: end) } })
        return result
    }

    /// Records that a row was inserted without a sync, inside ``insertingRowsOnlyBySyncs(_:since:_:)``.
    func recordArrival(in db: Database) {
        memory.withLock { memory in
            guard memory.resolvedTablesInRun != nil else { return }
            memory.resolvedTablesInRun = []
            memory.lastArrival = db.totalChangesCount
        }
    }

    /// The access of one transaction to the facts of the monitor.
    struct Visit {
        let db: Database
        /// The version of the schema when the visit began; nil for ``StoreMonitor/unwatched(_:)``.
        fileprivate let schemaVersion: Int?
        fileprivate let memory: Locked<Memory>
        fileprivate let indirectWrites: IndirectWrites
        /// Nil for a visit whose facts are dropped.
        fileprivate let transactionEnd: TransactionEndObserver?

        // MARK: Resolved tables

        /// Returns the resolved tables. Outside of ``StoreMonitor/insertingRowsOnlyBySyncs(_:since:_:)``, returns none if the
        /// database was written since they were recorded.
        func resolvedTables(at now: Moment) -> Set<TableID> {
            memory.withLock { $0.resolvedTablesInRun ?? ($0.moment == now ? $0.resolvedTables : []) }
        }

        /// Records the resolved tables for the current state of the database, when the transaction commits.
        func setResolvedTables(_ tables: Set<TableID>, since start: Moment) {
            let end = start.after(writesOf: db)
            transactionEnd?.afterTransaction(
                of: db,
                onCommit: { [memory] _ in memory.withLock { ($0.moment, $0.resolvedTables) = (end, tables) } },
                onRollback: { [memory] db in
                    // The rollback undoes the writes, but the change counter of the connection keeps counting.
                    let now = start.after(writesOf: db)
                    memory.withLock { if $0.moment == start { $0.moment = now } }
                })
        }

        // MARK: Valid links

        /// Returns the checked associations; none if another connection has committed since. Writes of this connection
        /// keep links valid, unless foreign keys are off: such a commit discards all such facts.
        func validLinks(at now: Moment) -> ValidLinks {
            memory.withLock { $0.links.dataVersion == now.dataVersion ? $0.links.links : ValidLinks() }
        }

        /// Records the associations whose links are valid. A rollback discards all such facts, because it also undoes
        /// repairs of links.
        func storeValidLinks(_ links: ValidLinks, at now: Moment) {
            memory.withLock { memory in
                if memory.links.dataVersion != now.dataVersion { memory.links = (now.dataVersion, ValidLinks()) }
                memory.links.links.checked.formUnion(links.checked)
                memory.links.links.valid.formUnion(links.valid)
            }
            transactionEnd?.afterTransaction(
                of: db, onRollback: { [memory] _ in memory.withLock { $0.links.links = ValidLinks() } })
        }

        // MARK: Indirect writes

        /// Returns the tables that triggers and foreign-key actions may have written because of the changes of a sync.
        func tables(
            writtenWith changed: [ChangedTable], andLinks: Bool, _ layout: StoreLayout
        ) throws -> Set<String> {
            let schema = IndirectWrites.Schema(
                file: StoreMonitor.file(of: db), connection: ObjectIdentifier(db), version: schemaVersion,
                temporaryVersion: try Int.fetchOne(db.cachedStatement(sql: "PRAGMA temp.schema_version")))
            return try indirectWrites.tables(
                writtenWith: changed, andLinks: andLinks, layout, schema, isOwn: transactionEnd != nil, in: db)
        }

        // MARK: Unique indexes

        /// Drops the unique indexes that other programs added, runs `body`, and creates the indexes again. SQLite then
        /// checks them once, not after each statement.
        func deferringUniqueIndexes<Result>(of layout: StoreLayout, _ body: () throws -> Result) throws -> Result {
            let indexes = try addedIndexes(layout)
            for index in indexes { try db.execute(sql: "DROP INDEX \(index.name.quoted)") }
            let result = try body()
            for index in indexes { try db.execute(sql: index.sql) }
            return result
        }

        private func addedIndexes(_ layout: StoreLayout) throws -> [AddedIndex] {
            let known = memory.withLock { $0.indexes }
            if let known, known.schemaVersion == schemaVersion { return known.indexes }
            let indexes = try AddedIndex.all(of: layout, in: db)
            memory.withLock { $0.indexes = (schemaVersion, indexes) }
            return indexes
        }
    }
}

extension StoreMonitor.Memory {
    fileprivate mutating func endRun(from start: StoreMonitor.Moment, to end: StoreMonitor.Moment) {
        guard let moment, moment.dataVersion == start.dataVersion, moment.changes >= start.changes else { return }
        if let lastArrival, moment.changes < lastArrival { resolvedTables = [] }
        self.moment = end
    }
}

/// A unique index that another program added to the table of an entity or to a join table.
struct AddedIndex {
    let name: String
    let sql: String

    /// Returns whether an error comes from a unique constraint and other programs added unique indexes to the store.
    /// The sync then tries again with deferred indexes: a row that it deletes last may have the same value as a new
    /// row.
    static func isInTheWay(_ error: any Error, of layout: StoreLayout, in db: Database) throws -> Bool {
        guard violation(error) != nil else { return false }
        return try !all(of: layout, in: db).isEmpty
    }

    /// Returns whether two errors come from the same unique constraint. `named` also names a row.
    static func isSameViolation(_ named: any Error, _ error: any Error) -> Bool {
        guard let first = violation(named), let second = violation(error) else { return false }
        return DatabaseErrorMapper.isNamed(first, from: second)
    }

    /// Returns the error of SQLite for a violated unique constraint; nil for any other error.
    private static func violation(_ error: any Error) -> DatabaseError? {
        let underlying = (error as? SyncError)?.underlyingError ?? error
        guard let cause = underlying as? DatabaseError, cause.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE else {
            return nil
        }
        return cause
    }

    static func all(of layout: StoreLayout, in db: Database) throws -> [AddedIndex] {
        let tables = (layout.tables.map(\.name) + layout.joinTables).map(\.literal).joined(separator: ", ")
        let own = Set(SchemaSQL(layout).statements)
        return try Row.fetchAll(
            db,
            sql: """
                SELECT name, sql FROM sqlite_schema
                WHERE type = 'index' AND sql IS NOT NULL AND tbl_name COLLATE NOCASE IN (\(tables))
                """
        ).map { row in
            AddedIndex(name: String.fromDatabaseValue(row[0]) ?? "", sql: String.fromDatabaseValue(row[1]) ?? "")
        }.filter { !own.contains($0.sql) && SQLTokens($0.sql).words.contains("UNIQUE") }
    }
}

// MARK: - Ends of transactions

/// Runs closures when the current transaction of a stack's connection ends.
///
/// GRDB's `afterNextTransaction` does the same, but each call makes GRDB compile all cached `DELETE` statements again.
/// This observer is added to a connection once.
final class TransactionEndObserver: TransactionObserver, Sendable {
    typealias Action = @Sendable (Database) -> Void

    private struct Actions {
        var onCommit: [Action] = []
        var onRollback: [Action] = []
    }

    private let actions = Locked(Actions())
    private let connection = Locked<ObjectIdentifier?>(nil)
    private let onOtherCommit: Action

    /// - Parameter onOtherCommit: A closure that runs after each commit of an observed connection that has no actions,
    ///   such as a commit of the app. A connection is observed from the first call of
    ///   ``afterTransaction(of:onCommit:onRollback:)`` on.
    init(onOtherCommit: @escaping Action) { self.onOtherCommit = onOtherCommit }

    func afterTransaction(
        of db: Database, onCommit: @escaping Action = { _ in }, onRollback: @escaping Action = { _ in }
    ) {
        let isNew = connection.withLock { connection in
            defer { connection = ObjectIdentifier(db) }
            return connection != ObjectIdentifier(db)
        }
        if isNew { db.add(transactionObserver: self) }
        actions.withLock { actions in
            actions.onCommit.append(onCommit)
            actions.onRollback.append(onRollback)
        }
    }

    private func takeActions() -> Actions {
        actions.withLock { actions in
            defer { actions = Actions() }
            return actions
        }
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) {
        let actions = takeActions().onCommit
        for action in actions.isEmpty ? [onOtherCommit] : actions { action(db) }
    }
    func databaseDidRollback(_ db: Database) { for action in takeActions().onRollback { action(db) } }
}
