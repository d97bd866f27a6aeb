@_exported public import SyncCore
@_exported public import SyncSQLite
public import Foundation

/// Keeps a store in step with JSON.
public enum Sync {
    /// The rows a payload belongs to: an entity and the key of one of its rows.
    public typealias Parent = (entity: String, id: JSONValue)

    /// Makes the rows of an entity what a payload says, in one transaction.
    @discardableResult
    public static func changes(
        _ json: Data, inEntity entity: String, stack: DataStack, predicate: RecordPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        SyncResult(entity: entity)
    }
}
