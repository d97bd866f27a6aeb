/// A snapshot that is delivered as several payloads, such as the pages of a list.
///
/// ```swift
/// let run = PagedImport()
/// while let page = try await nextPage() {
///     try await Sync.changes(page, inEntity: "User", stack: stack, options: SyncOptions(payloadKind: .page(of: run)))
/// }
/// let result = try await run.finish()
/// ```
///
/// The sync of a page runs in a separate transaction and deletes no rows. After the last page, ``finish()`` deletes the
/// rows in scope that no page contains. The call also deletes children that a nested list omits and that no page
/// contains. The syncs of all pages must have the same store, entity, predicate, parent and operations.
///
/// If a page failed, the import deletes no rows and takes no further pages. The import also keeps omitted rows in these
/// cases:
///
/// - A page is a single record outside an array, and no predicate or parent sets the scope. The import keeps the
///   omitted rows of the entity, and reports the diagnostic ``SyncDiagnostic/Kind/deletionsSkipped``.
/// - A root record of a page has an unreadable key, and ``SyncOptions/deletesBesideUnread`` is false. The import keeps
///   the omitted rows of the entity.
/// - A GraphQL page has nulls among its records. The import keeps all omitted rows in scope.
public final class PagedImport: Sendable {
    /// The parameters that all pages of a paged import share.
    package struct Parameters: Sendable, Equatable {
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
    }

    /// A function that deletes the rows that no page contains. The sync of the first page provides the function,
    /// because that sync has the store.
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

    /// Creates a paged import for the chunks of one payload.
    package static func ofChunks() -> PagedImport {
        let run = PagedImport()
        run.state.withLock { $0.importState.isOnePayload = true }
        return run
    }

    /// Finishes the import, and deletes the rows in scope that no page contains.
    ///
    /// The call also deletes children that a nested list omits and that no page contains. All deletions run in one
    /// transaction.
    ///
    /// The options of the first page apply, such as the deletion limit. An import can be finished only once, even if
    /// the deletions fail.
    ///
    /// - Returns: The change set of all pages and of the deletions. The change set is empty if there are no pages.
    /// - Throws: ``SyncError`` `invalidOption` if a page failed, if a page is still being applied, or if the import has
    ///   already finished. The call also throws errors of the deletions, such as `deletionLimitExceeded` or
    ///   `deletionDenied`. If the call throws an error, the changes of the pages stay.
    @discardableResult
    public func finish() async throws -> SyncResult {
        let finalizer = try state.withLock { state in
            if state.isFinished { throw SyncError(.invalidOption, "the paged import has already finished") }
            if state.openPages > 0 {
                throw SyncError(.invalidOption, "a page of the paged import is still being applied; await it first")
            }
            if state.hasFailed { throw Self.failedPage }
            state.isFinished = true
            return state.finalizer
        }
        return try await finalizer?(self) ?? SyncResult(entity: "")
    }

    private static var failedPage: SyncError {
        SyncError(
            .invalidOption, "a page of the paged import failed; nothing was deleted; start a new paged import",
            suggestion: "Fix the cause of the failed page, and sync all pages again with a new 'PagedImport'.")
    }

    // MARK: Pages

    /// Records that the sync of a page begins.
    ///
    /// - Throws: ``SyncError`` `invalidOption` if the import has finished, if a page has failed, or if the parameters
    ///   differ from those of earlier pages.
    package func beginPage(_ parameters: Parameters, _ finalizer: @escaping Finalizer) throws {
        try state.withLock { state in
            try Self.check(parameters, state)
            state.parameters = parameters
            state.finalizer = state.finalizer ?? finalizer
            state.openPages += 1
        }
    }

    /// Checks that the import takes a page with these parameters, and records nothing. A dry run calls this method.
    ///
    /// - Throws: The errors of ``beginPage(_:_:)``.
    package func checkPage(_ parameters: Parameters) throws {
        try state.withLock { try Self.check(parameters, $0) }
    }

    private static func check(_ parameters: Parameters, _ state: State) throws {
        if state.isFinished {
            throw SyncError(.invalidOption, "the paged import has already finished; start a new one")
        }
        if state.hasFailed { throw failedPage }
        if let first = state.parameters, first != parameters {
            throw SyncError(
                .invalidOption,
                "all pages of a paged import must have the same store, entity, predicate, parent and operations",
                entity: parameters.entity)
        }
    }

    package func endPage(succeeded: Bool) {
        state.withLock { state in
            state.openPages -= 1
            if !succeeded { state.hasFailed = true }
        }
    }

    /// Takes the state out, so that the sync of a page can change the state. ``checkInState(_:)`` puts the state back.
    /// Callers have exclusive write access to the store, so only one page at a time has the state.
    package func checkOutState() -> PagedImportState {
        state.withLock { state in
            defer { state.importState = PagedImportState() }
            return state.importState
        }
    }

    package func checkInState(_ importState: PagedImportState) { state.withLock { $0.importState = importState } }
}
