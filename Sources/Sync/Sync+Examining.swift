public import Foundation
public import SyncCore
public import SyncSQLite

extension Sync {
    /// What is wrong with a payload, or worth a look: keys that nothing takes, values that do not fit, attributes never
    /// given, references to rows that are not there, and what the model leaves open. Writes nothing.
    ///
    /// - Parameters:
    ///   - json: UTF-8 JSON.
    ///   - entity: The entity its root records are of.
    ///   - stack: The store it would go to.
    ///   - options: How the payload is laid out.
    /// - Throws: ``SyncError`` where the payload could not be synced at all.
    public static func examine(
        _ json: Data, inEntity entity: String, stack: DataStack, options: SyncOptions = SyncOptions()
    ) async throws -> Examination {
        let result = try await dryRun(json, inEntity: entity, stack: stack, options: options)
        return try Examination(json, of: entity, in: stack.model, options: options, dryRun: result)
    }

    /// What a sync would do. Records none of which has a key are looked at one by one, unless they are not what was meant:
    /// an object around a list.
    private static func dryRun(
        _ json: Data, inEntity entity: String, stack: DataStack, options: SyncOptions
    ) async throws -> SyncResult {
        var options = options
        options.collectsKeys = false
        do {
            return try await plan(json, inEntity: entity, stack: stack, options: options)
        } catch let error as SyncError where error.code == .noRecords && error.path != nil && error.keyPaths.isEmpty {
            options.admitsNoRecords = true
            return try await plan(json, inEntity: entity, stack: stack, options: options)
        }
    }
}
