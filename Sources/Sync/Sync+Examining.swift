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
        options.explainsContradictions = true
        do {
            return try await dryRun(json, entity, stack, options)
        } catch let error as SyncError where error.isAboutRecordsAlone {
            options.admitsNoRecords = true
            return try await dryRun(json, entity, stack, options)
        }
    }

    private static func dryRun(
        _ json: Data, _ entity: String, _ stack: DataStack, _ options: SyncOptions
    ) async throws -> SyncResult {
        try await SyncCall(entity, stack, nil, nil, nil, .all, options).dryRun(json)
    }

    /// What is wrong, or worth a look, with a payload of several entities: as
    /// ``examine(_:inEntity:stack:options:)`` of one.
    ///
    /// - Parameter entities: The entity of each list, by the keys that lead to it, with dots between them.
    /// - Throws: ``SyncError`` where the payload could not be synced at all.
    public static func examine(
        _ json: Data, entities: [String: String], stack: DataStack, options: SyncOptions = SyncOptions()
    ) async throws -> Examination {
        let call = try SyncCall(entities, stack, .all, options)
        return try await examine(json, inEntity: call.entity, stack: stack, options: call.options)
    }
}

extension SyncError {
    /// Whether records are there, and lack their keys: the payload is not of another form, nor are they elsewhere in it.
    fileprivate var isAboutRecordsAlone: Bool {
        code == .noRecords && path != nil && keyPaths.isEmpty && likelyForm == nil
    }
}
