import Dispatch
import Foundation

/// Ctrl-C, or a polite request to end, while a sync runs: the sync is cancelled, so the store is as it was.
struct Interruption: Error {
    /// `SIGINT` or `SIGTERM`.
    let signal: Int32

    /// What a shell says of a program that a signal ended.
    var status: Int32 { 128 + signal }

    /// Runs work that the first signal cancels. A second one ends the program as it would without this.
    ///
    /// - Throws: ``Interruption`` if the work was cancelled by a signal; what the work throws otherwise.
    static func cancelling<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let task = Task(operation: work)
        let received = ReceivedSignal()
        let sources = [SIGINT, SIGTERM].map { signal in
            Foundation.signal(signal, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: signal, queue: .global())
            source.setEventHandler {
                Foundation.signal(signal, SIG_DFL)
                received.signal = signal
                task.cancel()
            }
            source.resume()
            return source
        }
        defer {
            for source in sources { source.cancel() }
            for signal in [SIGINT, SIGTERM] { Foundation.signal(signal, SIG_DFL) }
        }
        do {
            return try await task.value
        } catch is CancellationError {
            throw received.signal.map(Interruption.init) ?? CancellationError()
        }
    }

    /// `@unchecked Sendable`: `value` is only touched while `lock` is held.
    private final class ReceivedSignal: @unchecked Sendable {
        private let lock = NSLock()
        private var value: Int32?

        var signal: Int32? {
            get { lock.withLock { value } }
            set { lock.withLock { value = newValue } }
        }
    }
}
