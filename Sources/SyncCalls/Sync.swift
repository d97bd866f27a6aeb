public import Foundation
public import SyncCore
package import SyncStore

/// Keeps a store in step with JSON.
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
    /// The stored row whose children a payload lists: its entity and its key.
    public typealias Parent = (entity: String, id: JSONValue)

    /// Inserts, updates and deletes rows so that the entity matches the payload.
    ///
    /// The payload is an array of records, or a single record. A single record deletes nothing unless `predicate` or `parent` sets
    /// the scope.
    ///
    /// ```swift
    /// try await Sync.changes(data, inEntity: "Note", stack: stack, predicate: .where("createdAt > %@", yesterday))
    /// try await Sync.changes(data, inEntity: "Note", stack: stack, parent: ("User", 6), operations: [.insert, .update])
    /// ```
    ///
    /// - Parameters:
    ///   - json: UTF-8 JSON.
    ///   - entity: The entity of the root records.
    ///   - predicate: The scope: the sync deletes only rows that match it and that the payload omits.
    ///   - parent: The row whose children the payload lists.
    ///   - relationship: The relationship of the parent, if it has several to the entity.
    ///   - operations: What the sync may do.
    ///   - options: How the sync reads the payload, what it deletes, and what the result lists.
    /// - Returns: The rows that were inserted, updated and deleted.
    /// - Throws: ``SyncError`` with the path in the payload, `CancellationError`, or an error of SQLite. The store is then
    ///   unchanged. A payload without a readable record, such as the JSON of an error, throws `noRecords`.
    @discardableResult
    public static func changes(
        _ json: Data, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        let call = SyncCall(entity, stack, predicate, parent, relationship, operations, options)
        return try await call.changes(json)
    }

    /// Inserts, updates and deletes rows so that the entity matches a payload of JSON values. See ``changes(_:inEntity:stack:predicate:parent:relationship:operations:options:)-(Data,_,_,_,_,_,_,_)``.
    @discardableResult
    public static func changes(
        _ json: JSONValue, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        let call = SyncCall(entity, stack, predicate, parent, relationship, operations, options)
        return try await call.changes { try $0.stage(json) }
    }

    /// Inserts, updates and deletes rows so that the entity matches dictionaries from `JSONSerialization`.
    ///
    /// The dictionaries are mapped on the caller's thread before the call first suspends, so they need not be sendable.
    @discardableResult
    public nonisolated(nonsending) static func changes(
        _ json: [[String: Any]], inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        let call = SyncCall(entity, stack, predicate, parent, relationship, operations, options)
        return try await call.changesHere { try $0.stage(json) }
    }

    /// Computes what ``changes(_:inEntity:stack:predicate:parent:relationship:operations:options:)-(Data,_,_,_,_,_,_,_)`` would
    /// change, and writes nothing.
    ///
    /// The sync runs in a transaction that is rolled back. Observers are not notified. Other writers wait until it ends. If another
    /// process is writing, or the file cannot be written, the sync runs on a temporary copy of the committed database.
    public static func plan(
        _ json: Data, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        let call = SyncCall(entity, stack, predicate, parent, relationship, operations, options)
        return try await call.dryRun(json)
    }

    /// Computes what a sync of JSON values would change, and writes nothing.
    public static func plan(
        _ json: JSONValue, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        let call = SyncCall(entity, stack, predicate, parent, relationship, operations, options)
        return try await call.dryRun { try $0.stage(json) }
    }

    /// Computes what a sync of dictionaries from `JSONSerialization` would change, and writes nothing.
    public nonisolated(nonsending) static func plan(
        _ json: [[String: Any]], inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        let call = SyncCall(entity, stack, predicate, parent, relationship, operations, options)
        return try await call.dryRunHere { try $0.stage(json) }
    }

    /// Syncs a payload for callers that are not async, and calls `completion` once, on any thread.
    ///
    /// - Returns: The running task. Cancelling it rolls the sync back.
    @discardableResult
    public static func changes(
        _ json: Data, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), completion: @escaping @Sendable (Result<SyncResult, any Error>) -> Void
    ) -> Task<Void, Never> {
        Task {
            do {
                let result = try await changes(
                    json, inEntity: entity, stack: stack, predicate: predicate, parent: parent,
                    relationship: relationship, operations: operations, options: options)
                completion(.success(result))
            } catch {
                completion(.failure(error))
            }
        }
    }
}

/// A model and the store of its rows, which the calls of ``Sync`` write to. `DataStack` conforms.
///
/// Do not conform types of an app to it.
public protocol SyncStack: Sendable {
    /// The model of the stored rows.
    var model: SyncModel { get }
    /// The access to the store.
    var host: SyncHost { get }
}

/// The access that the calls of ``Sync`` have to a store.
public struct SyncHost: Sendable {
    package let store: any StoreHost

    package init(_ store: any StoreHost) { self.store = store }
}
