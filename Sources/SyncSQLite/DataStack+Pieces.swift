import GRDB
package import SyncCore

extension DataStack {
    /// How many unresolved references the result of a payload in pieces lists where keys are not collected.
    private static let unresolvedLimit = 10_000

    /// Applies the pieces of one payload, in one transaction. A payload of one piece is applied as it is; the pieces of
    /// a longer one are pages of a run, which `ending` ends.
    ///
    /// - Parameters:
    ///   - next: Waits for the next piece. What it throws undoes all of them.
    ///   - ending: A plan without records, from which all rows that pieces mention are exempt; nil if the pieces are
    ///     pages of a run of the caller's.
    /// - Returns: What all pieces changed.
    /// - Throws: ``SyncError``, `CancellationError`, or what SQLite says; the store is then as it was.
    package func apply(
        pieces next: @escaping @Sendable () throws -> PlanPiece?, ending: ChangePlan?, predicate: RecordPredicate?,
        options: SyncOptions, isDryRun: Bool
    ) async throws -> SyncResult {
        try await database.writeWithoutTransaction { db in
            var first = try next()
            var result = SyncResult(entity: "")
            try Self.remembering(options.payload.run ?? SyncRun(), isDryRun: isDryRun) { memory in
                try self.transaction(db, isDryRun: isDryRun) { db, arrivals in
                    try stopBrokenTriggers(in: db)
                    // Each piece asks for rows all over the tables.
                    try PageCache.grow(to: PageCache.largeSize, db)
                    result = try HandMadeSchema(layout, db).deferringUniqueIndexes {
                        try apply(
                            &first, then: next, ending: ending, predicate: predicate, options: options, arrivals,
                            in: db, run: &memory)
                    }
                    try Task.checkCancellation()
                }
            }
            return result
        }
    }

    private func apply(
        _ first: inout PlanPiece?, then next: () throws -> PlanPiece?, ending: ChangePlan?, predicate: RecordPredicate?,
        options: SyncOptions, _ arrivals: ArrivalWatch, in db: Database, run memory: inout RunMemory?
    ) throws -> SyncResult {
        func apply(_ plan: ChangePlan, _ options: SyncOptions, _ memory: inout RunMemory?) throws -> SyncResult {
            try SyncTransaction.apply(
                plan, predicate: predicate, options: options, layout: layout, arrivals: arrivals, in: db, run: &memory)
        }
        var piece = first.take()
        if let only = piece, only.isLast, ending != nil {
            memory = nil
            return try apply(only.plan, options, &memory)
        }
        var quiet = options
        quiet.progress = nil
        while var plan = piece?.plan {
            piece = nil
            plan.isComplete = false
            let page = try apply(plan, quiet, &memory)
            memory?.changes.add(page)
            if hasTooManyUnresolved(memory, options) { try settleUnresolved(&memory, options, db) }
            try Task.checkCancellation()
            piece = try next()
        }
        if let ending {
            memory?.isEnding = true
            let last = try apply(ending, options, &memory)
            memory?.changes.add(last)
            try settleUnresolved(&memory, options, db)
        }
        return memory?.changes.result() ?? SyncResult(entity: "")
    }

    /// Whether so many references came since they were last looked at that looking again is little beside them.
    private func hasTooManyUnresolved(_ memory: RunMemory?, _ options: SyncOptions) -> Bool {
        !options.collectsKeys && memory?.changes.unresolvedCount ?? 0 > 2 * Self.unresolvedLimit
    }

    /// Forgets references that were resolved since, and where keys are not collected, those too many.
    private func settleUnresolved(_ memory: inout RunMemory?, _ options: SyncOptions, _ db: Database) throws {
        var room = options.collectsKeys ? Int.max : Self.unresolvedLimit
        try memory?.changes.keepUnresolved { references in
            let waiting = try self.waiting(references, in: db).prefix(room)
            room -= waiting.count
            return Array(waiting)
        }
    }
}
