import GRDB
package import SyncCore

extension DataStack {
    /// Compares a plan with the stored rows and writes the difference, in one transaction.
    ///
    /// - Throws: ``SyncError``, `CancellationError`, or what SQLite says; the store is then as it was.
    package func apply(
        _ plan: ChangePlan, predicate: RecordPredicate?, options: SyncOptions, isDryRun: Bool
    ) async throws -> SyncResult {
        try await database.writeWithoutTransaction { db in
            guard let run = options.payload.run else {
                var none: RunMemory?
                return try self.apply(plan, predicate, options, isDryRun: isDryRun, in: db, run: &none)
            }
            return try Self.remembering(run, isDryRun: isDryRun) { memory in
                let page = try self.apply(plan, predicate, options, isDryRun: isDryRun, in: db, run: &memory)
                memory?.changes.add(page)
                return page
            }
        }
    }

    /// Ends a run: applies a plan without records, from which all rows that the run's pages mentioned are exempt.
    ///
    /// - Returns: What the whole run changed.
    package func sweep(
        _ plan: ChangePlan, _ run: SyncRun, predicate: RecordPredicate?, options: SyncOptions
    ) async throws -> SyncResult {
        try await database.writeWithoutTransaction { db in
            try Self.remembering(run, isDryRun: false) { memory in
                memory?.isEnding = true
                let last = try self.apply(plan, predicate, options, isDryRun: false, in: db, run: &memory)
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

    private func apply(
        _ plan: ChangePlan, _ predicate: RecordPredicate?, _ options: SyncOptions, isDryRun: Bool, in db: Database,
        run: inout RunMemory?
    ) throws -> SyncResult {
        func apply(deferringIndexes: Bool) throws -> SyncResult {
            var result = SyncResult(entity: "")
            try transaction(db, isDryRun: isDryRun) { db, arrivals in
                try stopBrokenTriggers(in: db)
                func apply() throws -> SyncResult {
                    try SyncTransaction.apply(
                        plan, predicate: predicate, options: options, layout: layout, arrivals: arrivals, in: db,
                        run: &run)
                }
                result =
                    deferringIndexes
                    ? try HandMadeSchema(layout, db).deferringUniqueIndexes(apply) : try apply()
                try Task.checkCancellation()
            }
            return result
        }
        // What a run remembers is not there twice to begin again with.
        if run != nil { return try apply(deferringIndexes: true) }
        do {
            return try apply(deferringIndexes: false)
        } catch {
            guard try HandMadeSchema(layout, db).isInTheWay(error) else { throw error }
            return try apply(deferringIndexes: true)
        }
    }
}
