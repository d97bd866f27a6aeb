import Foundation
public import SyncCore
import SyncStore

/// The functions that sync JSON into a store.
///
/// ```swift
/// let stack = try DataStack(model: SyncModel(contentsOf: modelURL), at: databaseURL)
/// let result = try await Sync.changes(json, inEntity: "User", stack: stack)
/// print(result["User"].insertedCount, "new users")
/// ```
///
/// A sync maps a payload to rows and links, compares the result with the stored rows, and writes the differences.
public enum Sync {
    /// Inserts, updates and deletes rows so that the entity matches the payload.
    ///
    /// The payload is an array of records, or a single record. If the payload omits a row in scope, the sync deletes
    /// the row, unless the row has a temporary key or pending changes. A single record has no scope, unless `predicate`
    /// or `parent` sets a scope. Without a scope, the sync deletes only rows that nested lists omit, and rows that
    /// delete rules delete.
    ///
    /// The sync writes to the store and does not involve an engine. Pass records that the service of an engine sent to
    /// `SyncEngine.apply(_:inEntity:)` instead, because the writes of this function are local changes.
    ///
    /// ```swift
    /// try await Sync.changes(data, inEntity: "Note", stack: stack, predicate: .where("createdAt > %@", yesterday))
    /// try await Sync.changes(fileURL, inEntity: "Note", stack: stack, parent: SyncParent("User", id: 6))
    /// ```
    /// The sync reads a file or a stream (``SyncPayload``) in chunks of whole records. By default, the sync writes all
    /// chunks in one transaction. If ``SyncOptions/commitsEachChunk`` is set, each chunk has a separate transaction.
    ///
    /// If a record depends on a later chunk, the result can differ from the result for a payload in memory:
    ///
    /// - The sync neither counts nor rejects inconsistent records in different chunks, and stores the later values.
    /// - A record in a later chunk may state that a row is of a subentity, but omit a value that the subentity
    ///   requires. In this case, the row keeps its entity. For a payload in memory, the sync rejects the record.
    /// - A record is rejected if its primary key includes the key of a new row whose record is in a later chunk.
    /// - The rows of an ordered relationship can have a different order if their records reference a row whose record
    ///   is in a later chunk.
    ///
    /// - Parameters:
    ///   - payload: `Data` (UTF-8 JSON), the `URL` of a file, a ``JSONValue``, dictionaries from `JSONSerialization`,
    ///     or a ``SyncPayload``.
    ///   - entity: The entity of the root records.
    ///   - predicate: The condition for rows in scope. With a parent, the scope is the children of the parent that meet
    ///     the condition. If the condition is nil, the scope is all children of the parent. If the parent is also nil,
    ///     the scope is ``SyncOptions/scope``.
    ///   - parent: The row whose children the payload lists; nil for none.
    ///   - operations: The allowed operations.
    ///   - options: The options of the sync, such as the format of the payload and the deletion limit.
    /// - Returns: The inserted, updated and deleted rows, the links, and the diagnostics.
    /// - Throws: ``SyncError``, usually with a path in the payload. Also errors of the stream, of the insert hook and
    ///   of SQLite, and `CancellationError`. The call throws `noRecords` if the payload has records, but no record has
    ///   a readable key, as in an error response. If the call throws an error, the store is unchanged, unless
    ///   ``SyncOptions/commitsEachChunk`` is set.
    @discardableResult
    public nonisolated(nonsending) static func changes(
        _ payload: some SyncPayloadConvertible, inEntity entity: String, stack: some SyncStack,
        predicate: RowPredicate? = nil, parent: SyncParent? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await SyncCall(entity, stack, predicate, parent, operations, options).run(payload)
    }

    /// Inserts, updates and deletes rows so that the entity matches a payload of JSON values, such as a literal.
    ///
    /// For details, see
    /// ``changes(_:inEntity:stack:predicate:parent:operations:options:)-(SyncPayloadConvertible,_,_,_,_,_,_)``.
    @discardableResult
    public nonisolated(nonsending) static func changes(
        _ payload: JSONValue, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: SyncParent? = nil, operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await SyncCall(entity, stack, predicate, parent, operations, options).run(payload)
    }

    /// Computes the changes of a sync, and writes nothing.
    ///
    /// The sync runs in a transaction, and rolls the transaction back. Observers of the store are not notified. Other
    /// writers wait until the transaction ends. If another connection is writing, or if the database is read-only, the
    /// sync runs on a temporary copy of the committed database. In an app database, the sync does not use a copy.
    /// Instead, the sync waits or fails, as the `busyMode` of the database configuration specifies.
    ///
    /// The parameters and errors are those of
    /// ``changes(_:inEntity:stack:predicate:parent:operations:options:)-(SyncPayloadConvertible,_,_,_,_,_,_)``.
    public nonisolated(nonsending) static func plan(
        _ payload: some SyncPayloadConvertible, inEntity entity: String, stack: some SyncStack,
        predicate: RowPredicate? = nil, parent: SyncParent? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await SyncCall(entity, stack, predicate, parent, operations, options).run(payload, isDryRun: true)
    }

    /// Starts a sync for a caller that is not asynchronous. The sync calls `completion` once, on any thread.
    ///
    /// - Returns: The task of the sync. Cancelling the task cancels the sync.
    @discardableResult
    public static func changes(
        _ payload: some SyncPayloadConvertible & Sendable, inEntity entity: String, stack: some SyncStack,
        predicate: RowPredicate? = nil, parent: SyncParent? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), completion: @escaping @Sendable (Result<SyncResult, any Error>) -> Void
    ) -> Task<Void, Never> {
        Task {
            do {
                let call = SyncCall(entity, stack, predicate, parent, operations, options)
                completion(.success(try await call.run(payload)))
            } catch {
                completion(.failure(error))
            }
        }
    }
}

extension Sync {
    /// The largest number of syncs that run at the same time in this process; nil, the default, for no limit.
    ///
    /// When the limit is reached, further syncs wait, and start in the order of their calls. On a server, set the limit
    /// to one less than the number of processors, so that a processor stays free for reads and requests. Each running
    /// sync occupies memory for its payload. See also ``SyncStack/maxConcurrentSyncs``. A number below 1 counts as 1.
    ///
    /// Calls inside the caller's transaction, calls for single rows, and engine runs do not count, and never wait for
    /// the limit. A payload stream must not wait for another sync, because that sync may wait for the end of the
    /// stream.
    public static var maxConcurrentSyncs: Int? {
        get { SyncLimit.process.maximum }
        set { SyncLimit.process.maximum = newValue }
    }
}
