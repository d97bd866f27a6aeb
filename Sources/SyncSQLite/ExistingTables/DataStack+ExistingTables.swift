public import GRDB
public import SyncCore
import SyncStore

extension DataStack {
    /// Creates a stack that syncs into existing tables of an app database.
    ///
    /// ```swift
    /// let pool = try DatabasePool(path: path)
    /// try migrator.migrate(pool)
    /// let stack = try DataStack(model: SyncModel(contentsOf: modelURL), existingTablesIn: pool)
    /// ```
    /// If a table or column name differs from the default, the model must specify the name (schema members `table`,
    /// `column` and `inverseColumn`). `syncdb schema introspect` writes such a model.
    ///
    /// The call checks the tables against the model. The call also checks the stored values if the database has no
    /// stored model, or a stored model that requires other tables than `model`.
    ///
    /// The stack does not create, alter or drop tables of the app. If a table does not fit the model, the error
    /// contains known corrections in SQL for a migration of the app. The call adds two internal tables, `sync_model`
    /// and `sync_pending`.
    ///
    /// A sync does not write to columns that are not in the model. In these columns, a new row gets the defaults of the
    /// table. A later stack in the same database also uses the existing tables, even if another initializer creates the
    /// stack.
    ///
    /// - Parameters:
    ///   - writer: A pool or a queue, which must stay open until the stack is closed or released.
    ///   - transformers: Whether every transformer that the model names must be built in, or registered with the model.
    /// - Throws: ``SyncError`` `incompatibleTables` if the tables do not fit the model. ``SyncError/problems`` lists
    ///   the incompatibilities, and ``SyncError/fixes`` lists the known corrections in SQL. `modelMismatch` if the
    ///   database has tables that a stack created. `nameCollision` if a table, view or index of the app has the name of
    ///   an internal table. `incompatibleConnection` if a setting of the database must change; the message names the
    ///   setting. `missingTransformer`, `cannotOpenStore`, `databaseReadOnly`, `databaseBusy` or `databaseError`. If
    ///   the call throws an error, the database is unchanged.
    public convenience init(
        model: SyncModel, existingTablesIn writer: some DatabaseWriter, transformers: TransformerPolicy = .required
    ) throws {
        try transformers.check(model)
        self.init(try ExistingTablesStore(writer: writer).open(model))
    }

    /// Checks the existing tables against a model, and adds the internal tables `sync_model` and `sync_pending`, in the
    /// caller's transaction.
    ///
    /// ```swift
    /// migrator.registerMigration("sync") { db in try DataStack.prepareExistingTables(of: model, in: db) }
    /// ```
    /// Call this method only in a migration of a `DatabaseMigrator` with `eraseDatabaseOnSchemaChange`. Such a migrator
    /// treats a table that no migration created as a schema change. In other apps,
    /// ``init(model:existingTablesIn:transformers:)`` does the same work.
    ///
    /// - Throws: ``SyncError`` `incompatibleTables` if the tables do not fit the model. `modelMismatch` if the database
    ///   has tables that a stack created. `nameCollision`, `cannotOpenStore`, `databaseBusy`, `databaseReadOnly` or
    ///   `databaseError`.
    public static func prepareExistingTables(of model: SyncModel, in db: Database) throws {
        try DatabaseErrorMapper.mapped(.databaseError, "cannot use the existing tables of the database") {
            try StoredModel.useExistingTables(of: model, in: db)
        }
    }
}

/// A store in existing tables of an app. The names of its internal tables begin with `sync_`.
struct ExistingTablesStore {
    let writer: any DatabaseWriter

    /// Checks the tables, and stores the model.
    func open(_ model: SyncModel) throws -> OpenStore {
        let version = try DatabaseErrorMapper.mapped(.databaseError, "cannot use the existing tables of the database") {
            try writer.writeWithoutTransaction { db in
                SQLFunctionInstaller.install(in: db)
                try AppConnectionCheck.checkDatabase(db)
                if try AppConnectionCheck.isReadOnly(db) {
                    guard try StoredModel.hasExistingTables(db),
                        try StoredModel.schema(db, or: .appDatabase)?.needsMigration(to: model) == false
                    else { throw SyncError(.databaseReadOnly, "this connection to the database is read-only") }
                    try TableCompatibilityCheck.check(model, in: db, readsValues: false)
                    return try StoreMonitor.schemaVersion(db)
                }
                var version: Int?
                try db.inTransaction(StoredModel.openingTransaction(model, in: db)) {
                    try StoredModel.useExistingTables(of: model, in: db)
                    version = try StoreMonitor.schemaVersion(db)
                    return .commit
                }
                return version
            }
        }
        return OpenStore(
            model: model, database: writer, schemaVersion: version, isAppDatabase: true, hasExistingTables: true)
    }
}

extension StoredModel {
    /// Returns whether the tables of the model are existing tables of the app.
    static func hasExistingTables(_ db: Database) throws -> Bool {
        guard try db.tableExists("sync_model", in: "main") else { return false }
        return try Int.fetchOne(db, sql: "SELECT \"version\" FROM \"sync_model\"") == SchemaSQL.existingTablesVersion
    }

    /// Checks the existing tables and stores the model, in the caller's transaction.
    ///
    /// - Throws: ``SyncError`` `incompatibleTables`; `modelMismatch` if the database has tables that a stack created.
    static func useExistingTables(of model: SyncModel, in db: Database) throws {
        let kept = try schema(db, or: .appDatabase)
        if kept != nil, try !hasExistingTables(db) {
            throw SyncError(
                .modelMismatch,
                "the database already has tables that Sync created for a model; open it with 'DataStack(model:in:)'")
        }
        let isSame = try kept?.needsMigration(to: model) == false
        let readsValues =
            try !isSame || OtherUUIDs.exist(in: db, of: StoreLayout(model.compiled, hasExistingTables: true))
        try TableCompatibilityCheck.check(model, in: db, readsValues: readsValues)
        if kept == nil {
            try createOwnTables(for: model, version: SchemaSQL.existingTablesVersion, in: db)
        } else {
            // Pending changes of columns that the app's migration removed go to the conflict log.
            if let kept, !isSame { try EngineMigration.migrate(db, from: kept.model(), to: model) }
            try update(model, in: db)
        }
    }
}
