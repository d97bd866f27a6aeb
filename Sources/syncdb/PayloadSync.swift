import Foundation
import Sync

extension PayloadOptions {
    /// Syncs a payload. The options are given again because a command may want more of the result.
    func sync(_ data: Data, into stack: DataStack, options: SyncOptions) async throws -> SyncResult {
        try await naming {
            try await Sync.changes(
                data, inEntity: entity, stack: stack, predicate: recordPredicate(), parent: parent?.parent,
                relationship: parent?.relationship, operations: operations.value, options: options)
        }
    }

    /// The same as a dry run.
    func plan(_ data: Data, against stack: DataStack, options: SyncOptions) async throws -> SyncResult {
        try await naming {
            try await Sync.plan(
                data, inEntity: entity, stack: stack, predicate: recordPredicate(), parent: parent?.parent,
                relationship: parent?.relationship, operations: operations.value, options: options)
        }
    }

    /// Names the file in errors about its JSON.
    private func naming(_ body: () async throws -> SyncResult) async throws -> SyncResult {
        do {
            return try await body()
        } catch let error as SyncError where error.isAboutPayload {
            throw error.naming(source.name)
        }
    }
}
