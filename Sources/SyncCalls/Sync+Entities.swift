public import Foundation
public import SyncCore

// Payloads of several entities.
extension Sync {
    /// Makes the stored rows of several entities what one JSON document says, in one transaction.
    ///
    /// ```swift
    /// // {"users": [{"id": 1, "company_id": 7}], "companies": [{"id": 7, "name": "Acme"}]}
    /// try await Sync.changes(data, entities: ["users": "User", "companies": "Company"], stack: stack)
    /// ```
    /// Each list speaks for the rows of its entity as if it were synced alone, and one object instead of a list
    /// only for itself; what they leave out is deleted once all of them are applied, so that they may refer to each
    /// other in any order. Every list must be there.
    ///
    /// - Parameters:
    ///   - json: UTF-8 JSON.
    ///   - entities: The entity of each list, by the keys that lead to it, with dots between them.
    ///   - options: ``SyncOptions/keyPath`` leads to the object with the lists.
    /// - Returns: What changed, of all entities.
    /// - Throws: ``SyncError`` `keyPathNotFound` for a list that is missing, `noRecords` if one has records and none can be
    ///   read, and what a sync of one entity throws. The store is then as it was.
    @discardableResult
    public static func changes(
        _ json: Data, entities: [String: String], stack: some SyncStack, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await SyncCall(entities, stack, operations, options).changes(json)
    }

    /// Makes the stored rows of several entities what one JSON value says. What `JSONSerialization` read becomes one with
    /// `JSONValue(any:)`.
    @discardableResult
    public static func changes(
        _ json: JSONValue, entities: [String: String], stack: some SyncStack, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await SyncCall(entities, stack, operations, options).changes { try $0.stage(json) }
    }

    /// What a sync of one document of several entities would change. Writes nothing.
    public static func plan(
        _ json: Data, entities: [String: String], stack: some SyncStack, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await SyncCall(entities, stack, operations, options).dryRun(json)
    }

    /// What a sync of one JSON value of several entities would change. Writes nothing.
    public static func plan(
        _ json: JSONValue, entities: [String: String], stack: some SyncStack, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await SyncCall(entities, stack, operations, options).dryRun { try $0.stage(json) }
    }

    /// Makes the stored rows of several entities what one document says that arrives in chunks; see
    /// ``changes(_:inEntity:stack:predicate:parent:relationship:operations:options:)-(Chunks,_,_,_,_,_,_,_)``.
    @discardableResult
    public nonisolated(nonsending) static func changes<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, entities: [String: String], stack: some SyncStack, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(collectsKeys: false)
    ) async throws -> SyncResult where Chunks.Element: ContiguousBytes {
        let call = try SyncCall(entities, stack, operations, options)
        return try await call.changes(chunks: chunks, total: nil, isDryRun: false)
    }

    /// Makes the stored rows of several entities what the document in a file says, read in pieces.
    @discardableResult
    public nonisolated(nonsending) static func changes(
        contentsOf file: URL, entities: [String: String], stack: some SyncStack, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(collectsKeys: false)
    ) async throws -> SyncResult {
        let call = try SyncCall(entities, stack, operations, options)
        let chunks = try FileBuffers(file)
        return try await call.changes(chunks: chunks, total: chunks.size, isDryRun: false)
    }
}

extension SyncCall {
    /// A call for a payload of several entities.
    ///
    /// - Throws: ``SyncError`` `invalidOption` if there are none.
    package init(
        _ entities: [String: String], _ stack: some SyncStack, _ operations: SyncOperations, _ options: SyncOptions
    ) throws {
        let lists = entities.sorted { $0.key < $1.key }.map { PayloadList(path: $0.key, entity: $0.value) }
        guard let first = lists.first else { throw SyncError(.invalidOption, "no list and no entity is given") }
        var options = options
        options.entities = lists
        self.init(first.entity, stack, nil, nil, nil, operations, options)
    }
}

// MARK: - Pages

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
    /// To apply pages one by one, see ``PagedImport``.
    ///
    /// - Parameter pages: UTF-8 JSON, each an array of records. Without a page nothing is changed.
    /// - Returns: What the whole run changed.
    /// - Throws: What the sequence throws, and what a sync of one payload throws: the rows of the pages before it stay.
    @discardableResult
    public nonisolated(nonsending) static func changes<Pages: AsyncSequence>(
        pages: Pages, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult where Pages.Element == Data {
        let run = PagedImport()
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
