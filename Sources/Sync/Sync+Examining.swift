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
        let payload = try payload(json, options)
        return try Examination(payload, of: entity, in: stack.model, dryRun: result)
    }

    /// What a sync would do. Records none of which has a key are looked at one by one, unless they are not what was meant:
    /// an object around a list.
    private static func dryRun(
        _ json: Data, inEntity entity: String, stack: DataStack, options: SyncOptions
    ) async throws -> SyncResult {
        do {
            return try await plan(json, inEntity: entity, stack: stack, options: options)
        } catch let error as SyncError where error.code == .noRecords && error.path != nil && error.keyPaths.isEmpty {
            var options = options
            options.admitsNoRecords = true
            return try await plan(json, inEntity: entity, stack: stack, options: options)
        }
    }

    /// The records as values. That they can be read the dry run has shown.
    private static func payload(_ json: Data, _ options: SyncOptions) throws -> JSONValue {
        guard options.form == .json else {
            let lines = String(decoding: json, as: UTF8.self).split(whereSeparator: \.isNewline)
            return .array(try lines.map { try JSONValue(parsing: String($0)) })
        }
        let root = try JSONValue(parsing: String(decoding: json, as: UTF8.self))
        return options.keyPath.reduce(root) { value, key in value[key] ?? .array([]) }
    }
}
