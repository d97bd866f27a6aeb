import SyncCore

/// A limit for the number of syncs that run at the same time. Further syncs wait, and start in the order of their
/// calls.
package final class SyncLimit: Sendable {
    /// The limit of this process.
    package static let process = SyncLimit()

    private struct Waiter: Sendable {
        let id: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var maximum: Int?
        var running = 0
        var waiters: [Waiter] = []
        var lastID = 0

        /// Whether another sync may start.
        var hasPlace: Bool { maximum.map { running < max(1, $0) } ?? true }

        /// Removes the waiters that may start, and counts them as running.
        mutating func startWaiters() -> [Waiter] {
            var started: [Waiter] = []
            while hasPlace, !waiters.isEmpty {
                running += 1
                started.append(waiters.removeFirst())
            }
            return started
        }
    }

    private let state = Locked(State())

    package init() {}

    /// The largest number of syncs at the same time; nil for no limit. A number below 1 counts as 1.
    package var maximum: Int? {
        get { state.value.maximum }
        set {
            let started = state.withLock { state in
                state.maximum = newValue
                return state.startWaiters()
            }
            for waiter in started { waiter.continuation.resume() }
        }
    }

    /// Waits until a sync may start, and runs it.
    ///
    /// - Throws: The errors of `sync`, or `CancellationError` if the task is cancelled while it waits.
    package nonisolated(nonsending) func run<Result>(
        _ sync: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        try await begin()
        defer { end() }
        return try await sync()
    }

    private func begin() async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let started: Result<Void, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if state.waiters.isEmpty, state.hasPlace {
                        state.running += 1
                        return .success(())
                    }
                    state.waiters.append(Waiter(id: id, continuation: continuation))
                    return nil
                }
                if let started { continuation.resume(with: started) }
            }
        } onCancel: {
            // A waiter that is not in the list has started, or has not been added yet and will see the cancellation.
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    private func end() {
        let started = state.withLock { state in
            state.running -= 1
            return state.startWaiters()
        }
        for waiter in started { waiter.continuation.resume() }
    }
}
