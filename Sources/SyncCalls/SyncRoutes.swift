import SyncCore
import SyncStore

// The ways from a plan to the rows.
extension StoreHost {
    /// Compares a plan with the stored rows and writes the difference, in one transaction.
    ///
    /// - Throws: ``SyncError``, `CancellationError`, or what the database says; the store is then as it was.
    func sync(_ payload: MappedPayload, _ request: SyncRequest) async throws -> SyncResult {
        try await writing { writer in try writer.sync(payload, request) }
    }

    /// Ends a run: applies a plan without records, from which all rows that the run's pages mentioned are exempt.
    ///
    /// - Returns: What the whole run changed.
    func sweep(_ plan: PayloadGraph, _ run: PagedImport, _ request: SyncRequest) async throws -> SyncResult {
        try await writing { writer in
            try run.remembering(isDryRun: false) { memory in
                memory?.isEnding = true
                let last = try writer.transaction(request) { try $0.apply(MappedPayload(plan), run: &memory) }
                memory?.changes.add(last)
                try memory?.changes.preservePending { try writer.waiting($0) }
                return memory?.changes.result() ?? last
            }
        }
    }

    /// Syncs the pieces of one payload, in one transaction. A payload of one piece is applied as it is; the pieces of
    /// a longer one are pages of a run, which `ending` ends.
    ///
    /// - Parameters:
    ///   - next: Waits for the next piece. What it throws undoes all of them.
    ///   - ending: A plan without records, from which all rows that pieces mention are exempt; nil if the pieces are
    ///     pages of a run of the caller's.
    /// - Returns: What all pieces changed.
    /// - Throws: ``SyncError``, `CancellationError`, or what the database says; the store is then as it was.
    func sync(
        pieces next: @escaping @Sendable () throws -> GraphChunk?, ending: PayloadGraph?, _ request: SyncRequest
    ) async throws -> SyncResult {
        var request = request
        request.isInPieces = true
        return try await writing { [request] writer in
            var first = try next()
            return try (request.options.payload.run ?? PagedImport()).remembering(isDryRun: request.isDryRun) {
                memory in
                try writer.transaction(request) { session in
                    try PieceWriting(session: session, writer: writer, ending: ending)
                        .apply(&first, then: next, run: &memory)
                }
            }
        }
    }
}

extension StoreWriter {
    /// Compares a plan with the stored rows and writes the difference, in the transaction that the writer is in, if it is in one.
    func sync(_ payload: MappedPayload, _ request: SyncRequest) throws -> SyncResult {
        guard let run = request.options.payload.run else { return try transaction(request) { try $0.apply(payload) } }
        return try run.remembering(isDryRun: request.isDryRun) { memory in
            let page = try transaction(request) { try $0.apply(payload, run: &memory) }
            memory?.changes.add(page)
            return page
        }
    }
}

extension PagedImport {
    /// Gives `body` the memory of the run, and the run what became of it.
    fileprivate func remembering<Result>(
        isDryRun: Bool, _ body: (inout PagedImportState?) throws -> Result
    ) rethrows -> Result {
        var memory: PagedImportState? = take()
        let before = isDryRun ? memory : nil
        defer { put(before ?? memory ?? PagedImportState()) }
        return try body(&memory)
    }
}

/// Pieces of one payload, applied one after the other in one transaction.
private struct PieceWriting {
    /// How many unresolved references the result of a payload in pieces lists where keys are not collected.
    private static let unresolvedLimit = 10_000

    let session: SyncSession
    let writer: any StoreWriter
    let ending: PayloadGraph?

    private var options: SyncOptions { session.request.options }

    func apply(
        _ first: inout GraphChunk?, then next: () throws -> GraphChunk?, run memory: inout PagedImportState?
    ) throws -> SyncResult {
        var piece = first.take()
        if let only = piece, only.isLast, ending != nil {
            memory = nil
            return try session.apply(only.payload)
        }
        let quiet = session.quiet
        var mark = PaginationInfo()
        while let payload = piece?.payload {
            piece = nil
            mark = payload.plan.page
            let page = try quiet.apply(payload, run: &memory)
            memory?.changes.add(page)
            if hasTooManyUnresolved(memory) { try resolvePending(&memory) }
            try Task.checkCancellation()
            piece = try next()
        }
        if let ending {
            memory?.isEnding = true
            let last = try session.apply(MappedPayload(ending.ending(mark)), run: &memory)
            memory?.changes.add(last)
            try resolvePending(&memory)
        }
        var result = memory?.changes.result() ?? SyncResult(entity: "")
        result.nextPage = mark.next
        return result
    }

    /// Whether so many references came since they were last looked at that looking again is little beside them.
    private func hasTooManyUnresolved(_ memory: PagedImportState?) -> Bool {
        !options.collectsKeys && memory?.changes.unresolvedCount ?? 0 > 2 * Self.unresolvedLimit
    }

    /// Forgets references that were resolved since, and where keys are not collected, those too many.
    private func resolvePending(_ memory: inout PagedImportState?) throws {
        var room = options.collectsKeys ? Int.max : Self.unresolvedLimit
        try memory?.changes.preservePending { references in
            let waiting = try writer.waiting(references).prefix(room)
            room -= waiting.count
            return Array(waiting)
        }
    }
}
