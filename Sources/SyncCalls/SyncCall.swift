package import Foundation
package import SyncCore
package import SyncStore

/// The arguments of one call of `Sync.changes` or `Sync.plan`, except the payload.
package struct SyncCall: Sendable {
    package let entity: String
    let store: any StoreHost
    let predicate: RowPredicate?
    package let parent: SyncParent?
    let operations: SyncOperations
    package var options: SyncOptions
    /// Whether the end of a paged import keeps the rows that no page contains, because its payload is a delta.
    ///
    /// The calls for the chunks of one payload share it, because the last chunk may have the pagination information.
    var keepsOmittedRows: Locked<Bool>?

    package init(
        _ entity: String, _ stack: some SyncStack, _ predicate: RowPredicate?, _ parent: SyncParent?,
        _ operations: SyncOperations, _ options: SyncOptions
    ) {
        self.entity = entity
        store = stack.host.store
        self.predicate = predicate
        self.parent = parent
        self.operations = operations
        self.options = options
    }

    package var model: SyncModel { store.model }

    /// Returns the request that the call sends to the store.
    func request(isDryRun: Bool) -> SyncRequest {
        SyncRequest(predicate: predicate, options: options, isDryRun: isDryRun)
    }

    /// Maps a payload on the caller's thread, before the first suspension, and writes the diff. A dry run only computes
    /// the diff.
    nonisolated(nonsending) func changesHere(
        isDryRun: Bool, _ stage: (PayloadGraphBuilder) throws -> MappedPayload
    ) async throws -> SyncResult {
        try await asPage(isDryRun: isDryRun) {
            try await store.sync(stage(graphBuilder()), request(isDryRun: isDryRun))
        }
    }

    /// Maps a payload on a ``MappingThread``, and writes the diff. A dry run only computes the diff.
    nonisolated(nonsending) func changes(
        isDryRun: Bool, _ stage: @Sendable (PayloadGraphBuilder) throws -> MappedPayload
    ) async throws -> SyncResult {
        try await asPage(isDryRun: isDryRun) {
            try await store.sync(MappingThread.run { try stage(graphBuilder()) }, request(isDryRun: isDryRun))
        }
    }

    /// Maps a payload of bytes, and writes the diff. A dry run only computes the diff.
    package nonisolated(nonsending) func changes(_ json: Data, isDryRun: Bool) async throws -> SyncResult {
        try await changes(isDryRun: isDryRun) { try $0.map(json, options: options) }
    }

    /// Runs a sync as a page, if the payload is a page of a paged import. A dry run has the checks of a page, but does
    /// not change the import.
    private nonisolated(nonsending) func asPage(
        isDryRun: Bool, _ body: nonisolated(nonsending) () async throws -> SyncResult
    ) async throws -> SyncResult {
        guard let run = options.payloadKind.run else { return try await body() }
        if isDryRun {
            try run.checkPage(page)
            return try await body()
        }
        try run.beginPage(page, finalizer)
        do {
            let result = try await body()
            run.endPage(succeeded: true)
            return result
        } catch {
            run.endPage(succeeded: false)
            throw error
        }
    }

    // MARK: In the caller's transaction

    /// Maps a payload and writes the diff. A dry run only computes the diff.
    package func changes(
        by writer: any StoreWriter, isDryRun: Bool, _ stage: (PayloadGraphBuilder) throws -> MappedPayload
    ) throws -> SyncResult {
        guard options.payloadKind.run == nil else {
            throw SyncError(
                .invalidOption,
                "a page of a paged import cannot be synced inside the caller's transaction, since a rollback "
                    + "would lose the page; call it without 'in: db'")
        }
        return try writer.sync(stage(graphBuilder()), request(isDryRun: isDryRun))
    }

    /// Maps a payload of bytes and writes the diff. A dry run only computes the diff.
    package func changes(_ json: Data, by writer: any StoreWriter, isDryRun: Bool) throws -> SyncResult {
        try changes(by: writer, isDryRun: isDryRun) { try $0.map(json, options: options) }
    }

    package func graphBuilder() throws -> PayloadGraphBuilder {
        try PayloadGraphBuilder(
            inEntity: entity, of: store.model, parent: parent, operations: operations, options: options,
            keeping: store.capabilities)
    }

    /// A copy of the call that reports no progress, for one chunk of a payload.
    var withoutProgress: SyncCall {
        var call = self
        call.options.progress = nil
        return call
    }

    // MARK: Paged imports

    /// The entity of the payload. For a payload of several entities, the key path and the entity of each list.
    private var name: String {
        options.entities.isEmpty
            ? entity : options.entities.map { "\($0.path.joined(separator: "."))=\($0.entity)" }.joined(separator: " ")
    }

    var page: PagedImport.Parameters {
        PagedImport.Parameters(
            store: ObjectIdentifier(store), entity: name, predicate: predicate, parent: parent,
            operations: operations)
    }

    /// The closure that ends the paged import of this call. The options would retain the import, which retains the
    /// closure, so the closure gets the import as its argument.
    private var finalizer: PagedImport.Finalizer {
        var call = self
        call.options.payloadKind = .automatic
        return { [call] run in
            var call = call
            call.options.payloadKind = .page(of: run)
            return try await call.processRemovedListEntries(run)
        }
    }

    /// Ends a paged import: applies a payload without records, which deletes the rows in scope that no page contains.
    func processRemovedListEntries(_ run: PagedImport) async throws -> SyncResult {
        try await store.processRemovedListEntries(ending, run, request(isDryRun: false))
    }

    /// The payload graph of a payload without records, which ends a paged import.
    var ending: PayloadGraph {
        get throws {
            var last = self
            if last.options.payloadKind.run != nil {
                last.options.payloadKind = keepsOmittedRows?.value == true ? .delta : .snapshot
            }
            return try last.graphBuilder().planWithoutRecords()
        }
    }
}

// MARK: - Chunks

// Payloads that are read in chunks. The sync maps each chunk while it writes the previous one.
extension SyncCall {
    /// Maps a payload chunk by chunk and writes the diff. A dry run only computes the diff.
    ///
    /// - Parameter total: The size of the payload in bytes; nil if it is not known.
    nonisolated(nonsending) func changes<Chunks: AsyncSequence & Sendable>(
        chunks: Chunks, total: Int?, isDryRun: Bool
    ) async throws -> SyncResult where Chunks.Element: ContiguousBytes {
        var call = self
        if options.resultDetail == .automatic { call.options.resultDetail = .counts }
        if options.commitsEachChunk, !isDryRun { return try await call.changesOneByOne(chunks, total) }
        return try await call.changesAtOnce(chunks, total, isDryRun)
    }

    // MARK: One transaction

    private nonisolated(nonsending) func changesAtOnce<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, _ total: Int?, _ isDryRun: Bool
    ) async throws -> SyncResult where Chunks.Element: ContiguousBytes {
        let isPage = options.payloadKind.run != nil
        return try await asPage(isDryRun: isDryRun) {
            try await write(chunks, total, isDryRun, ending: isPage ? nil : ending)
        }
    }

    /// Maps the chunks in a task, and passes them to the thread of the database, which writes them in one transaction.
    ///
    /// - Parameter ending: The payload graph that ends the import of the chunks; nil if the payload is a page of the
    ///   caller's paged import.
    private nonisolated(nonsending) func write<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, _ total: Int?, _ isDryRun: Bool, ending: PayloadGraph?
    ) async throws -> SyncResult where Chunks.Element: ContiguousBytes {
        let pieces = BlockingChannel<GraphChunk>()
        let builder = try withoutProgress.graphBuilder()
        return try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [self] in
                    do {
                        try await MappingThread.begin { _ in
                            try await map(chunks, total, with: builder) { try await pieces.send($0) }
                        }
                        pieces.finish(.success(()))
                    } catch {
                        pieces.finish(.failure(error))
                    }
                }
                defer {
                    pieces.close()
                    group.cancelAll()
                }
                return try await store.sync(
                    pieces: { try pieces.receive() }, ending: ending, request(isDryRun: isDryRun))
            }
        } onCancel: {
            pieces.finish(.failure(CancellationError()))
        }
    }

    // MARK: Several transactions

    private nonisolated(nonsending) func changesOneByOne<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, _ total: Int?
    ) async throws -> SyncResult where Chunks.Element: ContiguousBytes {
        // The payload is a page as a whole, so that unreadable bytes after a committed chunk fail the page.
        try await asPage(isDryRun: false) {
            try await MappingThread.begin { _ in try await mapOneByOne(chunks, total) }
        }
    }

    private nonisolated(nonsending) func mapOneByOne<Chunks: AsyncSequence>(
        _ chunks: Chunks, _ total: Int?
    ) async throws -> SyncResult where Chunks.Element: ContiguousBytes {
        let outer = options.payloadKind.run
        let run = outer ?? .ofChunks()
        var paged = self
        paged.options.payloadKind = .page(of: run)
        let keepsOmittedRows = Locked(!options.payloadKind.isSnapshot)
        if outer == nil { paged.keepsOmittedRows = keepsOmittedRows }
        let quiet = paged.withoutProgress
        var results = ResultAccumulator()
        try await map(chunks, total, with: quiet.graphBuilder()) { piece in
            // If the payload is one page of a list, other pages may contain any row that it omits.
            if piece.payload.graph.page.isPart { keepsOmittedRows.withLock { $0 = true } }
            results.add(try await quiet.changesHere(isDryRun: false) { _ in piece.payload })
        }
        try Task.checkCancellation()
        let merged = results.merged() ?? SyncResult(entity: "")
        guard outer == nil else { return merged }
        var result = try await run.finish()
        result.nextPage = merged.nextPage
        return result
    }

    // MARK: Mapping

    /// Maps the payload and calls `body` with each chunk. Maps the next chunk after `body` returns.
    private nonisolated(nonsending) func map<Chunks: AsyncSequence>(
        _ chunks: Chunks, _ total: Int?, with builder: PayloadGraphBuilder, _ body: (GraphChunk) async throws -> Void
    ) async throws where Chunks.Element: ContiguousBytes {
        let progress = options.progress
        var pieces = try ChunkedGraphBuilder(builder, options: options) {
            progress?(SyncProgress(.mapping, completed: $0, total: total))
        }
        for try await chunk in chunks {
            try Task.checkCancellation()
            var position = 0
            while let payload = try chunk.withUnsafeBytes({ bytes in
                var rest = bytes[position...]
                defer { position = rest.startIndex }
                return try pieces.next(from: &rest)
            }) {
                try await body(GraphChunk(payload, isLast: false))
            }
        }
        try Task.checkCancellation()
        try await body(GraphChunk(pieces.last(), isLast: true))
    }
}
