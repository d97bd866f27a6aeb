public import Foundation
public import SyncCore

// Payloads of several entities.
extension Sync {
    /// Inserts, updates and deletes rows so that several entities match one document, in one transaction.
    ///
    /// ```swift
    /// // {"users": [{"id": 1, "company_id": 7}], "companies": [{"id": 7, "name": "Acme"}]}
    /// try await Sync.changes(data, inEntities: ["users": "User", "companies": "Company"], stack: stack)
    /// ```
    /// Each list has the scope that it would have in a sync of its entity alone. A single object instead of a list
    /// deletes nothing.
    /// Omitted rows are deleted after all lists are applied, so lists may refer to each other in any order. A missing
    /// list is an error.
    ///
    /// - Parameters:
    ///   - payload: The document. See
    ///     ``changes(_:inEntity:stack:predicate:parent:operations:options:)-(SyncPayloadConvertible,_,_,_,_,_,_)``.
    ///   - entities: The name of the entity of each list, by the key path of the list, with dots between keys.
    ///   - options: ``SyncOptions/keyPath`` leads to the object with the lists.
    /// - Returns: The changes of all entities.
    /// - Throws: ``SyncError`` `keyPathNotFound` if a list is missing, `noRecords` if a list has records and none is
    ///   readable, and the errors of a sync of one entity. The store is then unchanged.
    @discardableResult
    public nonisolated(nonsending) static func changes(
        _ payload: some SyncPayloadConvertible, inEntities entities: [String: String], stack: some SyncStack,
        operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await SyncCall(entities, stack, operations, options).run(payload)
    }

    /// Computes what a sync of several entities would change, and writes nothing.
    public nonisolated(nonsending) static func plan(
        _ payload: some SyncPayloadConvertible, inEntities entities: [String: String], stack: some SyncStack,
        operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await SyncCall(entities, stack, operations, options).run(payload, isDryRun: true)
    }
}

extension SyncCall {
    /// Creates a call for a payload of several entities.
    ///
    /// - Throws: ``SyncError`` `invalidOption` if `entities` is empty.
    package init(
        _ entities: [String: String], _ stack: some SyncStack, _ operations: SyncOperations, _ options: SyncOptions
    ) throws {
        let lists = entities.sorted { $0.key < $1.key }.map { PayloadList(path: $0.key, entity: $0.value) }
        guard let first = lists.first else { throw SyncError(.invalidOption, "no lists and entities are given") }
        var options = options
        options.entities = lists
        self.init(first.entity, stack, nil, nil, operations, options)
    }
}

// MARK: - Pages

extension Sync {
    /// Inserts, updates and deletes rows so that the entity matches all pages together.
    ///
    /// Each page is applied in a transaction when it arrives. After the last page, rows in scope that no page contains
    /// are deleted. If the sequence throws or the task is cancelled, no row is deleted.
    ///
    /// ```swift
    /// let pages = AsyncThrowingStream { try await service.nextPage() }
    /// let result = try await Sync.changes(pages: pages, inEntity: "User", stack: stack)
    /// ```
    /// To apply pages one at a time, see ``PagedImport``.
    ///
    /// - Parameter pages: UTF-8 JSON, each an array of records. An empty sequence changes nothing.
    /// - Returns: The changes of all pages and of the final deletion.
    /// - Throws: The errors of the sequence, and of a sync of one payload. The rows of earlier pages stay.
    @discardableResult
    public nonisolated(nonsending) static func changes<Pages: AsyncSequence>(
        pages: Pages, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: SyncParent? = nil, operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult where Pages.Element == Data {
        let run = PagedImport()
        var options = options
        options.payloadKind = .page(of: run)
        for try await page in pages {
            try await changes(
                page, inEntity: entity, stack: stack, predicate: predicate, parent: parent, operations: operations,
                options: options)
        }
        try Task.checkCancellation()
        return try await run.finish()
    }
}
