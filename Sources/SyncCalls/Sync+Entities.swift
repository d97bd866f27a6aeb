public import Foundation
public import SyncCore

// Payloads of several entities.
extension Sync {
    /// Inserts, updates and deletes rows so that several entities match one payload.
    ///
    /// ```swift
    /// // {"users": [{"id": 1, "company_id": 7}], "companies": [{"id": 7, "name": "Acme"}]}
    /// try await Sync.changes(data, inEntities: ["users": "User", "companies": "Company"], stack: stack)
    /// ```
    /// The scope of each list is the same as in a sync of that list alone. If the payload has a single record or null
    /// in place of a list, the sync deletes no omitted rows of that entity. The sync applies all lists before it
    /// deletes omitted rows. A record can therefore reference a record of a later list. A missing list is an error.
    ///
    /// - Parameters:
    ///   - payload: The payload. For the supported types, see
    ///     ``changes(_:inEntity:stack:predicate:parent:operations:options:)-(SyncPayloadConvertible,_,_,_,_,_,_)``.
    ///   - entities: The entity of the records in each list, by the key path of the list. The key path has dots between
    ///     keys.
    ///   - options: The options of the sync. ``SyncOptions/keyPath`` is the path of the object with the lists.
    /// - Returns: The changes of all entities.
    /// - Throws: ``SyncError`` `invalidOption` if `entities` is empty; `keyPathNotFound` if a list is missing;
    ///   `noRecords` if a list has records, but no record in the list has a readable key. Also the errors of a sync of
    ///   one entity. If the call throws an error, the store is unchanged, unless ``SyncOptions/commitsEachChunk`` is
    ///   set.
    @discardableResult
    public nonisolated(nonsending) static func changes(
        _ payload: some SyncPayloadConvertible, inEntities entities: [String: String], stack: some SyncStack,
        operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await SyncCall(entities, stack, operations, options).run(payload)
    }

    /// Computes the changes of a sync of several entities, and writes nothing.
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
    /// The sync writes each page in a separate transaction when the page arrives. After the last page, the sync deletes
    /// the rows in scope that no page describes. The sync also deletes children that nested lists omit, if no page
    /// describes these children. If the sequence or the sync of a page fails, or if the task is cancelled, the sync
    /// deletes no rows.
    ///
    /// ```swift
    /// let pages = AsyncThrowingStream { try await service.nextPage() }
    /// let result = try await Sync.changes(pages: pages, inEntity: "User", stack: stack)
    /// ```
    /// To apply pages one at a time, see ``PagedImport``.
    ///
    /// - Parameters:
    ///   - pages: Payloads of UTF-8 JSON, such as arrays of records. An empty sequence changes nothing.
    ///   - options: The options of the sync. ``SyncOptions/payloadKind`` is ignored.
    /// - Returns: The changes of all pages and of the final deletion.
    /// - Throws: The errors of the sequence, and of
    ///   ``changes(_:inEntity:stack:predicate:parent:operations:options:)-(SyncPayloadConvertible,_,_,_,_,_,_)``. If
    ///   the call throws an error, the rows of earlier pages stay.
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
