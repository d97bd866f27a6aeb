public import SyncCalls
public import SyncCore
public import SyncSQLite

// Calls inside the caller's transaction.
extension Sync {
    /// Inserts, updates and deletes rows so that the entity matches the payload, in the caller's transaction.
    ///
    /// ```swift
    /// try await pool.write { db in
    ///     let result = try Sync.changes(data, inEntity: "User", stack: stack, in: db)
    ///     try Cursor(name: "users", etag: response.etag, changed: result.root.updated).save(db)
    /// }
    /// ```
    /// The sync is rolled back with that transaction. If the sync fails, its own writes are rolled back and the
    /// transaction stays open.
    ///
    /// - Parameters:
    ///   - options: Pages of a paged import are not allowed, because the import records what its pages committed.
    ///   - db: A connection to the stack's database. Outside of a transaction, the sync begins one.
    /// - Returns: The rows that were inserted, updated and deleted.
    /// - Throws: The errors of
    ///   ``changes(_:inEntity:stack:predicate:parent:operations:options:)-(SyncPayloadConvertible,_,_,_,_,_,_)``;
    ///   `incompatibleConnection` if foreign keys are off; `invalidOption` for a page or a stream.
    @discardableResult
    public static func changes(
        _ payload: some SyncPayloadConvertible, inEntity entity: String, stack: DataStack,
        predicate: RowPredicate? = nil, parent: SyncParent? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, operations, options).run(payload, by: stack.writer(db))
    }

    /// Syncs JSON values, such as literals, in the caller's transaction.
    @discardableResult
    package static func changes(
        _ payload: JSONValue, inEntity entity: String, stack: DataStack, predicate: RowPredicate? = nil,
        parent: SyncParent? = nil, operations: SyncOperations = .all, options: SyncOptions = SyncOptions(),
        in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, operations, options).run(payload, by: stack.writer(db))
    }

    /// Syncs several entities from one document in the caller's transaction.
    @discardableResult
    public static func changes(
        _ payload: some SyncPayloadConvertible, inEntities entities: [String: String], stack: DataStack,
        operations: SyncOperations = .all, options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entities, stack, operations, options).run(payload, by: stack.writer(db))
    }

    /// Computes what a sync would change after the writes of the caller's transaction so far. The sync is rolled back at once.
    public static func plan(
        _ payload: some SyncPayloadConvertible, inEntity entity: String, stack: DataStack,
        predicate: RowPredicate? = nil, parent: SyncParent? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, operations, options)
            .run(payload, by: stack.writer(db), isDryRun: true)
    }

    /// Computes what a sync of several entities would change in the caller's transaction.
    public static func plan(
        _ payload: some SyncPayloadConvertible, inEntities entities: [String: String], stack: DataStack,
        operations: SyncOperations = .all, options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entities, stack, operations, options).run(payload, by: stack.writer(db), isDryRun: true)
    }
}

// MARK: - DataStack+SyncStack

extension DataStack: SyncStack {
    /// The access to the store for the calls of ``Sync``.
    public var host: SyncHost { SyncHost(self) }
}
