public import SyncCore

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
        _ entity: String, where predicate: RecordPredicate = .all, orderedBy order: RecordOrder = .byKey,
        limit: Int? = nil
    ) -> StoreObservation<[SyncRecord]> {
        let rows = ObservedRows(entity: entity, predicate: predicate, order: order, limit: limit)
        return StoreObservation(self, fetch: { db in try rows.fetch(self, db) }) { $0.map(\.record) }
    }

    /// The row with this key, which is brought to the type of the key: now, and whenever it is another; nil while there is
    /// none.
    public func observe(_ entity: String, id: JSONValue) -> StoreObservation<SyncRecord?> {
        StoreObservation(self, fetch: { db in try ObservedRow.fetch(entity, id: id, self, db) }) { $0?.record }
    }

    /// How many rows an entity has, those of its sub-entities included: now, and whenever it is another number.
    public func observeCount(_ entity: String, where predicate: RecordPredicate = .all) -> StoreObservation<Int> {
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
        _ entity: String, where predicate: RecordPredicate = .all, orderedBy order: RecordOrder = .byKey,
        limit: Int? = nil
    ) -> RowChangeObservation<SyncRecord> {
        let rows = ObservedRows(entity: entity, predicate: predicate, order: order, limit: limit)
        return RowChangeObservation(
            lists: StoreObservation(self, fetch: { db in try rows.fetch(self, db) }) { $0 })
    }

    /// What syncs and single rows changed, from now on: the results of those that this stack commits and that changed
    /// something. Of a payload in several transactions there is one for each.
    ///
    /// Those in a transaction of the caller's are not among them: only the caller knows whether it was committed. The
    /// sequence ends when the stack is closed or gone.
    public var syncResults: AsyncStream<SyncResult> { feed.results() }
}
