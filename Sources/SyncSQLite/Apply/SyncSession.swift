import Foundation
import GRDB
import SyncCore

/// A store inside a transaction, its own or the caller's, and what is asked of it: where each way in meets the one route
/// from a plan to the rows, ``apply(_:)``.
struct SyncSession {
    let db: Database
    let layout: StoreLayout
    /// What the connection knows of who wrote what; nil where nothing is written.
    let arrivals: ArrivalWatch?
    let request: SyncRequest

    init(_ db: Database, _ layout: StoreLayout, _ arrivals: ArrivalWatch?, _ request: SyncRequest) {
        self.db = db
        self.layout = layout
        self.arrivals = arrivals
        self.request = request
    }

    /// The same for what only looks.
    init(unwatched session: SyncSession) { self.init(session.db, session.layout, nil, session.request) }

    /// The same for a part of a payload, which cannot tell how far the whole is.
    var quiet: SyncSession {
        var request = request
        request.options.progress = nil
        return SyncSession(db, layout, arrivals, request)
    }

    /// Compares a plan with the stored rows and writes the difference. Throws without having to undo anything: whoever
    /// began the transaction rolls back.
    func apply(_ plan: ChangePlan) throws -> SyncResult {
        var run: RunMemory?
        return try apply(plan, run: &run)
    }

    /// - Parameters:
    ///   - run: What earlier pages of the same run said; nil unless the plan is of one of them.
    ///   - known: The records that the plan leaves out because they are known; nil for a plan of all of them.
    func apply(_ plan: ChangePlan, run: inout RunMemory?, knowing known: KnownPlaces? = nil) throws -> SyncResult {
        let plan = try SyncTransaction.rewritten(plan, self)
        return try plan.withTexts { pool in
            var sync = try SyncTransaction(plan, self, pool)
            sync.known = known
            swap(&sync.run, &run)
            defer { swap(&sync.run, &run) }
            return try sync.apply()
        }
    }

    /// Deletes one stored row by the delete rules of the model.
    func delete(_ row: Record) throws -> SyncResult {
        let plan = ChangePlan(model: layout.model, entity: row.type.id, operations: [], payload: Data())
        return try plan.withTexts { pool in
            guard let key = RowKey(row.rowKey) else { return SyncResult(entity: row.entity) }
            var sync = try SyncTransaction(plan, self, pool)
            return try sync.delete(StoredRow(tree: row.type.tree, key: key))
        }
    }
}
