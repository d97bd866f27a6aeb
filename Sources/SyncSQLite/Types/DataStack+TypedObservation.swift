public import SyncCore

extension DataStack {
    /// The rows of an entity as values of its type: now, and whenever they are others.
    ///
    /// ```swift
    /// for try await users in try stack.observe(User.self, where: "age >= 18", orderedBy: "lastName") { show(users) }
    /// ```
    /// As ``observe(_:where:orderedBy:limit:)``; what is loaded with the rows counts too.
    ///
    /// - Parameters:
    ///   - limit: How many there are at most; nil for all.
    ///   - skip: Is told, with each list that is read, of the rows that are no values of the type, which are left out. Without
    ///     it the sequence fails at the first one.
    ///   - relationships: Those whose rows are loaded with them.
    /// - Throws: ``SyncError`` `unknownRelationship` for a key path that is none.
    public func observe<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RecordPredicate = .all, orderedBy order: RecordOrder = .byKey,
        limit: Int? = nil, skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>...
    ) throws -> StoreObservation<[Value]> {
        try observe(type, where: predicate, orderedBy: order, limit: limit, skipping: skip, including: relationships)
    }

    package func observe<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RecordPredicate, orderedBy order: RecordOrder, limit: Int?,
        skipping skip: (@Sendable (UnreadableRow) -> Void)? = nil, including relationships: [PartialKeyPath<Value>]
    ) throws -> StoreObservation<[Value]> {
        let rows = try TypedRows(type, self, relationships, skipping: skip)
        return StoreObservation(self, fetch: { db in try rows.fetch(predicate, order, limit, db) }) {
            $0.map(\.element)
        }
    }

    /// The row with this key as a value of its type: now, and whenever it is another; nil while there is none.
    ///
    /// - Throws: ``SyncError`` `unknownRelationship` for a key path that is none.
    public func observe<Value: EntityRecord>(
        _ type: Value.Type, id: some AttributeValue, including relationships: PartialKeyPath<Value>...
    ) throws -> StoreObservation<Value?> {
        try observe(type, id: id, including: relationships)
    }

    package func observe<Value: EntityRecord>(
        _ type: Value.Type, id: some AttributeValue, including relationships: [PartialKeyPath<Value>]
    ) throws -> StoreObservation<Value?> {
        let rows = try TypedRows(type, self, relationships)
        return StoreObservation(self, fetch: { db in try rows.fetch(id: id, db) }) { $0?.element }
    }

    /// How many rows an entity has: now, and whenever it is another number.
    public func observeCount<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RecordPredicate = .all
    ) -> StoreObservation<Int> {
        observeCount(Value.entityName, where: predicate)
    }

    /// What becomes of the rows of an entity, as ``observeChanges(_:where:orderedBy:limit:)`` says it, as values of its
    /// type. A row with which others are loaded is updated when these are others.
    ///
    /// - Throws: ``SyncError`` `unknownRelationship` for a key path that is none.
    public func observeChanges<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RecordPredicate = .all, orderedBy order: RecordOrder = .byKey,
        limit: Int? = nil, skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>...
    ) throws -> RowChangeObservation<Value> {
        let rows = try TypedRows(type, self, relationships, skipping: skip)
        return RowChangeObservation(
            lists: StoreObservation(self, fetch: { db in try rows.fetch(predicate, order, limit, db) }) { $0 })
    }
}
