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
/// Each call maps its payload (``PayloadGraphBuilder``) to a plan, and the stack compares the plan with the stored rows and
/// writes the difference in one transaction: either all of it or nothing.
public enum Sync {
    /// A stored row whose children a payload lists: its entity and its key.
    public typealias Parent = (entity: String, id: JSONValue)

    /// Makes the stored rows of an entity what a JSON payload says: an array of records, or one record, which speaks for
    /// itself alone: other rows of the entity are deleted only if a predicate or a parent says that it speaks for them.
    ///
    /// ```swift
    /// try await Sync.changes(data, inEntity: "Note", stack: stack, predicate: .where("createdAt > %@", yesterday))
    /// try await Sync.changes(data, inEntity: "Note", stack: stack, parent: ("User", 6), operations: [.insert, .update])
    /// ```
    ///
    /// - Parameters:
    ///   - json: UTF-8 JSON.
    ///   - entity: The entity its root records are of.
    ///   - predicate: The stored rows the payload speaks for: only they are deleted if it leaves them out.
    ///   - parent: The row whose children the payload lists.
    ///   - relationship: The parent's relationship, if it has several to the entity.
    ///   - operations: What may be done.
    /// - Returns: What changed.
    /// - Throws: ``SyncError`` with its place in the payload, `CancellationError`, or an error of SQLite. The store is
    ///   then as it was. What has no record that could be read, as the JSON of an error, fails with `noRecords`.
    @discardableResult
    public static func changes(
        _ json: Data, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        let call = SyncCall(entity, stack, predicate, parent, relationship, operations, options)
        return try await call.changes(json)
    }

    /// Makes the stored rows of an entity what a payload of JSON values says. See ``changes(_:inEntity:stack:predicate:parent:relationship:operations:options:)-(Data,_,_,_,_,_,_,_)``.
    @discardableResult
    public static func changes(
        _ json: JSONValue, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        let call = SyncCall(entity, stack, predicate, parent, relationship, operations, options)
        return try await call.changes { try $0.stage(json) }
    }

    /// Makes the stored rows of an entity what `JSONSerialization` read. The dictionaries are mapped before the call
    /// first suspends, so they need not be sendable. Unlike that of bytes, their mapping keeps the caller's thread busy.
    @discardableResult
    public nonisolated(nonsending) static func changes(
        _ json: [[String: Any]], inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        let call = SyncCall(entity, stack, predicate, parent, relationship, operations, options)
        return try await call.changesHere { try $0.stage(json) }
    }

    /// What ``changes(_:inEntity:stack:predicate:parent:relationship:operations:options:)-(Data,_,_,_,_,_,_,_)`` would change.
    ///
    /// Does all the work of the sync and takes it back: nothing is written to the file and no observer hears of it.
    /// Other writers wait meanwhile; where another process is writing already, or nobody can write, the work is done on a
    /// temporary copy of what was committed.
    public static func plan(
        _ json: Data, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        let call = SyncCall(entity, stack, predicate, parent, relationship, operations, options)
        return try await call.dryRun(json)
    }

    /// What a sync of JSON values would change. Writes nothing.
    public static func plan(
        _ json: JSONValue, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        let call = SyncCall(entity, stack, predicate, parent, relationship, operations, options)
        return try await call.dryRun { try $0.stage(json) }
    }

    /// What a sync of what `JSONSerialization` read would change. Writes nothing.
    public nonisolated(nonsending) static func plan(
        _ json: [[String: Any]], inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        let call = SyncCall(entity, stack, predicate, parent, relationship, operations, options)
        return try await call.dryRunHere { try $0.stage(json) }
    }

    /// The same for callers that are not async: `completion` is called once, on no particular thread.
    ///
    /// - Returns: The running task; cancelling it undoes the sync.
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

/// A model and the store that keeps its rows: what the calls of ``Sync`` sync into.
///
/// Only the library's own stores conform, as `DataStack` does.
public protocol SyncStack: Sendable {
    /// What the rows are of.
    var model: SyncModel { get }
    /// What the calls use of the store.
    var host: SyncHost { get }
}

/// What the calls of ``Sync`` use of a store.
public struct SyncHost: Sendable {
    package let store: any StoreHost

    package init(_ store: any StoreHost) { self.store = store }
}
