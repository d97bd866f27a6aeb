import SyncCore
import SyncStore

// The routes from a payload graph to the rows.
extension StoreHost {
    /// Compares a payload graph with the stored rows and writes the diff, in one transaction.
    ///
    /// - Throws: ``SyncError``, `CancellationError`, or an error of the database. The store is then unchanged.
    func sync(_ payload: MappedPayload, _ request: SyncRequest) async throws -> SyncResult {
        try await writing { writer in try writer.sync(payload, request) }
    }

    /// Ends a paged import: deletes the rows in scope that no page mentioned, by applying a payload graph without
    /// records.
    ///
    /// - Returns: The changes of the whole import.
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

    /// Syncs the chunks of one payload, in one transaction. A payload of one chunk is applied directly. Several chunks
    /// are pages of a paged import, which `ending` ends.
    ///
    /// - Parameters:
    ///   - next: Waits for the next chunk. An error that it throws rolls all chunks back.
    ///   - ending: A payload graph without records, which deletes the rows in scope that no chunk mentioned; nil if the
    ///     chunks belong to the caller's paged import.
    /// - Returns: The changes of all chunks.
    /// - Throws: ``SyncError``, `CancellationError`, or an error of the database. The store is then unchanged.
    func sync(
        pieces next: @escaping @Sendable () throws -> GraphChunk?, ending: PayloadGraph?, _ request: SyncRequest
    ) async throws -> SyncResult {
        var request = request
        request.isInPieces = true
        return try await writing { [request] writer in
            var first = try next()
            return try (request.options.payloadKind.run ?? PagedImport()).remembering(isDryRun: request.isDryRun) {
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
    /// Compares a payload graph with the stored rows and writes the diff, in the current transaction if the writer is
    /// in one.
    func sync(_ payload: MappedPayload, _ request: SyncRequest) throws -> SyncResult {
        guard let run = request.options.payloadKind.run else { return try transaction(request) { try $0.apply(payload) } }
        return try run.remembering(isDryRun: request.isDryRun) { memory in
            let page = try transaction(request) { try $0.apply(payload, run: &memory) }
            memory?.changes.add(page)
            return page
        }
    }
}

extension PagedImport {
    /// Passes the state of the import to `body`, and stores it afterwards. A dry run restores the previous state.
    fileprivate func remembering<Result>(
        isDryRun: Bool, _ body: (inout PagedImportState?) throws -> Result
    ) rethrows -> Result {
        var memory: PagedImportState? = take()
        let before = isDryRun ? memory : nil
        defer { put(before ?? memory ?? PagedImportState()) }
        return try body(&memory)
    }
}

/// Applies the chunks of one payload, one after the other, in one transaction.
private struct PieceWriting {
    /// The most pending references in the result of a payload in chunks, if keys are not collected.
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

    /// Whether so many references were added since the last check that another check costs little in comparison.
    private func hasTooManyUnresolved(_ memory: PagedImportState?) -> Bool {
        !options.collectsKeys && memory?.changes.unresolvedCount ?? 0 > 2 * Self.unresolvedLimit
    }

    /// Removes references that were resolved since, and those above the limit if keys are not collected.
    private func resolvePending(_ memory: inout PagedImportState?) throws {
        var room = options.collectsKeys ? Int.max : Self.unresolvedLimit
        try memory?.changes.preservePending { references in
            let waiting = try writer.waiting(references).prefix(room)
            room -= waiting.count
            return Array(waiting)
        }
    }
}
