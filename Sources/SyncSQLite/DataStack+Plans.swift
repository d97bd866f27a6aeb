import GRDB
package import SyncCore
import SyncStore

extension DataStack {
    /// Compares a plan with the stored rows and writes the difference, in one transaction.
    ///
    /// - Throws: ``SyncError``, `CancellationError`, or what SQLite says; the store is then as it was.
    package func sync(_ payload: StagedPayload, _ request: SyncRequest) async throws -> SyncResult {
        try await database.writeWithoutTransaction { db in try self.sync(payload, request, in: db, isOwn: true) }
    }

    /// Compares a plan with the stored rows and writes the difference, in the transaction that the connection is in, if it
    /// is in one.
    package func sync(_ payload: StagedPayload, _ request: SyncRequest, in db: Connection) throws -> SyncResult {
        try sync(payload, request, in: db, isOwn: false)
    }

    /// - Parameter isOwn: Whether the connection is the stack's, and its transaction, if it is in one, an engine's.
    func sync(_ payload: StagedPayload, _ request: SyncRequest, in db: Database, isOwn: Bool) throws -> SyncResult {
        guard let run = request.options.payload.run else {
            var none: RunMemory?
            return try sync(payload, request, in: db, isOwn: isOwn, run: &none)
        }
        return try Self.remembering(run, isDryRun: request.isDryRun) { memory in
            let page = try sync(payload, request, in: db, isOwn: isOwn, run: &memory)
            memory?.changes.add(page)
            return page
        }
    }

    /// Ends a run: applies a plan without records, from which all rows that the run's pages mentioned are exempt.
    ///
    /// - Returns: What the whole run changed.
    package func sweep(_ plan: ChangePlan, _ run: SyncRun, _ request: SyncRequest) async throws -> SyncResult {
        try await database.writeWithoutTransaction { db in
            try Self.remembering(run, isDryRun: false) { memory in
                memory?.isEnding = true
                let last = try self.sync(StagedPayload(plan), request, in: db, isOwn: true, run: &memory)
                memory?.changes.add(last)
                try memory?.changes.keepUnresolved { try self.waiting($0, in: db) }
                return memory?.changes.result() ?? last
            }
        }
    }

    /// Gives `body` the memory of a run, and the run what became of it.
    static func remembering<Result>(
        _ run: SyncRun, isDryRun: Bool, _ body: (inout RunMemory?) throws -> Result
    ) rethrows -> Result {
        var memory: RunMemory? = run.take()
        let before = isDryRun ? memory : nil
        defer { run.put(before ?? memory ?? RunMemory()) }
        return try body(&memory)
    }

    private func sync(
        _ payload: StagedPayload, _ request: SyncRequest, in db: Database, isOwn: Bool, run: inout RunMemory?
    ) throws -> SyncResult {
        func sync(deferringIndexes: Bool) throws -> SyncResult {
            try transaction(db, request, deferringIndexes: deferringIndexes, isOwn: isOwn) { session, _ in
                try session.apply(payload, run: &run)
            }
        }
        // What a run remembers is not there twice to begin again with.
        if run != nil { return try sync(deferringIndexes: true) }
        do {
            return try sync(deferringIndexes: false)
        } catch {
            guard try !isAdopted && AddedIndex.isInTheWay(error, of: layout, in: db) else { throw error }
            return try sync(deferringIndexes: true)
        }
    }
}
