public import Foundation
public import SyncCalls
public import SyncCore
public import SyncSQLite

// Inside a transaction of the caller's.
extension Sync {
    /// Makes the stored rows of an entity what a payload says, in the caller's transaction, with what else belongs to it.
    ///
    /// ```swift
    /// try await pool.write { db in
    ///     let result = try Sync.changes(data, inEntity: "User", stack: stack, in: db)
    ///     try Cursor(name: "users", etag: response.etag, changed: result.root.updated).save(db)
    /// }
    /// ```
    /// It is undone with that transaction. If it fails, what it has written is taken back and the transaction goes
    /// on.
    ///
    /// - Parameters:
    ///   - options: Not pages of a run, which remembers what was committed.
    ///   - db: A connection to the stack's database, best inside a transaction; else it is synced in one of its own.
    /// - Returns: What changed.
    /// - Throws: What ``changes(_:inEntity:stack:predicate:parent:relationship:operations:options:)-(Data,_,_,_,_,_,_,_)``
    ///   throws; `unsuitableConnection` while foreign keys are off; `invalidOption` for a page.
    @discardableResult
    public static func changes(
        _ json: Data, inEntity entity: String, stack: DataStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, relationship, operations, options)
            .changes(json, by: stack.writer(db), isDryRun: false)
    }

    /// Makes the stored rows of an entity what a payload of JSON values says, in the caller's transaction.
    @discardableResult
    public static func changes(
        _ json: JSONValue, inEntity entity: String, stack: DataStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, relationship, operations, options)
            .changes(by: stack.writer(db), isDryRun: false) { try $0.stage(json) }
    }

    /// Makes the stored rows of an entity what `JSONSerialization` read, in the caller's transaction.
    @discardableResult
    public static func changes(
        _ json: [[String: Any]], inEntity entity: String, stack: DataStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, relationship, operations, options)
            .changes(by: stack.writer(db), isDryRun: false) { try $0.stage(json) }
    }

    /// Makes the stored rows of several entities what one JSON document says, in the caller's transaction.
    @discardableResult
    public static func changes(
        _ json: Data, entities: [String: String], stack: DataStack, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entities, stack, operations, options).changes(json, by: stack.writer(db), isDryRun: false)
    }

    /// Makes the stored rows of several entities what one JSON value says, in the caller's transaction.
    @discardableResult
    public static func changes(
        _ json: JSONValue, entities: [String: String], stack: DataStack, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entities, stack, operations, options)
            .changes(by: stack.writer(db), isDryRun: false) { try $0.stage(json) }
    }

    // MARK: Dry runs

    /// What a sync would change of what the caller's transaction has written so far. Is taken back at once.
    public static func plan(
        _ json: Data, inEntity entity: String, stack: DataStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, relationship, operations, options)
            .changes(json, by: stack.writer(db), isDryRun: true)
    }

    /// What a sync of JSON values would change, in the caller's transaction.
    public static func plan(
        _ json: JSONValue, inEntity entity: String, stack: DataStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, relationship, operations, options)
            .changes(by: stack.writer(db), isDryRun: true) { try $0.stage(json) }
    }

    /// What a sync of what `JSONSerialization` read would change, in the caller's transaction.
    public static func plan(
        _ json: [[String: Any]], inEntity entity: String, stack: DataStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, relationship, operations, options)
            .changes(by: stack.writer(db), isDryRun: true) { try $0.stage(json) }
    }

    /// What a sync of one document of several entities would change, in the caller's transaction.
    public static func plan(
        _ json: Data, entities: [String: String], stack: DataStack, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entities, stack, operations, options).changes(json, by: stack.writer(db), isDryRun: true)
    }

    /// What a sync of one JSON value of several entities would change, in the caller's transaction.
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
    /// What the calls of ``Sync`` use of the store.
    public var host: SyncHost { SyncHost(self) }
}
