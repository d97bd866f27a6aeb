import GRDB
public import SyncCore

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
            try DatabaseErrorMapper.mapped(.storeFailure, "the store cannot be read") {
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

/// What becomes of a list of rows: first all there are, as inserted, and then the differences to what was given before.
///
/// It ends and fails as ``StoreObservation`` does.
public struct RowChangeObservation<Row: Sendable>: AsyncSequence, Sendable {
    /// The differences.
    public typealias Element = RowChanges<Row>

    /// Begins to observe; what it returns waits for the next differences.
    private let begin: @Sendable () -> () async throws -> RowChanges<Row>?

    init<Listed: ObservedListItem>(lists: StoreObservation<[Listed]>) where Listed.Element == Row {
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

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator { Iterator(nextChanges: begin()) }

    /// Observes as long as it is there.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let nextChanges: () async throws -> RowChanges<Row>?

        /// Waits for the next differences; nil once the task is cancelled.
        ///
        /// - Throws: ``SyncError``.
        public mutating func next() async throws -> RowChanges<Row>? { try await nextChanges() }
    }
}

extension Feed<SyncResult> {
    /// Passes on a result that changed something.
    func publish(_ result: SyncResult) { if !result.isEmpty { send(result) } }
}

// MARK: - DataStack+Observation

extension DataStack {
    /// The rows of an entity, those of its sub-entities included: now, and whenever they are others.
    ///
    /// ```swift
    /// for try await users in stack.observe("User", where: "age >= 18", orderedBy: "lastName") { show(users) }
    /// ```
    /// A transaction gives one value at most, however much it writes, and none if these rows, their order and their
    /// to-one links are what they were. It notices whatever is written through this stack's database: syncs, single
    /// rows, and what the app writes with GRDB. Writes of other processes it notices with the next one of this.
    ///
    /// - Parameter limit: How many records there are at most; nil for all.
    public func observe(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil
    ) -> StoreObservation<[SyncRow]> {
        let rows = ObservedRows(entity: entity, predicate: predicate, order: order, limit: limit)
        return StoreObservation(self, fetch: { db in try rows.fetch(self, db) }) { $0.map(\.record) }
    }

    /// The row with this key, which is brought to the type of the key: now, and whenever it is another; nil while there is
    /// none.
    public func observe(_ entity: String, id: JSONValue) -> StoreObservation<SyncRow?> {
        StoreObservation(self, fetch: { db in try ObservedRow.fetch(entity, id: id, self, db) }) { $0?.record }
    }

    /// How many rows an entity has, those of its sub-entities included: now, and whenever it is another number.
    public func observeCount(_ entity: String, where predicate: RowPredicate = .all) -> StoreObservation<Int> {
        StoreObservation(self, fetch: { db in try self.count(entity, where: predicate, in: db) }) { $0 }
    }

    /// What becomes of the rows of an entity: first all there are, and then which were removed, inserted, moved and updated,
    /// with their indexes.
    ///
    /// ```swift
    /// for try await changes in stack.observeChanges("User", orderedBy: "lastName") {
    ///     table.deleteRows(at: changes.removed.map { IndexPath(row: $0, section: 0) }, with: .automatic)
    /// }
    /// ```
    public func observeChanges(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil
    ) -> RowChangeObservation<SyncRow> {
        let rows = ObservedRows(entity: entity, predicate: predicate, order: order, limit: limit)
        return RowChangeObservation(
            lists: StoreObservation(self, fetch: { db in try rows.fetch(self, db) }) { $0 })
    }

    /// What syncs and single rows changed, from now on: the results of those that this stack commits and that changed
    /// something. Of a payload in several transactions there is one for each.
    ///
    /// Those in a transaction of the caller's are not among them: only the caller knows whether it was committed. The
    /// sequence ends when the stack is closed or gone.
    public var syncResults: AsyncStream<SyncResult> { feed.stream() }
}
