import Foundation
package import SyncCore

/// A store inside a transaction, its own or the caller's, and what is asked of it: where each way in meets the one route
/// from a plan to the rows, ``apply(_:)``.
package struct SyncSession {
    package let store: any StoreSession
    package let model: CompiledModel
    package let request: SyncRequest

    package init(_ store: any StoreSession, _ model: CompiledModel, _ request: SyncRequest) {
        self.store = store
        self.model = model
        self.request = request
    }

    /// The same for a part of a payload, which cannot tell how far the whole is.
    package var quiet: SyncSession {
        var request = request
        request.options.progress = nil
        return SyncSession(store, model, request)
    }

    /// Compares a payload with the stored rows and writes the difference. Throws without having to undo anything: whoever
    /// began the transaction rolls back.
    package func apply(_ payload: StagedPayload) throws -> SyncResult {
        var run: RunMemory?
        return try apply(payload, run: &run)
    }

    /// - Parameter run: What earlier pages of the same run said; nil unless the plan is of one of them.
    package func apply(_ payload: StagedPayload, run: inout RunMemory?) throws -> SyncResult {
        var plan = try rewritten(payload, run)
        if let memory = run {
            plan = plan.following(memory.rootRecords)
            if plan.page.hasNulls { run?.hasNulls = true }
            if memory.isEnding, memory.hasNulls { plan = plan.ofPart() }
        }
        return try plan.withTexts { pool in
            var sync = try SyncTransaction(plan, self, pool)
            swap(&sync.run, &run)
            defer { swap(&sync.run, &run) }
            return try sync.apply()
        }
    }

    /// Deletes stored rows of an entity by the delete rules of the model.
    package func delete(_ rows: Set<StoredRow>, of entity: CompiledEntity) throws -> SyncResult {
        let plan = ChangePlan(model: model, entity: entity.id, operations: [], payload: Data())
        return try plan.withTexts { pool in
            var sync = try SyncTransaction(plan, self, pool)
            return try sync.delete(rows)
        }
    }
}
