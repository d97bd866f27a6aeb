import SyncCore
import SyncStore

// Syncs of payload graphs, each in its own transaction.
extension StoreHost {
    /// Compares a payload graph with the stored rows and writes the diff, in one transaction.
    ///
    /// - Throws: ``SyncError``, `CancellationError`, or an error of the database. The store is then unchanged.
    func sync(_ payload: MappedPayload, _ request: SyncRequest) async throws -> SyncResult {
        try await writing { writer in try writer.sync(payload, request) }
    }

    /// Ends a paged import: applies a payload graph without records, which deletes the rows in scope that no page
    /// contains.
    ///
    /// - Returns: The changes of the whole import.
    func processRemovedListEntries(_ graph: PayloadGraph, _ run: PagedImport, _ request: SyncRequest) async throws
        -> SyncResult
    {
        try await writing { writer in
            try run.withState(writer, request) { state in
                state?.isEnding = true
                let last = try writer.sync(MappedPayload(graph), request, &state)
                state?.changes.add(last)
                try state?.changes.preservePending { try writer.pendingReferences(among: $0) }
                let result = state?.changes.result() ?? last
                state = nil
                return result
            }
        }
    }

    /// Syncs the chunks of one payload, in one transaction. A single chunk is applied like a whole payload, unless the
    /// payload is a page. Several chunks are applied like the pages of a paged import, and `ending` ends this import.
    ///
    /// - Parameters:
    ///   - next: A function that waits for the next chunk and returns it; nil after the last. If the function throws,
    ///     all chunks are rolled back.
    ///   - ending: A payload graph without records, which deletes the rows in scope that no chunk contains. Nil if the
    ///     payload is a page of the caller's paged import.
    /// - Returns: The changes of all chunks.
    /// - Throws: ``SyncError``, `CancellationError`, or an error of the database. The store is then unchanged.
    func sync(
        pieces next: @escaping @Sendable () throws -> GraphChunk?, ending: PayloadGraph?, _ request: SyncRequest
    ) async throws -> SyncResult {
        var request = request
        request.isChunked = true
        return try await writing { [request] writer in
            var first = try next()
            return try (request.options.payloadKind.run ?? .ofChunks()).withState(writer, request) { state in
                try writer.transaction(request) { session in
                    try ChunkWriter(session: session, writer: writer, ending: ending)
                        .apply(&first, then: next, run: &state)
                }
            }
        }
    }
}

extension StoreWriter {
    /// Compares a payload graph with the stored rows and writes the diff, in the current transaction if the writer is
    /// in one.
    func sync(_ payload: MappedPayload, _ request: SyncRequest) throws -> SyncResult {
        guard let run = request.options.payloadKind.run else {
            return try transaction(request) { try $0.apply(payload) }
        }
        return try run.withState(self, request) { state in
            let page = try sync(payload, request, &state)
            state?.changes.add(page)
            return page
        }
    }

    /// Applies a page or the end of a paged import. If the transaction is repeated, the sync begins again with the
    /// state that the import had before.
    fileprivate func sync(
        _ payload: MappedPayload, _ request: SyncRequest, _ state: inout PagedImportState?
    ) throws -> SyncResult {
        let before = repeatsPages ? state : nil
        return try transaction(request) { session in
            if let before { state = before }
            return try session.apply(payload, run: &state)
        }
    }
}

extension PagedImport {
    /// Passes the state of the import to `body`, and stores it afterwards. A dry run restores the previous state. If
    /// the row flags of earlier pages take too much memory, moves them out of memory first.
    fileprivate func withState<Result>(
        _ writer: any StoreWriter, _ request: SyncRequest, _ body: (inout PagedImportState?) throws -> Result
    ) throws -> Result {
        var state: PagedImportState? = checkOutState()
        var before: PagedImportState?
        defer { checkInState(before ?? state ?? PagedImportState()) }
        try state?.spillRowFlags(above: request.options.rowFlagLimit, to: writer.makeRowFlagStore)
        if request.isDryRun { before = state }
        return try body(&state)
    }
}

/// Applies the chunks of one payload, one after the other, in one transaction.
private struct ChunkWriter {
    /// The maximum number of pending references that the result of a whole payload lists, if keys are not collected.
    private static let unresolvedLimit = 10_000

    let session: SyncSession
    let writer: any StoreWriter
    let ending: PayloadGraph?

    private var options: SyncOptions { session.request.options }

    func apply(
        _ first: inout GraphChunk?, then next: () throws -> GraphChunk?, run state: inout PagedImportState?
    ) throws -> SyncResult {
        var chunk = first.take()
        if let only = chunk, only.isLast, ending != nil {
            state = nil
            return try session.apply(only.payload)
        }
        let quiet = session.withoutProgress
        var pagination = PaginationInfo()
        while let payload = chunk?.payload {
            chunk = nil
            pagination = payload.graph.page
            try spillRowFlags(&state)
            let page = try quiet.apply(payload, run: &state)
            state?.changes.add(page)
            if hasTooManyUnresolved(state) { try resolvePending(&state) }
            try session.request.cancellation.check()
            chunk = try next()
        }
        if let ending {
            state?.isEnding = true
            let last = try session.apply(MappedPayload(ending.ending(pagination)), run: &state)
            state?.changes.add(last)
            try resolvePending(&state)
        }
        var result = state?.changes.result() ?? SyncResult(entity: "")
        result.nextPage = pagination.next
        return result
    }

    /// Moves the row flags of earlier chunks out of memory if they take too much. The dry run of a page leaves the
    /// flags of the caller's import unchanged, so it keeps its own flags in memory.
    private func spillRowFlags(_ state: inout PagedImportState?) throws {
        if session.request.isDryRun && ending == nil { return }
        try state?.spillRowFlags(above: options.rowFlagLimit, to: writer.makeRowFlagStore)
    }

    /// Returns whether the result lists more than twice the maximum number of pending references. Checks are then rare
    /// enough to cost little.
    private func hasTooManyUnresolved(_ state: PagedImportState?) -> Bool {
        !options.collectsKeys && state?.changes.unresolvedCount ?? 0 > 2 * Self.unresolvedLimit
    }

    /// Removes references that are no longer pending. If keys are not collected, also removes references above the
    /// maximum number.
    private func resolvePending(_ state: inout PagedImportState?) throws {
        var remaining = options.collectsKeys ? Int.max : Self.unresolvedLimit
        try state?.changes.preservePending { references in
            let pending = try writer.pendingReferences(among: references).prefix(remaining)
            remaining -= pending.count
            return Array(pending)
        }
    }
}
