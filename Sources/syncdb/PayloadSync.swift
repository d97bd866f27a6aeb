import Foundation
import Sync

extension PayloadOptions {
    /// Syncs what was read: one payload by itself, several as pages of one snapshot, or as deltas one after the other.
    ///
    /// - Parameters:
    ///   - options: Given again because a command may want more of the result.
    ///   - written: Is told of each that is written, where others are still to come.
    func sync(
        _ payloads: [Payload], into stack: DataStack, options: SyncOptions, _ written: WrittenFiles
    ) async throws -> SyncResult {
        if payloads.count == 1 || rules.delta {
            var results = MergedResults()
            for payload in payloads {
                results.add(try await sync(payload, into: stack, options: options))
                written.add(payload.name)
            }
            return results.merged() ?? SyncResult(entity: entity)
        }
        let run = SyncRun()
        var options = options
        options.payload = .page(of: run)
        for payload in payloads {
            _ = try await sync(payload, into: stack, options: options)
            written.add(payload.name)
        }
        return try await run.finish()
    }

    /// The same as a dry run. Several payloads are really written, so the store must be one that is thrown away.
    func plan(_ payloads: [Payload], against stack: DataStack, options: SyncOptions) async throws -> SyncResult {
        guard let payload = payloads.first, payloads.count == 1, let json = payload.data else {
            return try await sync(payloads, into: stack, options: options, WrittenFiles())
        }
        var options = options
        options.form = payload.form
        let entities = entities
        return try await SyncError.naming(payload.name) {
            if !entities.isEmpty {
                return try await Sync.plan(
                    json, entities: entities, stack: stack, operations: rules.operations.value, options: options)
            }
            return try await Sync.plan(
                json, inEntity: entity, stack: stack, predicate: rules.recordPredicate(), parent: rules.parent?.parent,
                relationship: rules.parent?.relationship, operations: rules.operations.value, options: options)
        }
    }

    private func sync(_ payload: Payload, into stack: DataStack, options: SyncOptions) async throws -> SyncResult {
        var options = options
        options.form = payload.form
        if !entities.isEmpty { return try await sync(payload, as: entities, into: stack, options: options) }
        return try await SyncError.naming(payload.name) {
            switch payload.content {
            case .whole(let json):
                return try await Sync.changes(
                    json, inEntity: entity, stack: stack, predicate: rules.recordPredicate(),
                    parent: rules.parent?.parent,
                    relationship: rules.parent?.relationship, operations: rules.operations.value, options: options)
            case .file(let url):
                return try await Sync.changes(
                    contentsOf: url, inEntity: entity, stack: stack, predicate: rules.recordPredicate(),
                    parent: rules.parent?.parent, relationship: rules.parent?.relationship,
                    operations: rules.operations.value,
                    options: options)
            case .chunks(let chunks):
                return try await Sync.changes(
                    chunks, inEntity: entity, stack: stack, predicate: rules.recordPredicate(),
                    parent: rules.parent?.parent,
                    relationship: rules.parent?.relationship, operations: rules.operations.value, options: options)
            }
        }
    }

    /// The same of a payload with a list for each entity.
    private func sync(
        _ payload: Payload, as entities: [String: String], into stack: DataStack, options: SyncOptions
    ) async throws -> SyncResult {
        try await SyncError.naming(payload.name) {
            switch payload.content {
            case .whole(let json):
                return try await Sync.changes(
                    json, entities: entities, stack: stack, operations: rules.operations.value, options: options)
            case .file(let url):
                return try await Sync.changes(
                    contentsOf: url, entities: entities, stack: stack, operations: rules.operations.value,
                    options: options)
            case .chunks(let chunks):
                return try await Sync.changes(
                    chunks, entities: entities, stack: stack, operations: rules.operations.value, options: options)
            }
        }
    }
}
