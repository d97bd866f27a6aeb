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
    ///     try Cursor(name: "users", etag: response.etag, changed: result["User"].updatedCount).save(db)
    /// }
    /// ```
    /// If the caller rolls back the transaction, the writes of the sync are rolled back too. If the sync throws an
    /// error, only the writes of the sync are rolled back, and the transaction stays open.
    ///
    /// - Parameters:
    ///   - payload: `Data` (UTF-8 JSON), the `URL` of a file, a ``JSONValue``, dictionaries from `JSONSerialization`,
    ///     or a ``SyncPayload`` that is not a stream.
    ///   - entity: The entity of the root records.
    ///   - stack: The stack whose database the connection is to.
    ///   - predicate: The condition for rows in scope, as in a call without a connection.
    ///   - parent: The row whose children the payload lists; nil for none.
    ///   - operations: The allowed operations.
    ///   - options: The options of the sync. The payload cannot be a page of a paged import, because a rollback would
    ///     lose the page.
    ///   - db: A connection to the stack's database. If the connection is not in a transaction, the sync starts a
    ///     transaction.
    /// - Returns: The inserted, updated and deleted rows, the links, and the diagnostics.
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

    /// Syncs a payload of JSON values, such as a literal, in the caller's transaction.
    @discardableResult
    package static func changes(
        _ payload: JSONValue, inEntity entity: String, stack: DataStack, predicate: RowPredicate? = nil,
        parent: SyncParent? = nil, operations: SyncOperations = .all, options: SyncOptions = SyncOptions(),
        in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, operations, options).run(payload, by: stack.writer(db))
    }

    /// Inserts, updates and deletes rows so that several entities match one payload, in the caller's transaction.
    @discardableResult
    public static func changes(
        _ payload: some SyncPayloadConvertible, inEntities entities: [String: String], stack: DataStack,
        operations: SyncOperations = .all, options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entities, stack, operations, options).run(payload, by: stack.writer(db))
    }

    /// Computes the changes of a sync in the caller's transaction, and writes nothing. The result takes the earlier
    /// writes of the transaction into account.
    public static func plan(
        _ payload: some SyncPayloadConvertible, inEntity entity: String, stack: DataStack,
        predicate: RowPredicate? = nil, parent: SyncParent? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, operations, options)
            .run(payload, by: stack.writer(db), isDryRun: true)
    }

    /// Computes the changes of a sync of several entities in the caller's transaction, and writes nothing.
    public static func plan(
        _ payload: some SyncPayloadConvertible, inEntities entities: [String: String], stack: DataStack,
        operations: SyncOperations = .all, options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entities, stack, operations, options).run(payload, by: stack.writer(db), isDryRun: true)
    }
}

// MARK: - DataStack+SyncStack

extension DataStack: SyncStack {
    /// The object through which the ``Sync`` functions access the store.
    public var host: SyncHost { SyncHost(self) }
}
