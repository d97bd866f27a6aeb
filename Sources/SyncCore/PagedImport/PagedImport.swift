/// One snapshot that arrives in several payloads, such as the pages of a list.
///
/// ```swift
/// let run = PagedImport()
/// while let page = try await nextPage() {
///     try await Sync.changes(page, inEntity: "User", stack: stack, options: SyncOptions(payload: .page(of: run)))
/// }
/// let result = try await run.finish()
/// ```
///
/// Every page is applied in a transaction of its own and deletes nothing, not even children that a list leaves out: a
/// later page may mention them. ``finish()`` deletes what none did. A run that is not finished, or one of whose pages
/// failed, deletes nothing. Nor do pages that are one object instead of a list delete rows of the entity, unless a
/// predicate or a parent says what they speak for.
public final class PagedImport: Sendable {
    /// What all pages of a run have in common.
    package struct Parameters: Sendable {
        package var store: ObjectIdentifier
        package var entity: String
        package var predicate: RowPredicate?
        package var parent: (entity: String, id: JSONValue)?
        package var relationship: String?
        package var operations: SyncOperations

        package init(
            store: ObjectIdentifier, entity: String, predicate: RowPredicate?,
            parent: (entity: String, id: JSONValue)?, relationship: String?, operations: SyncOperations
        ) {
            self.store = store
            self.entity = entity
            self.predicate = predicate
            self.parent = parent
            self.relationship = relationship
            self.operations = operations
        }

        static func == (left: Parameters, right: Parameters) -> Bool {
            left.store == right.store && left.entity == right.entity && left.predicate == right.predicate
                && left.parent?.entity == right.parent?.entity && left.parent?.id == right.parent?.id
                && left.relationship == right.relationship && left.operations == right.operations
        }
    }

    /// Deletes what no page mentioned; made by the first page, which knows the store.
    package typealias Finalizer = @Sendable (PagedImport) async throws -> SyncResult

    private struct State {
        var memory = PagedImportState()
        var call: Parameters?
        var sweep: Finalizer?
        var openPages = 0
        var hasFailed = false
        var isFinished = false
    }

    private let state = Locked(State())

    /// A run without pages yet.
    public init() {}

    /// Deletes the rows in scope that no page mentioned, and the children that lists left out, in one transaction.
    ///
    /// - Returns: What the whole run changed. A run without pages changes nothing.
    /// - Throws: ``SyncError`` `invalidOption` if a page failed or is still being applied, or the run is finished
    ///   already; what deleting throws, such as `deletionGuard` or `deletionDenied`: the rows of the pages stay.
    @discardableResult
    public func finish() async throws -> SyncResult {
        let sweep = try state.withLock { state in
            if state.isFinished { throw SyncError(.invalidOption, "the run is finished already") }
            if state.openPages > 0 { throw SyncError(.invalidOption, "a page of the run is still being applied") }
            if state.hasFailed {
                throw SyncError(
                    .invalidOption, "a page of the run failed, so it is not known what is missing; nothing was deleted")
            }
            state.isFinished = true
            return state.sweep
        }
        return try await sweep?(self) ?? SyncResult(entity: "")
    }

    // MARK: Pages

    /// - Throws: ``SyncError`` `invalidOption` if the page is of another call than the pages before it.
    package func beginPage(_ call: Parameters, _ sweep: @escaping Finalizer) throws {
        try state.withLock { state in
            if state.isFinished { throw SyncError(.invalidOption, "the run is finished; begin another one") }
            if let first = state.call, !(first == call) {
                throw SyncError(
                    .invalidOption,
                    "all pages of a run must have the same store, entity, predicate, parent and operations",
                    entity: call.entity)
            }
            state.call = call
            state.sweep = state.sweep ?? sweep
            state.openPages += 1
        }
    }

    package func endPage(succeeded: Bool) {
        state.withLock { state in
            state.openPages -= 1
            if !succeeded { state.hasFailed = true }
        }
    }

    /// Hands the memory out to be changed; ``put(_:)`` gives it back. Called while the store is being written, so by
    /// one page at a time.
    package func take() -> PagedImportState {
        state.withLock { state in
            defer { state.memory = PagedImportState() }
            return state.memory
        }
    }

    package func put(_ memory: PagedImportState) { state.withLock { $0.memory = memory } }
}
