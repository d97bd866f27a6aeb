public import GRDB
import GRDBSQLite
public import SyncCore
import SyncStore

extension DataStack {
    /// Syncs into the tables that an app has already, in the app's database.
    ///
    /// ```swift
    /// let pool = try DatabasePool(path: path)
    /// try migrator.migrate(pool)
    /// let stack = try DataStack(model: SyncModel(contentsOf: modelURL), adopting: pool)
    /// ```
    /// The model says which table and columns each entity has (``SyncModel/Entity/table``,
    /// ``SyncModel/Attribute/column``, ``SyncModel/Relationship/column``) where they are called otherwise; `syncdb
    /// schema adopt` writes it. The tables are compared with it each time, all rows too when the model is new. Nothing
    /// of the app's is made, altered or dropped: what does not fit is refused, with the SQL that mends it, for a
    /// migration of the app's. Beside the tables are only two of ours, `sync_model` and `sync_pending`.
    ///
    /// Columns that the model does not have keep their values when a row is updated, and get their defaults in a new
    /// one. Later stacks of the same file are of the same kind, however they are made.
    ///
    /// - Parameters:
    ///   - writer: A pool or a queue. It must not be closed before the stack is gone.
    ///   - transformers: Whether those that the model names must be registered on it.
    /// - Throws: ``SyncError`` `unsuitableTables` with everything that does not fit (``SyncError/problems``, and
    ///   ``SyncError/remedies`` for the SQL), `modelMismatch` if the database has tables that a stack made,
    ///   `unsuitableConnection`, `missingTransformer`, `storeReadOnly`, `storeBusy`. The database is then as it was.
    public convenience init(
        model: SyncModel, adopting writer: some DatabaseWriter, transformers: TransformerPolicy = .required
    ) throws {
        try transformers.check(model)
        self.init(try ExistingTablesStore(writer: writer).open(model))
    }

    /// Adopts the tables of a model in the caller's transaction.
    ///
    /// ```swift
    /// migrator.registerMigration("sync") { db in try DataStack.adoptTables(of: model, in: db) }
    /// ```
    /// ``init(model:adopting:transformers:)`` does it as well, and is then all that is needed. This is for a
    /// `DatabaseMigrator` with `eraseDatabaseOnSchemaChange`, which takes tables that it did not make for a change.
    ///
    /// - Throws: ``SyncError`` `unsuitableTables`, `nameCollision`, `modelMismatch`.
    public static func adoptTables(of model: SyncModel, in db: Database) throws {
        try DatabaseErrorMapper.mapped(.storeFailure, "the tables of the database cannot be adopted") {
            try StoredModel.adopt(model, in: db)
        }
    }
}

/// A store whose tables are an app's own. What it makes beside them begins with `sync_`.
struct ExistingTablesStore {
    let writer: any DatabaseWriter

    /// Checks the tables, and keeps the model.
    func open(_ model: SyncModel) throws -> OpenStore {
        let version = try DatabaseErrorMapper.mapped(.storeFailure, "the tables of the database cannot be adopted") {
            try writer.writeWithoutTransaction { db in
                SQLFunctionInstaller.install(in: db)
                try AppConnectionCheck.checkDatabase(db)
                if try AppConnectionCheck.isReadOnly(db) {
                    guard try StoredModel.isAdopted(db),
                        try StoredModel.schema(db, or: .guest)?.needsMigration(to: model) == false
                    else { throw SyncError(.storeReadOnly, "this connection to the database is read-only") }
                    try TableCompatibilityCheck.check(model, in: db, readsValues: false)
                    return try StoreMonitor.schemaVersion(db)
                }
                var version: Int?
                try db.inTransaction(.immediate) {
                    try StoredModel.adopt(model, in: db)
                    version = try StoreMonitor.schemaVersion(db)
                    return .commit
                }
                return version
            }
        }
        return OpenStore(model: model, database: writer, schemaVersion: version, isGuest: true, isAdopted: true)
    }
}

extension StoredModel {
    /// Whether the tables of the model are the app's.
    static func isAdopted(_ db: Database) throws -> Bool {
        guard try db.tableExists("sync_model", in: "main") else { return false }
        return try Int.fetchOne(db, sql: "SELECT \"version\" FROM \"sync_model\"") == SchemaSQL.adoptedVersion
    }

    /// Has the tables there are be those of a model, in the caller's transaction.
    ///
    /// - Throws: ``SyncError`` `unsuitableTables`; `modelMismatch` if there are tables that we made.
    static func adopt(_ model: SyncModel, in db: Database) throws {
        let kept = try schema(db, or: .guest)
        if kept != nil, try !isAdopted(db) {
            throw SyncError(
                .modelMismatch,
                "the database has tables already that were made for a model; open them with 'DataStack(model:in:)'")
        }
        let isSame = try kept?.needsMigration(to: model) == false
        let readsValues = try !isSame || OtherUUIDs.exist(in: db, of: StoreLayout(model.compiled, isAdopted: true))
        try TableCompatibilityCheck.check(model, in: db, readsValues: readsValues)
        if kept == nil {
            try createOwnTables(for: model, version: SchemaSQL.adoptedVersion, in: db)
        } else {
            // What an app's own migration left no column for is in the log of conflicts.
            if let kept, !isSame { try EngineMigration.follow(db, from: kept.model(), to: model) }
            try keep(model, in: db)
        }
    }
}

/// Has foreign keys hold for what a sync leads to, and not for each of its steps, whose order is its own. Those of our
/// tables say so themselves.
enum DeferredForeignKeys {
    static func during<Result>(_ db: Database, _ isAdopted: Bool, _ body: () throws -> Result) throws -> Result {
        guard isAdopted, try Bool.fetchOne(db, sql: "PRAGMA defer_foreign_keys") != true else { return try body() }
        try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
        // To switch it off forgets links that lead nowhere: as long as there are some, it stays until the transaction
        // ends.
        defer { if !areBroken(db) { try? db.execute(sql: "PRAGMA defer_foreign_keys = OFF") } }
        return try body()
    }

    /// Whether something is written that leads nowhere yet, by whomever.
    static func areBroken(_ db: Database) -> Bool {
        var open: Int32 = 0
        var peak: Int32 = 0
        sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_DEFERRED_FKS, &open, &peak, 0)
        return open != 0
    }
}
