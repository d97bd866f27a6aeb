import GRDB
package import SyncCore
import SyncStore

extension DataStack {
    /// How many unresolved references the result of a payload in pieces lists where keys are not collected.
    private static let unresolvedLimit = 10_000

    /// Syncs the pieces of one payload, in one transaction. A payload of one piece is applied as it is; the pieces of
    /// a longer one are pages of a run, which `ending` ends.
    ///
    /// - Parameters:
    ///   - next: Waits for the next piece. What it throws undoes all of them.
    ///   - ending: A plan without records, from which all rows that pieces mention are exempt; nil if the pieces are
    ///     pages of a run of the caller's.
    /// - Returns: What all pieces changed.
    /// - Throws: ``SyncError``, `CancellationError`, or what SQLite says; the store is then as it was.
    package func sync(
        pieces next: @escaping @Sendable () throws -> PlanPiece?, ending: ChangePlan?, _ request: SyncRequest
    ) async throws -> SyncResult {
        try await database.writeWithoutTransaction { db in
            var first = try next()
            return try Self.remembering(request.options.payload.run ?? SyncRun(), isDryRun: request.isDryRun) {
                memory in
                try self.transaction(db, request, deferringIndexes: true, isOwn: true) { session, db in
                    // Each piece asks for rows all over the tables.
                    try PageCache.grow(to: PageCache.largeSize, db)
                    return try sync(&first, then: next, ending: ending, session, db, run: &memory)
                }
            }
        }
    }

    private func sync(
        _ first: inout PlanPiece?, then next: () throws -> PlanPiece?, ending: ChangePlan?, _ session: SyncSession,
        _ db: Database, run memory: inout RunMemory?
    ) throws -> SyncResult {
        let options = session.request.options
        var piece = first.take()
        if let only = piece, only.isLast, ending != nil {
            memory = nil
            return try session.apply(only.payload)
        }
        let quiet = session.quiet
        var mark = PageMark()
        while let payload = piece?.payload {
            piece = nil
            mark = payload.plan.page
            let page = try quiet.apply(payload, run: &memory)
            memory?.changes.add(page)
            if hasTooManyUnresolved(memory, options) { try settleUnresolved(&memory, options, db) }
            try Task.checkCancellation()
            piece = try next()
        }
        if let ending {
            memory?.isEnding = true
            let last = try session.apply(StagedPayload(ending.ending(mark)), run: &memory)
            memory?.changes.add(last)
            try settleUnresolved(&memory, options, db)
        }
        var result = memory?.changes.result() ?? SyncResult(entity: "")
        result.nextPage = mark.next
        return result
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
