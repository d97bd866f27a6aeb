import Foundation
import Sync

extension PayloadOptions {
    /// Syncs a payload as the options say.
    func sync(_ data: Data, into stack: DataStack) async throws -> SyncResult {
        do {
            return try await Sync.changes(
                data, inEntity: entity, stack: stack, predicate: recordPredicate(), parent: parent?.parent,
                relationship: parent?.relationship, operations: operations.value, options: options)
        } catch let error as SyncError where error.isAboutPayload {
            throw error.naming(source.name)
        }
    }

    /// The same as a dry run. The options are given again because `diff` looks past the deletion guard.
    func plan(_ data: Data, against stack: DataStack, options: SyncOptions) async throws -> SyncResult {
        do {
            return try await Sync.plan(
                data, inEntity: entity, stack: stack, predicate: recordPredicate(), parent: parent?.parent,
                relationship: parent?.relationship, operations: operations.value, options: options)
        } catch let error as SyncError where error.isAboutPayload {
            throw error.naming(source.name)
        }
    }
}
