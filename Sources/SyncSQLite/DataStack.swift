public import Foundation
public import GRDB
public import SyncCore
package import SyncStore

/// A store in SQLite, and the model of its rows.
///
/// ```swift
/// let stack = try DataStack(model: SyncModel(contentsOf: modelURL), at: databaseURL)
/// let count = try await stack.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM User") }
/// ```
///
/// Each entity has a table with plain columns and foreign keys, except that the entities of an inheritance hierarchy
/// share one table. Each subentity has a view of its rows, unless the tables are existing tables of an app. You can
/// read the tables with SQLite tools and GRDB records. See `Docs/Architecture.md`.
public final class DataStack: Sendable {
    /// The model of the stored rows.
    public let model: SyncModel
    package let layout: StoreLayout
    package let database: StoreDatabase
    /// The last integer temporary key that this stack made, by ``CompiledEntity/keyOwner``. Two calls of
    /// ``makeTemporaryKey(for:)`` return different keys even if no row is inserted between them.
    let localKeys = Locked<[Int: Int64]>([:])
    let watch: StoreMonitor
    /// Identifies the stack in values that were fetched from it.
    let identity = StoreIdentity()
    package let feed = Feed<SyncResult>(buffering: .bufferingNewest(1000))
    package let syncLimit = SyncLimit()
    let unlocked: UnlockedStore?
    /// Whether the app, and not the stack, opens and closes the database.
    let isAppDatabase: Bool
    /// Whether the tables are existing tables of the app.
    var hasExistingTables: Bool { layout.hasExistingTables }

    /// Creates a stack for an open store whose tables match its model.
    init(_ store: OpenStore) {
        model = store.model
        layout = StoreLayout(model.compiled, hasExistingTables: store.hasExistingTables)
        database = StoreDatabase(store.database)
        watch = StoreMonitor(model, schemaVersion: store.schemaVersion, hasExistingTables: store.hasExistingTables)
        unlocked = store.unlocked
        isAppDatabase = store.isAppDatabase
        store.database.unsafeReentrantWrite { [watch] db in watch.recordDatabase(db) }
    }

    deinit { if !isAppDatabase { releaseReaders() } }

    /// Closes the read-only connections that are not in use, so that the last connection to close can write. Only such
    /// a connection removes the `-wal` and `-shm` files.
    private func releaseReaders() {
        (database.writer as? DatabasePool)?.invalidateReadOnlyConnections()
    }

    /// Opens the store in a file. If the file does not exist, the call creates the store. The folder of the file must
    /// exist.
    ///
    /// If `model` requires other tables than the stored model, the call migrates the store in one transaction. The
    /// migration keeps the data of renamed entities, attributes and relationships if `model` contains their former
    /// names (`renamedFrom`). The call does not migrate existing tables of an app, but checks these tables against
    /// `model`.
    ///
    /// If a migration fails, the store stays unchanged. A new store is created completely or not at all.
    ///
    /// - Parameters:
    ///   - migration: Whether a migration may delete rows, values and links that do not fit the model.
    ///   - transformers: Whether every transformer that the model names must be built in, or registered with the model.
    /// - Throws: ``SyncError`` `modelMismatch` if `migration` forbids a necessary loss of data, or if rows lack
    ///   required values; ``SyncError/problems`` lists each cause. `nameCollision` if another table, view or index has
    ///   a name that the migration requires. `incompatibleTables` if existing tables do not fit the model.
    ///   `cannotOpenStore` if the file is not a store, or if the folder does not exist. `missingTransformer`,
    ///   `databaseReadOnly`, `databaseBusy` or `databaseError`.
    public convenience init(
        model: SyncModel, at url: URL, migration: MigrationPolicy = .keepingData,
        transformers: TransformerPolicy = .required
    ) throws {
        try transformers.check(model)
        self.init(try StoreFile(url).open(model, policy: migration).registering([], transformers))
    }

    /// Creates a store in a staged file. Close the stack before the file is published.
    package convenience init(model: SyncModel, in draft: StagedStoreFile) throws {
        self.init(try StoreFile.fill(draft, with: model))
    }

    /// Opens an existing store with the stored model. If the file does not exist, the call does not create a file.
    ///
    /// - Parameters:
    ///   - code: The transformers to register with the model. The store contains only the names of transformers.
    ///   - transformers: Whether every transformer that the model names must be built in, or in `code`.
    /// - Throws: ``SyncError`` `cannotOpenStore` if the file does not exist or is not a store. `missingTransformer`,
    ///   `databaseReadOnly`, `databaseBusy` or `databaseError`.
    public convenience init(
        at url: URL, registering code: [AttributeTransformer] = [], transformers: TransformerPolicy = .required
    ) throws {
        self.init(try StoreFile(url).open().registering(code, transformers))
    }

    /// Creates a stack with an empty store in memory. The store exists until the stack is closed or released.
    ///
    /// - Parameter transformers: Whether every transformer that the model names must be built in, or registered with
    ///   the model.
    /// - Throws: ``SyncError`` `missingTransformer` or `cannotOpenStore`.
    public static func inMemory(_ model: SyncModel, transformers: TransformerPolicy = .required) throws -> DataStack {
        try transformers.check(model)
        return try DatabaseErrorMapper.mapped(.cannotOpenStore, "cannot create the store") {
            let queue = try DatabaseQueue(configuration: StoreFile.configuration())
            let version = try queue.write { db in
                try StoredModel.create(model, in: db)
                return try StoreMonitor.schemaVersion(db)
            }
            return DataStack(OpenStore(model: model, database: queue, schemaVersion: version))
        }
    }

    // MARK: GRDB

    /// Reads the store with GRDB in one transaction. Do not call this method inside a read or write of the same
    /// database.
    ///
    /// - Throws: ``SyncError`` `storeClosed` after ``close()``, errors of GRDB, and the errors of `value`.
    public func read<T>(_ value: (Database) throws -> T) throws -> T {
        try unchanged { try database.read(value) }
    }

    /// Reads the store with GRDB in one transaction.
    ///
    /// - Throws: ``SyncError`` `storeClosed` after ``close()``, errors of GRDB, and the errors of `value`.
    ///   `CancellationError` if the cancellation of the task interrupts the read.
    public func read<T: Sendable>(_ value: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await unchanged { try await database.read(value) }
    }

    /// Writes to the store with GRDB in one transaction. If `updates` throws an error, the transaction is rolled back.
    ///
    /// Do not call this method inside a read or write of the same database.
    ///
    /// - Throws: ``SyncError`` `storeClosed` after ``close()``, errors of GRDB, and the errors of `updates`.
    public func write<T>(_ updates: (Database) throws -> T) throws -> T {
        try database.write(updates)
    }

    /// Writes to the store with GRDB in one transaction. If `updates` throws an error, the transaction is rolled back.
    ///
    /// - Throws: ``SyncError`` `storeClosed` after ``close()``, errors of GRDB, and the errors of `updates`.
    ///   `CancellationError` if the cancellation of the task interrupts the write. The transaction is then rolled back.
    public func write<T: Sendable>(_ updates: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await database.write(updates)
    }

    // MARK: Whole store

    /// Closes the store. If no other connection to the file is open, SQLite writes the write-ahead log into the file.
    ///
    /// After this call, reads and writes throw `storeClosed`. Observations fail with this error, and each sequence of
    /// ``SyncStack/syncResults`` ends. An app database stays open, and the app closes it after the stack. Calls on its
    /// connections (`in: db`) still work.
    ///
    /// - Throws: ``SyncError`` `databaseBusy` if a connection of the stack is still in use. The stack then stays open,
    ///   but the observations have ended. `databaseError` if the disk is full. The stack is then closed, and the newest
    ///   rows are only in the `-wal` file: keep both files.
    public func close() throws {
        if isAppDatabase {
            database.endAccess()
        } else {
            releaseReaders()
            try DatabaseErrorMapper.mapped(.databaseError, "cannot close the store") { try database.close() }
        }
        feed.finish()
    }

    /// Deletes all rows of all entities, regardless of delete rules. The tables stay.
    ///
    /// The call also deletes pending references, pending changes and the conflict log. A sync engine does not delete
    /// the records at the service, and the next pull fetches the records again.
    ///
    /// - Throws: ``SyncError`` `modelMismatch` or `incompatibleTables` if the tables no longer match the model.
    ///   `databaseError`, `databaseBusy`, `databaseReadOnly` or `storeClosed`. If the call throws an error, it deletes
    ///   nothing.
    public func deleteAllRows() throws {
        try DatabaseErrorMapper.mapped(.databaseError, "cannot delete the rows") {
            try database.write { db in try deleteAllRows(in: db) }
        }
    }

    /// Deletes all rows of all entities, in the current transaction.
    func deleteAllRows(in db: Database) throws {
        try watch.check(db)
        if isAppDatabase { try db.execute(sql: "PRAGMA defer_foreign_keys = ON") }
        // The engine must not send these deletions to the service.
        try EngineSchema.removingEntries(in: db) {
            for statement in DeleteAllSQL(layout, hasExistingTables: hasExistingTables).statements {
                try db.execute(sql: statement)
            }
        }
    }
}

/// An open store, with the version of its schema when it was opened.
struct OpenStore {
    private(set) var model: SyncModel
    let database: any DatabaseWriter
    let schemaVersion: Int?
    /// Detects changes to a file that is read without locks.
    let unlocked: UnlockedStore?
    /// Whether the database is an app database, which the app opens and closes.
    let isAppDatabase: Bool
    /// Whether the tables are existing tables of the app.
    let hasExistingTables: Bool

    init(
        model: SyncModel, database: any DatabaseWriter, schemaVersion: Int?, unlocked: UnlockedStore? = nil,
        isAppDatabase: Bool = false, hasExistingTables: Bool = false
    ) {
        self.model = model
        self.database = database
        self.schemaVersion = schemaVersion
        self.unlocked = unlocked
        self.isAppDatabase = isAppDatabase
        self.hasExistingTables = hasExistingTables
    }

    /// Registers the code of transformers on the model, and returns the store. Closes the store and throws if required
    /// transformers are missing.
    func registering(_ code: [AttributeTransformer], _ policy: TransformerPolicy) throws -> OpenStore {
        var store = self
        store.model = model.registering(code)
        do {
            try policy.check(store.model)
        } catch {
            try? database.close()
            throw error
        }
        return store
    }
}

/// The statements that delete all rows and pending references of a store.
struct DeleteAllSQL {
    let statements: [String]

    /// Creates the statements. They delete links first, because a chain of cascading deletions can exceed SQLite's
    /// limit on recursion.
    ///
    /// - Parameter hasExistingTables: Whether the tables are existing tables. Their foreign keys are not cleared,
    ///   because they may be `NOT NULL`.
    init(_ layout: StoreLayout, hasExistingTables: Bool = false) {
        var unlink: [String] = []
        for link in layout.links {
            switch link {
            case .joinTable(let name, _, _, _, _): unlink.append("DELETE FROM \(SchemaSQL.quoted(name))")
            case .foreignKey(let table, let column, _):
                if hasExistingTables { continue }
                let column = SchemaSQL.quoted(column)
                unlink.append("UPDATE \(SchemaSQL.quoted(table)) SET \(column) = NULL WHERE \(column) IS NOT NULL")
            }
        }
        statements =
            unlink + layout.tables.map { "DELETE FROM \(SchemaSQL.quoted($0.name))" }
            + ["DELETE FROM \"sync_pending\""]
    }
}

/// Whether a store may be opened although transformers of the model are missing.
public enum TransformerPolicy: Sendable, Hashable {
    /// Every transformer that the model names must be built in, or registered with the model. Use this policy in apps,
    /// because a sync that skips a transformer stores wrong values.
    case required
    /// Transformers may be missing. Syncs and exports skip missing transformers. Use this policy in tools that do not
    /// have the code of the transformers.
    case optional

    /// - Throws: ``SyncError`` `missingTransformer`.
    func check(_ model: SyncModel) throws {
        if self == .required { try model.requireTransformers() }
    }
}

// MARK: - Pending changes

/// The number of pending and blocked changes of a database, and of the deletions among them.
package struct PendingChangeCounts: Sendable, Hashable {
    package let changes: Int
    package let deletions: Int
}

extension DataStack {
    /// Returns the number of rows with pending or blocked changes, including inserted and deleted rows; 0 in a database
    /// without an outbox.
    package func pendingChangeCount() async throws -> Int {
        try await reading { db in
            try EngineLedger(db).totalChangeCount()
        }
    }

    /// Returns the number of rows with pending or blocked changes, and the number of deleted rows among them; nil in a
    /// database without an outbox. Reads on the writing connection, so that an import opens no other.
    package func pendingChangeCounts() async throws -> PendingChangeCounts? {
        try await DatabaseErrorMapper.mapped(.databaseError, "cannot read the store") {
            try await database.writeWithoutTransaction { db in try EngineLedger(db).totalChangeCounts() }
        }
    }

    /// Whether the database has the tables of a sync engine, which the first engine creates.
    package func hasSyncState() async throws -> Bool {
        try await reading { db in
            try EngineSchema.names(in: db) != nil
        }
    }
}
