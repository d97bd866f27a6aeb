/// A snapshot delivered as several payloads, such as the pages of a list.
///
/// ```swift
/// let run = PagedImport()
/// while let page = try await nextPage() {
///     try await Sync.changes(page, inEntity: "User", stack: stack, options: SyncOptions(payloadKind: .page(of: run)))
/// }
/// let result = try await run.finish()
/// ```
///
/// The sync of a page is a separate transaction. It deletes nothing, not even children that a nested list omits,
/// because a later page may contain them. ``finish()`` deletes the rows in scope that no page contains.
///
/// An import that is not finished, or in which a page failed, deletes nothing. If a page is a single object, not an
/// array, the import keeps the omitted rows of its entity. This does not apply if a predicate or a parent sets the
/// scope.
public final class PagedImport: Sendable {
    /// The parameters that all pages of a paged import share.
    package struct Parameters: Sendable {
        package var store: ObjectIdentifier
        package var entity: String
        package var predicate: RowPredicate?
        package var parent: SyncParent?
        package var operations: SyncOperations

        package init(
            store: ObjectIdentifier, entity: String, predicate: RowPredicate?, parent: SyncParent?,
            operations: SyncOperations
        ) {
            self.store = store
            self.entity = entity
            self.predicate = predicate
            self.parent = parent
            self.operations = operations
        }

        static func == (left: Parameters, right: Parameters) -> Bool {
            left.store == right.store && left.entity == right.entity && left.predicate == right.predicate
                && left.parent == right.parent && left.operations == right.operations
        }
    }

    /// A function that deletes the rows that no page contains. The sync of the first page provides it, because that
    /// sync has the store.
    package typealias Finalizer = @Sendable (PagedImport) async throws -> SyncResult

    private struct State {
        var importState = PagedImportState()
        var parameters: Parameters?
        var finalizer: Finalizer?
        var openPages = 0
        var hasFailed = false
        var isFinished = false
    }

    private let state = Locked(State())

    /// Creates a paged import without pages.
    public init() {}

    /// Deletes, in one transaction, the rows in scope that no page contains and the children that nested lists omit.
    ///
    /// - Returns: The change set of all pages and the deletions. It is empty if there are no pages.
    /// - Throws: ``SyncError`` `invalidOption` if a page failed, if a page is still being applied, or if the import has
    ///   already finished. Also errors of the deletions, such as `deletionLimitExceeded` or `deletionDenied`. The rows
    ///   of the pages stay.
    @discardableResult
    public func finish() async throws -> SyncResult {
        let finalizer = try state.withLock { state in
            if state.isFinished { throw SyncError(.invalidOption, "the paged import has already finished") }
            if state.openPages > 0 {
                throw SyncError(.invalidOption, "a page of the paged import is still being applied; await it first")
            }
            if state.hasFailed {
                throw SyncError(
                    .invalidOption, "a page of the paged import failed; nothing was deleted; start a new paged import")
            }
            state.isFinished = true
            return state.finalizer
        }
        return try await finalizer?(self) ?? SyncResult(entity: "")
    }

    // MARK: Pages

    /// Records that the sync of a page begins.
    ///
    /// - Throws: ``SyncError`` `invalidOption` if the import has finished, or if the parameters differ from those of
    ///   earlier pages.
    package func beginPage(_ parameters: Parameters, _ finalizer: @escaping Finalizer) throws {
        try state.withLock { state in
            if state.isFinished {
                throw SyncError(.invalidOption, "the paged import has already finished; start a new one")
            }
            if let first = state.parameters, !(first == parameters) {
                throw SyncError(
                    .invalidOption,
                    "all pages of a paged import must have the same store, entity, predicate, parent and operations",
                    entity: parameters.entity)
            }
            state.parameters = parameters
            state.finalizer = state.finalizer ?? finalizer
            state.openPages += 1
        }
    }

    package func endPage(succeeded: Bool) {
        state.withLock { state in
            state.openPages -= 1
            if !succeeded { state.hasFailed = true }
        }
    }

    /// Takes the state out, so that the sync of a page can change it. ``checkInState(_:)`` puts it back. Callers have
    /// exclusive write access to the store, so only one page at a time has the state.
    package func checkOutState() -> PagedImportState {
        state.withLock { state in
            defer { state.importState = PagedImportState() }
            return state.importState
        }
    }

    package func checkInState(_ importState: PagedImportState) { state.withLock { $0.importState = importState } }
}
