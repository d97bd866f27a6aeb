import GRDB
public import SyncCore

/// A sequence of the values of a query: the current value, then a value after each transaction that changes it.
///
/// A slow consumer may skip intermediate values but always receives the latest. The observation ends when its task is
/// cancelled or its iterator is released. It fails with the errors of a fetch, for example for an unknown name, and
/// with `storeClosed` when the stack is closed.
public struct StoreObservation<Value: Sendable>: AsyncSequence, Sendable {
    /// Starts an observation and returns a function that waits for the next value. The observation runs until that
    /// function is released.
    private let begin: @Sendable () -> () async throws -> Value?

    /// - Parameter fetch: Reads the data from which `value` creates a value. Equal data must give equal values.
    init<Read: Sendable & Equatable>(
        _ stack: DataStack, fetch: @escaping @Sendable (Database) throws -> Read,
        value: @escaping @Sendable (Read) -> Value
    ) {
        let database = stack.database
        let watch = stack.watch
        let observation = ValueObservation.tracking { db in
            try DatabaseErrorMapper.mapped(.databaseError, "cannot read the store") {
                SQLFunctionInstaller.install(in: db)
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

    /// Starts an observation.
    public func makeAsyncIterator() -> Iterator { Iterator(nextValue: begin()) }

    /// The iterator of an observation, which runs until the iterator is released.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let nextValue: () async throws -> Value?

        /// Waits for the next value and returns it; nil after the task is cancelled or an error was thrown.
        ///
        /// - Throws: ``SyncError`` of a fetch, or `storeClosed`.
        public mutating func next() async throws -> Value? { try await nextValue() }
    }
}

extension StoreObservation {
    /// Observes the changes of a list of rows: first all rows as inserted, then the differences from the previous list.
    init<Listed: ObservedListItem>(changesOf lists: StoreObservation<[Listed]>)
    where Value == RowChanges<Listed.Element> {
        begin = {
            var lists = lists.makeAsyncIterator()
            var last: [Listed] = []
            return {
                guard let list = try await lists.next() else { return nil }
                defer { last = list }
                return RowChanges(from: last, to: list)
            }
        }
    }
}

extension Feed<SyncResult> {
    /// Sends a result to the subscribers, unless it is empty.
    func publish(_ result: SyncResult) { if !result.isEmpty { send(result) } }
}

// MARK: - DataStack+Observation

extension DataStack {
    /// Observes the rows of an entity, including those of its subentities: their current values, then each change.
    ///
    /// ```swift
    /// for try await users in stack.observe("User", where: "age >= 18", orderedBy: "lastName") { show(users) }
    /// ```
    /// A transaction produces at most one value. It produces no value if these rows, their order and their foreign keys
    /// are unchanged. The observation notices all writes through the database of this stack: syncs, single rows, and
    /// writes of the app with GRDB. It notices writes of other stacks and processes only at the next write of this
    /// stack to the observed tables.
    ///
    /// - Parameter limit: The maximum number of rows to read; nil for all.
    public func observe(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil
    ) -> StoreObservation<[SyncRow]> {
        let rows = ObservedRows(entity: entity, predicate: predicate, order: order, limit: limit)
        return StoreObservation(self, fetch: { db in try rows.fetch(self, db) }) { $0.map(\.record) }
    }

    /// Observes the row with a key: its current value, then each change; nil while no row has the key. The key is
    /// converted to the type of the primary key.
    public func observe(_ entity: String, id: JSONValue) -> StoreObservation<SyncRow?> {
        StoreObservation(self, fetch: { db in try ObservedRow.fetch(entity, id: id, self, db) }) { $0?.record }
    }

    /// Observes the number of rows of an entity, including those of its subentities: the current number, then each
    /// change.
    public func observeCount(_ entity: String, where predicate: RowPredicate = .all) -> StoreObservation<Int> {
        StoreObservation(self, fetch: { db in try self.count(entity, where: predicate, in: db) }) { $0 }
    }

    /// Observes the changes of the rows of an entity: first all rows as inserted, then the removed, inserted, moved and
    /// updated rows, with their indexes.
    ///
    /// ```swift
    /// for try await changes in stack.observeChanges("User", orderedBy: "lastName") {
    ///     table.deleteRows(at: changes.removed.map { IndexPath(row: $0, section: 0) }, with: .automatic)
    /// }
    /// ```
    public func observeChanges(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil
    ) -> StoreObservation<RowChanges<SyncRow>> {
        let rows = ObservedRows(entity: entity, predicate: predicate, order: order, limit: limit)
        return StoreObservation<RowChanges<SyncRow>>(
            changesOf: StoreObservation(self, fetch: { db in try rows.fetch(self, db) }) { $0 })
    }

    /// The results of the syncs, and of `insertOrUpdate`, `update` and `delete` for single rows, that this stack
    /// commits from now on. Empty results are omitted. A payload that is written in several transactions has a result
    /// for each transaction.
    ///
    /// Engine runs are not included. Calls in the caller's transaction are not included, because only the caller knows
    /// whether it commits. A slow consumer receives the latest 1,000 results. The sequence ends when the stack is closed or released.
    public var syncResults: AsyncStream<SyncResult> { feed.stream() }
}
