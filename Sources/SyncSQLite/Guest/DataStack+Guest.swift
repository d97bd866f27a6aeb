public import GRDB
public import SyncCore

extension DataStack {
    /// Keeps the rows of a model in the database of an app, in tables beside the app's own.
    ///
    /// ```swift
    /// let pool = try DatabasePool(path: path, configuration: configuration)
    /// try migrator.migrate(pool)
    /// let stack = try DataStack(model: SyncModel(contentsOf: modelURL), in: pool)
    /// ```
    /// The tables are made, or brought to the model as those of a file are, in one transaction; nothing else in the
    /// database is touched. The app opens and closes the database, with whatever configuration it likes as long as
    /// foreign keys are on; functions that conditions need are added to its connections when they are first used. A
    /// database has one model.
    ///
    /// A dry run (`Sync.plan`) waits for other writers as the configuration says, where that of a file of our own works on
    /// a copy instead.
    ///
    /// - Parameters:
    ///   - writer: A pool or a queue. It must not be closed before the stack is gone.
    ///   - migration: Whether rows, values and links that the model has no place for may be lost.
    ///   - transformers: Whether those that the model names must be registered on it.
    /// - Throws: ``SyncError`` `nameCollision` if a table, view or index of the app has a name that the model needs,
    ///   `unsuitableConnection` with the setting to change, `modelMismatch` with everything that would be lost,
    ///   `missingTransformer`, `storeReadOnly`, `storeBusy`. The database is then as it was.
    public convenience init(
        model: SyncModel, in writer: some DatabaseWriter, migration: MigrationPolicy = .keepingData,
        transformers: TransformerPolicy = .required
    ) throws {
        try transformers.check(model)
        self.init(try GuestStore(writer: writer).open(model, policy: migration))
    }

    /// Makes the tables of a model in a database that has none of ours, in the caller's transaction.
    ///
    /// ```swift
    /// migrator.registerMigration("sync") { db in try DataStack.createTables(of: model, in: db) }
    /// ```
    /// ``init(model:in:migration:transformers:)`` does it as well, and is then all that is needed. This is for a
    /// `DatabaseMigrator` with `eraseDatabaseOnSchemaChange`, which takes tables that it did not make for a change.
    ///
    /// - Throws: ``SyncError`` `nameCollision`.
    public static func createTables(of model: SyncModel, in db: Database) throws {
        guard try KeptModel.read(db, or: .guest) == nil else { return }
        try StoreFailure.mapped(.storeFailure, "the tables of the model cannot be made") {
            try KeptModel.create(model, in: db)
        }
    }

    /// A connection, as GRDB gives it to ``write(_:)-(_)`` and to the app's own reads and writes.
    public typealias Connection = Database

    /// The database: to read it with GRDB, and to observe it.
    public var reader: any DatabaseReader { database.writer }

    /// The database, to write to it with GRDB. What the app writes to the tables of the model, a sync compares as any rows.
    public var writer: any DatabaseWriter { database.writer }
}
