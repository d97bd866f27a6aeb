import GRDB
import SyncCore

/// What is read of a store, again and again: the value there is now, and then one for each transaction that makes another
/// of it.
///
/// A slow consumer may skip intermediate values but always receives the latest. The observation ends when its task is
/// cancelled or its iterator is gone. It fails with what a fetch would throw: the store has another model, a name is not
/// in it, or the stack was closed (`storeClosed`).
public struct StoreObservation<Value: Sendable>: AsyncSequence, Sendable {
    /// What is read.
    public typealias Element = Value

    /// Begins to observe; what it returns waits for the next value, and observes as long as it is there.
    private let begin: @Sendable () -> () async throws -> Value?

    /// - Parameter fetch: Reads what a value is made of, which must be equal for equal values.
    init<Read: Sendable & Equatable>(
        _ stack: DataStack, fetch: @escaping @Sendable (Database) throws -> Read,
        value: @escaping @Sendable (Read) -> Value
    ) {
        let database = stack.database
        let watch = stack.watch
        let observation = ValueObservation.tracking { db in
            try StoreFailure.mapped(.storeFailure, "the store cannot be read") {
                ConnectionFunctions.install(in: db)
                try watch.check(db)
                return try fetch(db)
            }
        }.removeDuplicates()
        begin = {
            let stream = AsyncThrowingStream(Read.self, bufferingPolicy: .bufferingNewest(1)) { values in
                database.observe(endingWith: { values.finish(throwing: $0) }) { writer, stop in
                    values.onTermination = { _ in stop() }
                    return observation.start(
                        in: writer, scheduling: .task, onError: { values.finish(throwing: $0) },
                        onChange: { values.yield($0) })
                }
            }
            var values = stream.makeAsyncIterator()
            return { try await values.next().map(value) }
        }
    }

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator { Iterator(nextValue: begin()) }

    /// Observes as long as it is there.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let nextValue: () async throws -> Value?

        /// Waits for the next value; nil once the task is cancelled.
        ///
        /// - Throws: ``SyncError``.
        public mutating func next() async throws -> Value? { try await nextValue() }
    }
}
