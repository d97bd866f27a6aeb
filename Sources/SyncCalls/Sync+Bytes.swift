public import SyncCore

// JSON that arrives byte by byte.
extension Sync {
    /// Makes the stored rows of an entity what JSON says that arrives byte by byte.
    ///
    /// ```swift
    /// let (bytes, _) = try await URLSession.shared.bytes(from: url)
    /// try await Sync.changes(bytes, inEntity: "User", stack: stack)
    /// ```
    /// Chunks, where they can be had, are faster:
    /// ``changes(_:inEntity:stack:predicate:parent:relationship:operations:options:)-(Chunks,_,_,_,_,_,_,_)`` takes
    /// those, and says what holds for both.
    @discardableResult
    public nonisolated(nonsending) static func changes<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, inEntity entity: String, stack: some SyncStack, predicate: RecordPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(collectsKeys: false)
    ) async throws -> SyncResult where Bytes.Element == UInt8 {
        try await changes(
            GatheredBytes(bytes: bytes), inEntity: entity, stack: stack, predicate: predicate, parent: parent,
            relationship: relationship, operations: operations, options: options)
    }

    /// What a sync of JSON that arrives byte by byte would change. Writes nothing.
    public nonisolated(nonsending) static func plan<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, inEntity entity: String, stack: some SyncStack, predicate: RecordPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(collectsKeys: false)
    ) async throws -> SyncResult where Bytes.Element == UInt8 {
        try await plan(
            GatheredBytes(bytes: bytes), inEntity: entity, stack: stack, predicate: predicate, parent: parent,
            relationship: relationship, operations: operations, options: options)
    }

    /// Makes the stored rows of several entities what one document says that arrives byte by byte.
    @discardableResult
    public nonisolated(nonsending) static func changes<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, entities: [String: String], stack: some SyncStack, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(collectsKeys: false)
    ) async throws -> SyncResult where Bytes.Element == UInt8 {
        try await changes(
            GatheredBytes(bytes: bytes), entities: entities, stack: stack, operations: operations, options: options)
    }
}
