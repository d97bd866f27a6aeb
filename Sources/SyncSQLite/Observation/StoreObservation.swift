import GRDB
public import SyncCore

/// An asynchronous sequence of the values of a query: the current value, then each new value.
///
/// The sequence may skip intermediate values, but always delivers the latest value. Each iterator starts an
/// observation. The observation ends when the task that uses the iterator is cancelled, or when the iterator is
/// released.
///
/// If a fetch fails, for example because of an unknown name, the sequence throws the error. When the stack is closed,
/// the sequence throws `storeClosed`.
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
                        in: writer, scheduling: .task,
                        onError: { values.finish(throwing: DatabaseErrorMapper.mapped($0)) },
                        onChange: { values.yield($0) })
                }
            }
            var values = stream.makeAsyncIterator()
            return { try await values.next().map(value) }
        }
    }

    /// Starts an observation, and returns an iterator of the values.
    public func makeAsyncIterator() -> Iterator { Iterator(nextValue: begin()) }

    /// The iterator of an observation. Releasing the iterator ends the observation.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let nextValue: () async throws -> Value?

        /// Returns the next value when it is available; nil if the task was cancelled, or if an earlier call threw an
        /// error.
        ///
        /// - Throws: The errors of the fetch, or ``SyncError`` `storeClosed`.
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

// MARK: - DataStack+Observation

extension DataStack {
    /// Observes the rows of an entity and its subentities. The sequence contains the current rows, then all rows again
    /// after each change.
    ///
    /// ```swift
    /// for try await users in stack.observe("User", where: "age >= 18", orderedBy: "lastName") { show(users) }
    /// ```
    /// A transaction produces at most one value. A transaction produces no value if the rows, their order and their
    /// foreign keys stay unchanged.
    ///
    /// The observation detects all writes through the database of this stack: syncs, changes of single rows, and the
    /// app's writes with GRDB. Writes of other connections and processes are detected only at the next write of this
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

    /// Observes the row with a key. The sequence contains the current row, then the row after each change. A value is
    /// nil if no row has the key.
    ///
    /// - Parameter id: The primary key, which the call converts to the type of the key attribute. A composite key is an
    ///   array of its parts in the order of the model.
    public func observe(_ entity: String, id: JSONValue) -> StoreObservation<SyncRow?> {
        StoreObservation(self, fetch: { db in try ObservedRow.fetch(entity, id: id, self, db) }) { $0?.record }
    }

    /// Observes the number of rows of an entity and its subentities. The sequence contains the current number, then
    /// each new number.
    public func observeCount(_ entity: String, where predicate: RowPredicate = .all) -> StoreObservation<Int> {
        StoreObservation(self, fetch: { db in try self.count(entity, where: predicate, in: db) }) { $0 }
    }

    /// Observes the changes of the rows of an entity and its subentities. The first value contains all rows as inserted
    /// rows. Later values contain the indexes of the removed, inserted, moved and updated rows.
    ///
    /// ```swift
    /// for try await changes in stack.observeChanges("User", orderedBy: "lastName") {
    ///     table.deleteRows(at: changes.removed.map { IndexPath(row: $0, section: 0) }, with: .automatic)
    /// }
    /// ```
    /// - Parameter limit: The maximum number of rows in the list; nil for all.
    public func observeChanges(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil
    ) -> StoreObservation<RowChanges<SyncRow>> {
        let rows = ObservedRows(entity: entity, predicate: predicate, order: order, limit: limit)
        return StoreObservation<RowChanges<SyncRow>>(
            changesOf: StoreObservation(self, fetch: { db in try rows.fetch(self, db) }) { $0 })
    }
}
