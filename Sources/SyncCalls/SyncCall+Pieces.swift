import Foundation
import SyncCore
import SyncStore

// A payload that is read in pieces: each is mapped while the one before is written.
extension SyncCall {
    /// Maps a payload piece by piece, and writes what differs.
    ///
    /// - Parameter total: The size of the payload in bytes, if it is known.
    nonisolated(nonsending) func changes<Chunks: AsyncSequence & Sendable>(
        chunks: Chunks, total: Int?, isDryRun: Bool
    ) async throws -> SyncResult where Chunks.Element: ContiguousBytes {
        switch options.pieces.transactions {
        case .one: try await changesAtOnce(chunks, total, isDryRun)
        case .onePerPiece where isDryRun: try await changesAtOnce(chunks, total, isDryRun)
        case .onePerPiece: try await changesOneByOne(chunks, total)
        }
    }

    // MARK: One transaction

    private nonisolated(nonsending) func changesAtOnce<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, _ total: Int?, _ isDryRun: Bool
    ) async throws -> SyncResult where Chunks.Element: ContiguousBytes {
        guard let run = options.payload.run, !isDryRun else {
            return try await write(chunks, total, isDryRun, ending: try ending)
        }
        try run.beginPage(page) { [self] run in try await sweep(run) }
        do {
            let result = try await write(chunks, total, isDryRun, ending: nil)
            run.endPage(succeeded: true)
            return result
        } catch {
            run.endPage(succeeded: false)
            throw error
        }
    }

    /// - Parameter ending: What ends the run that the pieces are; nil if they are part of a longer one.
    private nonisolated(nonsending) func write<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, _ total: Int?, _ isDryRun: Bool, ending: ChangePlan?
    ) async throws -> SyncResult where Chunks.Element: ContiguousBytes {
        let pieces = HandOver<PlanPiece>()
        let staging = try quiet.staging()
        return try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [self] in
                    do {
                        try await MappingThread.begin { _ in
                            try await map(chunks, total, with: staging) { try await pieces.put($0) }
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
                    pieces: { try pieces.take() }, ending: ending, request(isDryRun: isDryRun))
            }
        } onCancel: {
            pieces.finish(.failure(CancellationError()))
        }
    }

    // MARK: Several transactions

    private func changesOneByOne<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, _ total: Int?
    ) async throws -> SyncResult where Chunks.Element: ContiguousBytes {
        try await MappingThread.begin { _ in try await mapOneByOne(chunks, total) }
    }

    private nonisolated(nonsending) func mapOneByOne<Chunks: AsyncSequence>(
        _ chunks: Chunks, _ total: Int?
    ) async throws -> SyncResult where Chunks.Element: ContiguousBytes {
        let outer = options.payload.run
        let run = outer ?? SyncRun()
        var paged = self
        paged.options.payload = .page(of: run)
        let quiet = paged.quiet
        var results = MergedResults()
        var hasMore = false
        try await map(chunks, total, with: quiet.staging()) { piece in
            let result = try await quiet.changesHere { _ in piece.payload }
            hasMore = piece.payload.plan.page.hasMore
            results.add(result)
        }
        try Task.checkCancellation()
        // What the pages after this one have is not known.
        if outer == nil, hasMore { return results.merged() ?? SyncResult(entity: "") }
        return outer == nil ? try await run.finish() : results.merged() ?? SyncResult(entity: "")
    }

    // MARK: Mapping

    /// Gives each piece to `body`, which is awaited before the next is mapped.
    private nonisolated(nonsending) func map<Chunks: AsyncSequence>(
        _ chunks: Chunks, _ total: Int?, with staging: PayloadStaging, _ body: (PlanPiece) async throws -> Void
    ) async throws where Chunks.Element: ContiguousBytes {
        let progress = options.progress
        var pieces = try PieceStaging(staging, options: options) {
            progress?(PayloadProgress(.mapping, completed: $0, total: total))
        }
        for try await chunk in chunks {
            try Task.checkCancellation()
            var position = 0
            while let payload = try chunk.withUnsafeBytes({ bytes in
                var rest = bytes[position...]
                defer { position = rest.startIndex }
                return try pieces.next(from: &rest)
            }) {
                try await body(PlanPiece(payload, isLast: false))
            }
        }
        try Task.checkCancellation()
        try await body(PlanPiece(pieces.last(), isLast: true))
    }
}
