public import Foundation
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
    ///   ``changes(_:inEntity:stack:predicate:parent:relationship:operations:options:)-(Data,_,_,_,_,_,_,_)``;
    ///   `unsuitableConnection` if foreign keys are off; `invalidOption` for a page.
    @discardableResult
    public static func changes(
        _ json: Data, inEntity entity: String, stack: DataStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, relationship, operations, options)
            .changes(json, by: stack.writer(db), isDryRun: false)
    }

    /// Inserts, updates and deletes rows so that the entity matches a payload of JSON values, in the caller's
    /// transaction.
    @discardableResult
    public static func changes(
        _ json: JSONValue, inEntity entity: String, stack: DataStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, relationship, operations, options)
            .changes(by: stack.writer(db), isDryRun: false) { try $0.stage(json) }
    }

    /// Inserts, updates and deletes rows so that the entity matches dictionaries from `JSONSerialization`, in the
    /// caller's transaction.
    @discardableResult
    public static func changes(
        _ json: [[String: Any]], inEntity entity: String, stack: DataStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, relationship, operations, options)
            .changes(by: stack.writer(db), isDryRun: false) { try $0.stage(json) }
    }

    /// Inserts, updates and deletes rows so that several entities match one JSON document, in the caller's transaction.
    @discardableResult
    public static func changes(
        _ json: Data, entities: [String: String], stack: DataStack, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entities, stack, operations, options).changes(json, by: stack.writer(db), isDryRun: false)
    }

    /// Inserts, updates and deletes rows so that several entities match one JSON value, in the caller's transaction.
    @discardableResult
    public static func changes(
        _ json: JSONValue, entities: [String: String], stack: DataStack, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entities, stack, operations, options)
            .changes(by: stack.writer(db), isDryRun: false) { try $0.stage(json) }
    }

    // MARK: Dry runs

    /// Computes what a sync would change after the writes of the caller's transaction. The sync runs in a savepoint
    /// that is rolled back.
    public static func plan(
        _ json: Data, inEntity entity: String, stack: DataStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, relationship, operations, options)
            .changes(json, by: stack.writer(db), isDryRun: true)
    }

    /// Computes what a sync of JSON values would change, in the caller's transaction, and writes nothing.
    public static func plan(
        _ json: JSONValue, inEntity entity: String, stack: DataStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, relationship, operations, options)
            .changes(by: stack.writer(db), isDryRun: true) { try $0.stage(json) }
    }

    /// Computes what a sync of dictionaries from `JSONSerialization` would change, in the caller's transaction, and
    /// writes nothing.
    public static func plan(
        _ json: [[String: Any]], inEntity entity: String, stack: DataStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, relationship, operations, options)
            .changes(by: stack.writer(db), isDryRun: true) { try $0.stage(json) }
    }

    /// Computes what a sync of one document of several entities would change, in the caller's transaction, and writes
    /// nothing.
    public static func plan(
        _ json: Data, entities: [String: String], stack: DataStack, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entities, stack, operations, options).changes(json, by: stack.writer(db), isDryRun: true)
    }

    /// Computes what a sync of one JSON value of several entities would change, in the caller's transaction, and writes
    /// nothing.
    public static func plan(
        _ json: JSONValue, entities: [String: String], stack: DataStack, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entities, stack, operations, options)
            .changes(by: stack.writer(db), isDryRun: true) { try $0.stage(json) }
    }
}

// MARK: - DataStack+SyncStack

extension DataStack: SyncStack {
    /// The access to the store for the calls of ``Sync``.
    public var host: SyncHost { SyncHost(self) }
}
