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
/// Each call maps its payload to a graph of nodes (``PayloadGraphBuilder``). The stack compares the nodes with the stored rows and
/// writes the diff, in one transaction.
public enum Sync {
    /// Inserts, updates and deletes rows so that the entity matches the payload.
    ///
    /// The payload is an array of records, or a single record. A single record deletes nothing unless `predicate` or `parent` sets
    /// the scope.
    ///
    /// ```swift
    /// try await Sync.changes(data, inEntity: "Note", stack: stack, predicate: .where("createdAt > %@", yesterday))
    /// try await Sync.changes(fileURL, inEntity: "Note", stack: stack, parent: SyncParent("User", id: 6))
    /// ```
    /// A file or a stream (``SyncPayload``) is read in chunks of whole records (``SyncOptions/chunkSize``). Each is written while
    /// the next is read, all in one transaction unless ``SyncOptions/commitsEachChunk`` is set. The store ends up as if the
    /// payload was synced as a whole, with two exceptions that depend on later chunks:
    /// - A record gives a row of an entity, and a later chunk gives it as a sub-entity without a value that this requires: the row
    ///   keeps its entity, where the whole payload would be rejected.
    /// - Records give the owner of an ordered relationship by its ID before the chunk with the owner: their rows come after the
    ///   rows that this chunk links to it.
    ///
    /// - Parameters:
    ///   - payload: `Data` (UTF-8 JSON), the `URL` of a file, ``JSONValue``, dictionaries from `JSONSerialization`, or a stream.
    ///   - entity: The entity of the root records.
    ///   - predicate: The scope: the sync deletes only rows that match it and that the payload omits.
    ///   - parent: The row whose children the payload lists.
    ///   - operations: What the sync may do.
    ///   - options: How the sync reads the payload, what it deletes, and what the result lists.
    /// - Returns: The rows that were inserted, updated and deleted. The paths of diagnostics are those in the whole payload.
    /// - Throws: ``SyncError`` with the path in the payload, what a stream throws, `CancellationError`, or an error of SQLite. The
    ///   store is then unchanged, unless each chunk is committed. A payload without a readable record, such as the JSON of an
    ///   error, throws `noRecords`.
    @discardableResult
    public nonisolated(nonsending) static func changes(
        _ payload: some SyncPayloadConvertible, inEntity entity: String, stack: some SyncStack,
        predicate: RowPredicate? = nil, parent: SyncParent? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await SyncCall(entity, stack, predicate, parent, operations, options).run(payload)
    }

    /// Inserts, updates and deletes rows so that the entity matches JSON values, such as literals. See
    /// ``changes(_:inEntity:stack:predicate:parent:operations:options:)-(SyncPayloadConvertible,_,_,_,_,_,_)``.
    @discardableResult
    public nonisolated(nonsending) static func changes(
        _ payload: JSONValue, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: SyncParent? = nil, operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await SyncCall(entity, stack, predicate, parent, operations, options).run(payload)
    }

    /// Computes what a sync would change, and writes nothing.
    ///
    /// The sync runs in a transaction that is rolled back. Observers are not notified. Other writers wait until it ends. If another
    /// process is writing, or the file cannot be written, the sync runs on a temporary copy of the committed database.
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

    /// Syncs a payload for callers that are not async, and calls `completion` once, on any thread.
    ///
    /// - Returns: The running task. Cancelling it rolls the sync back.
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

/// A store of rows, which the calls of ``Sync`` write to. `DataStack` conforms.
///
/// Do not conform types of an app to it.
public protocol SyncStack: Sendable {
    /// The access to the store.
    var host: SyncHost { get }
}

/// The access that the calls of ``Sync`` have to a store.
public struct SyncHost: Sendable {
    package let store: any StoreHost

    package init(_ store: any StoreHost) { self.store = store }
}
