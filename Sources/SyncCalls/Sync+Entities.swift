public import Foundation
public import SyncCore

// Payloads of several entities.
extension Sync {
    /// Inserts, updates and deletes rows so that several entities match one document.
    ///
    /// ```swift
    /// // {"users": [{"id": 1, "company_id": 7}], "companies": [{"id": 7, "name": "Acme"}]}
    /// try await Sync.changes(data, inEntities: ["users": "User", "companies": "Company"], stack: stack)
    /// ```
    /// Each list has the scope that it would have in a sync of its entity alone. A single object instead of a list has
    /// no scope, so the sync keeps the omitted rows of its entity. The sync deletes omitted rows after it has applied
    /// all lists. So a record may reference a row that a later list has. A missing list is an error.
    ///
    /// - Parameters:
    ///   - payload: The document. See
    ///     ``changes(_:inEntity:stack:predicate:parent:operations:options:)-(SyncPayloadConvertible,_,_,_,_,_,_)``.
    ///   - entities: The key path of each list, with dots between keys, and the entity of its records.
    ///   - options: The options of the sync. ``SyncOptions/keyPath`` is the path of the object with the lists.
    /// - Returns: The changes of all entities.
    /// - Throws: ``SyncError`` `keyPathNotFound` if a list is missing, `noRecords` if a list has records but none with
    ///   a readable key, and the errors of a sync of one entity. The store is then unchanged, unless
    ///   ``SyncOptions/commitsEachChunk`` is set.
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
        guard let first = lists.first else {
            throw SyncError(.invalidOption, "'entities' is empty; name the entity of at least one list")
        }
        var options = options
        options.entities = lists
        self.init(first.entity, stack, nil, nil, operations, options)
    }
}

// MARK: - Pages

extension Sync {
    /// Inserts, updates and deletes rows so that the entity matches all pages together.
    ///
    /// The sync writes each page in its own transaction when the page arrives. After the last page, it deletes the rows
    /// in scope that no page contains, and the children that nested lists omit. If the sequence throws or the task is
    /// cancelled, it deletes no rows.
    ///
    /// ```swift
    /// let pages = AsyncThrowingStream { try await service.nextPage() }
    /// let result = try await Sync.changes(pages: pages, inEntity: "User", stack: stack)
    /// ```
    /// To apply pages one at a time, see ``PagedImport``.
    ///
    /// - Parameter pages: Payloads of UTF-8 JSON, such as arrays of records. An empty sequence changes nothing.
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
