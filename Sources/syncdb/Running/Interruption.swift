import Foundation
import Sync

/// Ctrl-C, or a polite request to end, while a sync runs: the sync is cancelled, so the store is as it was.
struct Interruption: LocalizedError {
    /// `SIGINT` or `SIGTERM`.
    let signal: Int32
    /// What became of the work so far.
    let outcome: String

    /// What a shell says of a program that a signal ended.
    var status: Int32 { 128 + signal }
    var errorDescription: String? { "interrupted; \(outcome)" }

    /// Runs work that the first signal cancels. A second one ends the program as it would without this.
    ///
    /// - Parameter outcome: What to say of the work so far if it is cancelled; asked for then.
    /// - Throws: ``Interruption`` if the work was cancelled by a signal; what the work throws otherwise.
    static func cancelling<Result: Sendable>(
        outcome: @autoclosure () -> String = "nothing was written",
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let running = Running()
        let signals = SignalPipe { signal in running.interrupt(signal) }
        defer { signals.close() }
        do {
            return try await running.start(work).value
        } catch is CancellationError {
            throw running.signal.map { Interruption(signal: $0, outcome: outcome()) } ?? CancellationError()
        }
    }

    /// The work, and the signal that interrupted it, which may come before the work has begun.
    private final class Running: Sendable {
        private struct State {
            var signal: Int32?
            var cancel: (@Sendable () -> Void)?
        }

        private let state = Locked(State())

        var signal: Int32? { state.value.signal }

        func start<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) -> Task<Result, any Error> {
            state.withLock { state in
                let task = Task(operation: work)
                state.cancel = { task.cancel() }
                if state.signal != nil { task.cancel() }
                return task
            }
        }

        func interrupt(_ signal: Int32) {
            state.withLock { state in
                state.signal = signal
                state.cancel?()
            }
        }
    }
}
