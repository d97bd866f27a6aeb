package import SyncCore
package import SyncStore

/// The writer of a store in memory. It changes a copy of the contents, and keeps it if a transaction succeeds.
package final class MemoryWriter {
    /// The error of a transaction that must be repeated, such as a conflict with another transaction.
    package struct SerializationFailure: Error {
        package init() {}
    }

    private let stack: MemoryStack
    private let cancellation: CancellationFlag
    /// The session of the running transaction; nil if there is none.
    private var session: MemorySession?

    init(_ stack: MemoryStack, _ cancellation: CancellationFlag) {
        self.stack = stack
        self.cancellation = cancellation
    }

    /// Runs writes in a transaction, or in a savepoint if the writer is in a transaction. If they throw an error, they
    /// are undone.
    package func transaction<Result>(isDryRun: Bool = false, _ body: (MemorySession) throws -> Result) throws -> Result
    {
        if let session {
            let before = session.contents
            do {
                let result = try body(session)
                if isDryRun { session.contents = before }
                return result
            } catch {
                session.contents = before
                throw error
            }
        }
        let new = MemorySession(stack.contents)
        session = new
        defer { session = nil }
        let result = try body(new)
        if !isDryRun { stack.contents = new.contents }
        return result
    }
}

extension MemoryWriter: StoreWriter {
    package var repeatsPages: Bool { true }

    package var reader: any StoreReader { MemoryReader { self.session?.contents ?? self.stack.contents } }

    package func transaction(_ request: SyncRequest, _ body: (SyncSession) throws -> SyncResult) throws -> SyncResult {
        let isNested = session != nil
        var request = request
        let (own, given) = (cancellation, request.cancellation)
        request.cancellation = CancellationFlag { own.isCancelled || given.isCancelled }
        while true {
            do {
                let result = try transaction(isDryRun: request.isDryRun) { session in
                    let result = try body(SyncSession(stack.wrapped(session), stack.model.compiled, request))
                    try request.cancellation.check()
                    return result
                }
                if !request.isDryRun, !isNested { stack.feed.publish(result) }
                return result
            } catch is SerializationFailure where !isNested && !request.isChunked {
                continue
            }
        }
    }

    package func pendingReferences(among references: [SyncResult.Link]) throws -> [SyncResult.Link] {
        let contents = session?.contents ?? stack.contents
        let pending = Set(contents.sortedPendingReferences.map { contents.link($0.reference) })
        return references.filter { pending.contains($0) }
    }

    package func deleteAllRows() throws {
        try transaction { session in session.contents.deleteAllRows() }
    }

    package func makeRowFlagStore() -> any RowFlagStore { MemoryRowFlags() }
}

/// Row flags in a dictionary, in place of those that a database keeps outside memory.
private final class MemoryRowFlags: RowFlagStore {
    private let known = Locked<[StoredRow: RowFlags]>([:])

    func add(_ flags: RowFlagTable) {
        known.withLock { known in flags.forEach { row, flags in known[row, default: []].formUnion(flags) } }
    }

    func flags(of row: StoredRow) -> RowFlags { known.withLock { $0[row] ?? [] } }
}

extension CancellationFlag {
    fileprivate var isCancelled: Bool {
        do {
            try check()
            return false
        } catch {
            return true
        }
    }
}

extension MemoryContents {
    /// Returns a pending reference in the form of results.
    func link(_ reference: PendingReference) -> SyncResult.Link {
        let owner = primaryKey(of: reference.owner) ?? reference.owner.key
        return SyncResult.Link(
            entity: model.entities[reference.ownerEntity].name,
            key: owner.recordKey(model.keyType(of: reference.ownerEntity)), relationship: reference.relationship,
            target: reference.target.recordKey(model.keyType(of: reference.targetEntity)))
    }
}
