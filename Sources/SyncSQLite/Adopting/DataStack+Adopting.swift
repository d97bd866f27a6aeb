public import GRDB
public import SyncCore

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
        self.init(try AdoptedStore(writer: writer).open(model))
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
        try StoreFailure.mapped(.storeFailure, "the tables of the database cannot be adopted") {
            try KeptModel.adopt(model, in: db)
        }
    }
}
