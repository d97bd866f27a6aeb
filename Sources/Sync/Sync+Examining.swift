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
        var dryRun = options
        dryRun.collectsKeys = false
        let result = try await plan(json, inEntity: entity, stack: stack, options: dryRun)
        return try Examination(json, of: entity, in: stack.model, options: options, dryRun: result)
    }
}
