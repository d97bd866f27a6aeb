import GRDB
import GRDBSQLite
import SyncCore
import SyncStore

/// What a stack knows about its database between transactions, and the conditions that invalidate it.
///
/// - That the tables match the model, and which unique indexes other programs added. Invalid when `schema_version`
///   changes.
/// - Which tables only syncs wrote to. A sync need not search them for rows that pending references wait for. Invalid
///   after any write.
/// - Which links are known to lead to stored rows. Invalid when another connection commits, because its foreign keys
///   may be off.
final class StoreMonitor: Sendable {
    /// The state of a database as one connection sees it. It differs after any write.
    struct Moment: Hashable {
        /// Changes when another connection commits.
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

        /// Returns the moment after the writes of this connection.
        func after(writesOf db: Database) -> Moment {
            Moment(dataVersion: dataVersion, changes: db.totalChangesCount)
        }
    }

    /// The associations whose links all lead to stored rows.
    struct ValidLinks {
        /// The associations that were checked, or that have too many links to check without a reason.
        var checked: Set<AssociationID> = []
        var valid: Set<AssociationID> = []
    }

    fileprivate struct Memory {
        /// The version of the schema that matches the model, and the file of that schema.
        var schemaVersion: Int?
        var file: String?
        var indexes: (schemaVersion: Int?, indexes: [AddedIndex])?
        var moment: Moment?
        /// The tables without rows that pending references wait for, at `moment`.
        var resolvedTables: Set<TableID> = []
        /// The settled tables during a transaction of an engine. The engine's writes do not change them.
        var resolvedTablesInRun: Set<TableID>?
        /// The number of rows that the connection had written when a row arrived in such a transaction without a sync.
        var lastArrival: Int?
        var links: (dataVersion: Int, links: ValidLinks) = (0, ValidLinks())
    }

    private let model: SyncModel
    /// Whether the tables are existing tables, which the app may change.
    private let hasExistingTables: Bool
    private let memory: Locked<Memory>

    /// - Parameter schemaVersion: The version of the schema when the model was read.
    init(_ model: SyncModel, schemaVersion: Int?, hasExistingTables: Bool) {
        self.model = model
        self.hasExistingTables = hasExistingTables
        memory = Locked(Memory(schemaVersion: schemaVersion))
    }

    // MARK: The schema

    /// Returns the version of the schema, which changes with any table, index or trigger.
    static func schemaVersion(_ db: Database) throws -> Int? {
        try Int.fetchOne(db.cachedStatement(sql: "PRAGMA schema_version"))
    }

    /// Checks that the tables match the model. Call it at the start of a transaction, which then sees the checked
    /// tables.
    ///
    /// - Parameter isOwn: Whether the connection belongs to the stack. A connection of the caller may be to another
    ///   database.
    /// - Returns: The version of the schema.
    /// - Throws: ``SyncError`` `modelMismatch`, `incompatibleTables`.
    @discardableResult
    func check(_ db: Database, isOwn: Bool = true) throws -> Int? {
        let version = try Self.schemaVersion(db)
        let file = sqlite3_db_filename(db.sqliteConnection, "main").map { String(cString: $0) } ?? ""
        let isKnown = memory.withLock { memory in
            guard memory.schemaVersion == version else { return false }
            if isOwn { memory.file = file }
            return isOwn || !file.isEmpty && memory.file == file
        }
        if isKnown { return version }
        guard try StoredModel.schema(db, or: .notAStore)?.needsMigration(to: model) == false,
            try StoredModel.hasExistingTables(db) == hasExistingTables
        else { throw Self.changed }
        if hasExistingTables { try TableCompatibilityCheck.check(model, in: db, readsValues: false) }
        if isOwn { memory.withLock { ($0.schemaVersion, $0.file) = (version, file) } }
        return version
    }

    static var changed: SyncError {
        SyncError(.modelMismatch, "another connection migrated the store; reopen the DataStack")
    }

    // MARK: Transactions

    /// Checks the connection and the tables, and returns the visit for the current transaction.
    ///
    /// - Parameter isOwn: Whether the transaction belongs to the stack. In a transaction of the caller, the visit has a
    ///   memory that is dropped with it, because the caller may roll back.
    /// - Throws: ``SyncError`` `incompatibleConnection`, `databaseReadOnly`, `modelMismatch`, `incompatibleTables`.
    func visit(_ db: Database, isOwn: Bool) throws -> Visit {
        try AppConnectionCheck.check(db)
        let version = try check(db, isOwn: isOwn)
        return Visit(db: db, schemaVersion: version, memory: isOwn ? memory : Locked(Memory()))
    }

    /// Returns a visit without memory, for changes of single rows, which do not need it.
    static func unwatched(_ db: Database) -> Visit { Visit(db: db, schemaVersion: nil, memory: Locked(Memory())) }

    /// Runs a part of a transaction in which rows arrive by syncs only. Settled tables stay settled, whatever else it
    /// writes.
    func bringingRowsBySyncs<T>(_ db: Database, _ body: () throws -> T) throws -> T {
        let start = try Moment(db)
        memory.withLock { memory in
            memory.resolvedTablesInRun = memory.moment == start ? memory.resolvedTables : []
            memory.lastArrival = nil
        }
        defer { memory.withLock { $0.resolvedTablesInRun = nil } }
        let result = try body()
        let end = start.after(writesOf: db)
        // This handler runs after those of the syncs in `body`, which update the memory too.
        db.afterNextTransaction(onCommit: { [memory] _ in memory.withLock { $0.endRun(from: start, to: end) } })
        return result
    }

    /// Records that a row arrived without a sync, inside ``bringingRowsBySyncs(_:_:)``.
    func recordArrival(in db: Database) {
        memory.withLock { memory in
            guard memory.resolvedTablesInRun != nil else { return }
            memory.resolvedTablesInRun = []
            memory.lastArrival = db.totalChangesCount
        }
    }

    /// The state of the monitor for one transaction, which records what the transaction learns.
    struct Visit {
        let db: Database
        /// The version when the transaction began.
        fileprivate let schemaVersion: Int?
        fileprivate let memory: Locked<Memory>

        // MARK: Settled tables

        /// Returns the settled tables; none if anything was written since they were recorded.
        func resolvedTables(at now: Moment) -> Set<TableID> {
            memory.withLock { $0.resolvedTablesInRun ?? ($0.moment == now ? $0.resolvedTables : []) }
        }

        /// Records the settled tables for the current state of the database, when the transaction commits.
        func setResolvedTables(_ tables: Set<TableID>, since start: Moment) {
            let end = start.after(writesOf: db)
            db.afterNextTransaction(
                onCommit: { [memory] _ in memory.withLock { ($0.moment, $0.resolvedTables) = (end, tables) } },
                onRollback: { [memory] db in
                    // The rollback undoes the writes, but the change counter of the connection keeps counting.
                    let now = start.after(writesOf: db)
                    memory.withLock { if $0.moment == start { $0.moment = now } }
                })
        }

        // MARK: Sound links

        /// Returns the links that are known to be valid. Writes of this connection keep them valid.
        func validLinks(at now: Moment) -> ValidLinks {
            memory.withLock { $0.links.dataVersion == now.dataVersion ? $0.links.links : ValidLinks() }
        }

        /// Records which links are valid. A rollback discards the record, because it also undoes repairs of links.
        func storeValidLinks(_ links: ValidLinks, at now: Moment) {
            memory.withLock { memory in
                if memory.links.dataVersion != now.dataVersion { memory.links = (now.dataVersion, ValidLinks()) }
                memory.links.links.checked.formUnion(links.checked)
                memory.links.links.valid.formUnion(links.valid)
            }
            db.afterNextTransaction(
                onCommit: { _ in }, onRollback: { [memory] _ in memory.withLock { $0.links.links = ValidLinks() } })
        }

        // MARK: Unique indexes

        /// Checks the unique indexes of other programs at the end of `body`, not after each statement.
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

    /// Returns whether an error comes from a unique constraint and the store has added unique indexes. The sync then
    /// tries again with deferred indexes, because a row that it deletes later may have the value of a new row.
    static func isInTheWay(_ error: any Error, of layout: StoreLayout, in db: Database) throws -> Bool {
        guard let error = error as? DatabaseError, error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE else {
            return false
        }
        return try !all(of: layout, in: db).isEmpty
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
