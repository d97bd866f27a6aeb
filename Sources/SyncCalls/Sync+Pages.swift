public import Foundation
public import SyncCore

extension Sync {
    /// Makes the stored rows of an entity what all pages together say.
    ///
    /// Every page is applied in a transaction of its own as it arrives; what none of them mentions is deleted at the
    /// end, and only if every page arrived. If the sequence throws or the task is cancelled, nothing is deleted.
    ///
    /// ```swift
    /// let pages = AsyncThrowingStream { try await service.nextPage() }
    /// let result = try await Sync.changes(pages: pages, inEntity: "User", stack: stack)
    /// ```
    /// To apply pages one by one, see ``SyncRun``.
    ///
    /// - Parameter pages: UTF-8 JSON, each an array of records. Without a page nothing is changed.
    /// - Returns: What the whole run changed.
    /// - Throws: What the sequence throws, and what a sync of one payload throws: the rows of the pages before it stay.
    @discardableResult
    public nonisolated(nonsending) static func changes<Pages: AsyncSequence>(
        pages: Pages, inEntity entity: String, stack: some SyncStack, predicate: RecordPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult where Pages.Element == Data {
        let run = SyncRun()
        var options = options
        options.payload = .page(of: run)
        for try await page in pages {
            try await changes(
                page, inEntity: entity, stack: stack, predicate: predicate, parent: parent, relationship: relationship,
                operations: operations, options: options)
        }
        try Task.checkCancellation()
        return try await run.finish()
    }
}
