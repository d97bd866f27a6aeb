import Foundation
package import SyncCalls
package import SyncCore
package import SyncStore

/// A stack in memory for tests, which knows no SQL. It shows that the parts above ``StoreHost`` need none.
///
/// Its writers run one after the other. A transaction works on a copy of the contents, and replaces them at its end.
package final class MemoryStack: SyncStack, StoreHost {
    package let model: SyncModel
    package let capabilities: StoreCapabilities
    package let syncLimit = SyncLimit()
    package let feed = Feed<SyncResult>(buffering: .bufferingNewest(1000))
    /// The records that `Sync.importPages` stores.
    package let pulled = MemoryPullStore()

    private let current: Locked<MemoryContents>
    private let queue = DispatchQueue(label: "MemoryStack")
    private let wrap: @Sendable (MemorySession) -> any StoreSession

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - capabilities: The names and values that the store can keep.
    ///   - wrap: Returns the session that a sync uses instead of a session of this store.
    /// - Throws: ``SyncError`` `invalidModel` for names and default values beyond the capabilities.
    package init(
        _ model: SyncModel, capabilities: StoreCapabilities = .unlimited,
        wrap: @escaping @Sendable (MemorySession) -> any StoreSession = { $0 }
    ) throws {
        try StoreLayout(model.compiled).check(capabilities)
        self.model = model
        self.capabilities = capabilities
        self.wrap = wrap
        current = Locked(MemoryContents(model.compiled, capabilities))
    }

    package var host: SyncHost { SyncHost(self) }

    package internal(set) var contents: MemoryContents {
        get { current.value }
        set { current.withLock { $0 = newValue } }
    }

    func wrapped(_ session: MemorySession) -> any StoreSession { wrap(session) }

    /// Runs `body` on the queue of the store, where it may block.
    ///
    /// - Throws: The errors of `body`; `CancellationError` if the task is cancelled before `body` runs.
    package func withWriter<Result: Sendable>(
        _ body: @escaping @Sendable (MemoryWriter) throws -> Result
    ) async throws -> Result {
        let isCancelled = Locked(false)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
                queue.async { [self] in
                    let flag = CancellationFlag { isCancelled.value }
                    let result = Swift.Result<Result, any Error> {
                        try flag.check()
                        return try body(MemoryWriter(self, flag))
                    }
                    continuation.resume(with: result)
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    // MARK: StoreHost

    package func writing<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreWriter) throws -> Result
    ) async throws -> Result {
        try await withWriter { try body($0) }
    }

    package func withReader<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        let contents = contents
        return try body(MemoryReader { contents })
    }

    package func pullStore(_ registration: EngineRegistration) throws -> any PullStore { pulled }

    /// - Throws: ``SyncError`` `invalidOption`, because the store has no outbox.
    package func engineStore(_ registration: EngineRegistration) throws -> any EngineStore {
        throw SyncError(.invalidOption, "the store has no outbox")
    }
}
