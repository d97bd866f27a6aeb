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
/// Each page is applied in a separate transaction and deletes nothing, not even children that a list omits, because a
/// later page may contain them. ``finish()`` deletes the rows in scope that no page mentioned.
///
/// An import that is not finished deletes nothing. The same holds if a page failed. Pages that are a single object
/// instead of a list delete no rows of the entity, unless a predicate or a parent sets the scope.
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

    /// Deletes the rows that no page mentioned. The first page sets it, because it has the store.
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

    /// Deletes, in one transaction, the rows in scope that no page mentioned and the children that lists omitted.
    ///
    /// - Returns: The change set of all pages and the deletions. It is empty if there are no pages.
    /// - Throws: ``SyncError`` `invalidOption` if a page failed or is still being applied, or if the import is finished
    ///   already. Other errors come from the deletions, such as `deletionLimitExceeded` or `deletionDenied`; the rows of the
    ///   pages stay.
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

    /// Begins a page.
    ///
    /// - Throws: ``SyncError`` `invalidOption` if the parameters differ from those of earlier pages.
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

    /// Returns the state for changes; ``checkInState(_:)`` stores it again. Callers hold the store's write access, so only one
    /// page at a time has it.
    package func checkOutState() -> PagedImportState {
        state.withLock { state in
            defer { state.importState = PagedImportState() }
            return state.importState
        }
    }

    package func checkInState(_ importState: PagedImportState) { state.withLock { $0.importState = importState } }
}
