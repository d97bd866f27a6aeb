import GRDB
import GRDBSQLite
import SyncCore
import SyncStore

/// What a store knows of its database from one transaction to the next, and until which write of others it is true.
///
/// - That the tables are those of the model, and which unique indexes others added: until `schema_version` is another.
/// - Which tables only syncs wrote to, so that a sync need not look there for rows that references wait for: until anything is written.
/// - Which links lead to stored rows only: until another connection commits, since its foreign keys may be off.
final class StoreMonitor: Sendable {
    /// A moment of a database, as one connection sees it: another one if anything was written since.
    struct Moment: Hashable {
        /// Changes when another connection commits.
        var dataVersion: Int
        /// How many rows this connection has written.
        var changes: Int

        init(dataVersion: Int, changes: Int) {
            self.dataVersion = dataVersion
            self.changes = changes
        }

        init(_ db: Database) throws {
            dataVersion = try Int.fetchOne(db, sql: "PRAGMA data_version") ?? 0
            changes = db.totalChangesCount
        }

        /// The moment after what this connection wrote.
        func after(writesOf db: Database) -> Moment {
            Moment(dataVersion: dataVersion, changes: db.totalChangesCount)
        }
    }

    /// Which links lead to stored rows only.
    struct ValidLinks {
        /// The links that were looked through, or that there are too many of to do so without a reason.
        var checked: Set<AssociationID> = []
        var sound: Set<AssociationID> = []
    }

    fileprivate struct Memory {
        /// The schema that fits the model, and the file that it is in.
        var schemaVersion: Int?
        var file: String?
        var indexes: (schemaVersion: Int?, indexes: [AddedIndex])?
        var moment: Moment?
        /// Of `moment`: the tables that hold no row that a reference waits for.
        var settled: Set<TableID> = []
        /// During a transaction of an engine: the settled tables, whatever it writes itself.
        var settledInRun: Set<TableID>?
        /// How many rows the connection had written when a row came to such a transaction by other means than a sync.
        var lastArrival: Int?
        var links: (dataVersion: Int, links: ValidLinks) = (0, ValidLinks())
    }

    private let model: SyncModel
    /// Whether the tables are an app's, which may change them.
    private let isAdopted: Bool
    private let memory: Locked<Memory>

    /// - Parameter schemaVersion: Read when the model was.
    init(_ model: SyncModel, schemaVersion: Int?, isAdopted: Bool) {
        self.model = model
        self.isAdopted = isAdopted
        memory = Locked(Memory(schemaVersion: schemaVersion))
    }

    // MARK: The schema

    /// Another number when any table, index or trigger is another.
    static func schemaVersion(_ db: Database) throws -> Int? {
        try Int.fetchOne(db.cachedStatement(sql: "PRAGMA schema_version"))
    }

    /// Begins a transaction's work, which then sees the tables that were looked at.
    ///
    /// - Parameter isOwn: Whether the connection is the stack's. One of the caller's may be to another database.
    /// - Returns: The version of the schema.
    /// - Throws: ``SyncError`` `modelMismatch`, `unsuitableTables`.
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
            try StoredModel.isAdopted(db) == isAdopted
        else { throw Self.changed }
        if isAdopted { try TableCompatibilityCheck.check(model, in: db, readsValues: false) }
        if isOwn { memory.withLock { ($0.schemaVersion, $0.file) = (version, file) } }
        return version
    }

    static var changed: SyncError {
        SyncError(.modelMismatch, "the store was brought to another model meanwhile; open it again, or try again")
    }

    // MARK: Transactions

    /// What holds in the transaction that has begun, once the tables are known to be those of the model.
    ///
    /// - Parameter isOwn: Whether the transaction is the stack's. What is learnt in one of the caller's is forgotten with the visit:
    ///   the caller may take it back.
    /// - Throws: ``SyncError`` `unsuitableConnection`, `storeReadOnly`, `modelMismatch`, `unsuitableTables`.
    func visit(_ db: Database, isOwn: Bool) throws -> Visit {
        try AppConnectionCheck.check(db)
        let version = try check(db, isOwn: isOwn)
        return Visit(db: db, schemaVersion: version, memory: isOwn ? memory : Locked(Memory()))
    }

    /// A visit that knows nothing and keeps nothing: for changes of single rows, which need neither.
    static func unwatched(_ db: Database) -> Visit { Visit(db: db, schemaVersion: nil, memory: Locked(Memory())) }

    /// Runs a part of a transaction to which rows come by syncs alone, whatever else it changes: tables that are settled stay so.
    func bringingRowsBySyncs<T>(_ db: Database, _ body: () throws -> T) throws -> T {
        let start = try Moment(db)
        memory.withLock { memory in
            memory.settledInRun = memory.moment == start ? memory.settled : []
            memory.lastArrival = nil
        }
        defer { memory.withLock { $0.settledInRun = nil } }
        let result = try body()
        let end = start.after(writesOf: db)
        // After what syncs in it have noted at their own ends.
        db.afterNextTransaction(onCommit: { [memory] _ in memory.withLock { $0.endRun(from: start, to: end) } })
        return result
    }

    /// A row came by other means than a sync, in a transaction to which rows else come by syncs.
    func recordArrival(in db: Database) {
        memory.withLock { memory in
            guard memory.settledInRun != nil else { return }
            memory.settledInRun = []
            memory.lastArrival = db.totalChangesCount
        }
    }

    /// What holds in one transaction, and what is learnt in it.
    struct Visit {
        let db: Database
        /// Read when it began.
        fileprivate let schemaVersion: Int?
        fileprivate let memory: Locked<Memory>

        // MARK: Settled tables

        /// The tables that are settled, if nothing was written since they were.
        func settled(at now: Moment) -> Set<TableID> {
            memory.withLock { $0.settledInRun ?? ($0.moment == now ? $0.settled : []) }
        }

        /// Has the tables be settled as the database is now, once that is committed.
        func settle(_ tables: Set<TableID>, since start: Moment) {
            let end = start.after(writesOf: db)
            db.afterNextTransaction(
                onCommit: { [memory] _ in memory.withLock { ($0.moment, $0.settled) = (end, tables) } },
                onRollback: { [memory] db in
                    // What was written since is taken back.
                    let now = start.after(writesOf: db)
                    memory.withLock { if $0.moment == start { $0.moment = now } }
                })
        }

        // MARK: Sound links

        /// What this connection writes leaves them sound.
        func soundLinks(at now: Moment) -> ValidLinks {
            memory.withLock { $0.links.dataVersion == now.dataVersion ? $0.links.links : ValidLinks() }
        }

        /// Keeps what was found of links; not if the transaction is taken back, since links that were mended are then as they were.
        func keep(_ links: ValidLinks, at now: Moment) {
            memory.withLock { memory in
                if memory.links.dataVersion != now.dataVersion { memory.links = (now.dataVersion, ValidLinks()) }
                memory.links.links.checked.formUnion(links.checked)
                memory.links.links.sound.formUnion(links.sound)
            }
            db.afterNextTransaction(
                onCommit: { _ in }, onRollback: { [memory] _ in memory.withLock { $0.links.links = ValidLinks() } })
        }

        // MARK: Unique indexes

        /// Has unique indexes that others added hold for what all of `body` leads to, and not for each step on the way.
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
        if let lastArrival, moment.changes < lastArrival { settled = [] }
        self.moment = end
    }
}

/// A unique index that others added to a table of an entity or of links.
struct AddedIndex {
    let name: String
    let sql: String

    /// Whether one is in the way of a step of a sync, which asks for another try: a row that goes later may have what a new
    /// one has.
    static func isInTheWay(_ error: any Error, of layout: StoreLayout, in db: Database) throws -> Bool {
        guard let error = error as? DatabaseError, error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE else {
            return false
        }
        return try !all(of: layout, in: db).isEmpty
    }

    static func all(of layout: StoreLayout, in db: Database) throws -> [AddedIndex] {
        let tables = (layout.tables.map(\.name) + layout.pairTables).map(\.literal).joined(separator: ", ")
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
