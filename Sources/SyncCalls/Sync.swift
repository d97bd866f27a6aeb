import Foundation
public import SyncCore
package import SyncStore

/// Syncs JSON into a store.
///
/// ```swift
/// let stack = try DataStack(model: SyncModel(contentsOf: modelURL), at: databaseURL)
/// let result = try await Sync.changes(json, inEntity: "User", stack: stack)
/// print(result["User"].insertedCount, "new users")
/// ```
///
/// A sync maps its payload to rows and links, compares these with the stored rows, and writes the differences.
public enum Sync {
    /// Inserts, updates and deletes rows so that the entity matches the payload.
    ///
    /// The payload is an array of records, or a single record. A single record has no scope, unless `predicate` or
    /// `parent` sets one. Without a scope, the sync deletes only rows that nested lists omit.
    ///
    /// ```swift
    /// try await Sync.changes(data, inEntity: "Note", stack: stack, predicate: .where("createdAt > %@", yesterday))
    /// try await Sync.changes(fileURL, inEntity: "Note", stack: stack, parent: SyncParent("User", id: 6))
    /// ```
    /// The sync reads a file or a stream (``SyncPayload``) in chunks of whole records. It writes all chunks in one
    /// transaction, each while it reads the next one. If ``SyncOptions/commitsEachChunk`` is set, each chunk has its
    /// own transaction.
    ///
    /// The result is the same as for a payload that is read as a whole, except where a record depends on a later chunk:
    /// - Inconsistent records of different chunks are neither counted nor rejected. The last value is stored.
    /// - A later chunk may describe a row as a subentity, without a value that the subentity requires. The row then
    ///   keeps its entity. In a whole payload the record is rejected.
    /// - A record is rejected if its key contains the key of a row that only a later chunk has.
    /// - Records may reference the owner of an ordered relationship by ID, before the chunk with the owner. In the list
    ///   of the owner, their rows follow the rows of that chunk.
    ///
    /// - Parameters:
    ///   - payload: `Data` (UTF-8 JSON), the `URL` of a file, a ``JSONValue``, dictionaries from `JSONSerialization`,
    ///     or a stream.
    ///   - entity: The entity of the root records.
    ///   - predicate: The scope. The sync deletes rows that match the predicate and that the payload omits.
    ///   - parent: The row whose children the payload lists.
    ///   - operations: The allowed operations.
    ///   - options: How the sync reads the payload, what it deletes, and what the result lists.
    /// - Returns: The inserted, updated and deleted rows, the links, and the diagnostics.
    /// - Throws: ``SyncError``, with the path in the payload; an error of the stream or of the insert hook;
    ///   `CancellationError`; or an error of SQLite. The store is then unchanged, unless
    ///   ``SyncOptions/commitsEachChunk`` is set. A payload whose records all lack a readable key, such as the JSON of
    ///   an error, throws `noRecords`.
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
    /// ``changes(_:inEntity:stack:predicate:parent:operations:options:)-(SyncPayloadConvertible,_,_,_,_,_,_)``
    /// describes the details.
    @discardableResult
    public nonisolated(nonsending) static func changes(
        _ payload: JSONValue, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: SyncParent? = nil, operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await SyncCall(entity, stack, predicate, parent, operations, options).run(payload)
    }

    /// Computes what a sync would change, and writes nothing.
    ///
    /// The sync runs in a transaction that is rolled back, without notifying observers. Other writers wait until the
    /// transaction ends. If another connection is writing, or if the file is read-only, the sync runs on a temporary
    /// copy of the committed database. In an app database, it waits for the other connection instead.
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

    /// Syncs a payload for a caller that is not asynchronous, and calls `completion` once, on any thread.
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
    /// Further calls of ``Sync`` wait, and start in the order of their calls. A server sets one less than its number of
    /// processors, so that a processor stays free for reads and requests. Each running sync occupies memory for its
    /// payload. See also `DataStack.maxConcurrentSyncs`. A number below 1 counts as 1.
    ///
    /// Calls inside the caller's transaction, single rows and engines do not count. A payload stream must not wait for
    /// another sync, because that sync may wait for the end of the stream.
    public static var maxConcurrentSyncs: Int? {
        get { SyncLimit.process.maximum }
        set { SyncLimit.process.maximum = newValue }
    }
}

/// A store that the calls of ``Sync`` write to.
///
/// `DataStack` conforms to the protocol. Do not declare other conforming types.
public protocol SyncStack: Sendable {
    /// The access that the calls of ``Sync`` have to the store.
    var host: SyncHost { get }
}

/// The access that the calls of ``Sync`` have to a store.
public struct SyncHost: Sendable {
    package let store: any StoreHost

    package init(_ store: any StoreHost) { self.store = store }
}
