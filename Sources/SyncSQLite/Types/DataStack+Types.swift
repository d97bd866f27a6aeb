public import GRDB
public import SyncCore

extension DataStack {
    /// Fetches the rows of an entity as values of its type.
    ///
    /// ```swift
    /// let adults = try await stack.fetch(User.self, where: "age >= 18", orderedBy: "firstName", including: \.notes)
    /// ```
    /// - Parameters:
    ///   - limit: The maximum number of rows to fetch; nil for all.
    ///   - skip: Called with each row that cannot be read as a value of the type. The row is then left out. If nil,
    ///     such a row is an error. Rows can be unreadable if they are older than the type, or if other code wrote them.
    ///   - relationships: The relationships whose rows are loaded. The properties of other relationships are empty.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`, `unknownRelationship`, `invalidPredicate`,
    ///   `invalidOption`, `typeMismatch` for a value that does not fit the type of its property, or `databaseError`.
    package func fetch<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>...
    ) throws -> [Value] {
        let rows = try TypedRows(type, self, relationships, skipping: skip)
        return try reading { db in try rows.fetch(predicate, order, limit, db).map(\.element) }
    }

    /// Fetches the rows of an entity as values of its type.
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>...
    ) async throws -> [Value] {
        let rows = try TypedRows(type, self, relationships, skipping: skip)
        return try await reading { db in try rows.fetch(predicate, order, limit, db).map(\.element) }
    }

    /// Fetches the rows of an entity as values of its type, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>..., in db: Database
    ) throws -> [Value] {
        try TypedRows(type, self, relationships, skipping: skip).fetch(predicate, order, limit, db).map(\.element)
    }

    /// Fetches the row with a key as a value of its type; nil if no row has the key. The key is a value such as an
    /// `Int` or a `UUID`, or a ``JSONValue`` for a composite key.
    package func fetch<Value: EntityRecord>(
        _ type: Value.Type, id: some AttributeValue, including relationships: PartialKeyPath<Value>...
    ) throws -> Value? {
        let rows = try TypedRows(type, self, relationships)
        return try reading { db in try rows.fetch(id: id, db)?.element }
    }

    /// Fetches the row with a key as a value of its type; nil if no row has the key. The key is a value such as an
    /// `Int` or a `UUID`, or a ``JSONValue`` for a composite key.
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, id: some AttributeValue, including relationships: PartialKeyPath<Value>...
    ) async throws -> Value? {
        let rows = try TypedRows(type, self, relationships)
        return try await reading { db in try rows.fetch(id: id, db)?.element }
    }

    /// Fetches the row with a key as a value of its type, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, id: some AttributeValue, including relationships: PartialKeyPath<Value>..., in db: Database
    ) throws -> Value? {
        try TypedRows(type, self, relationships).fetch(id: id, db)?.element
    }

    /// Counts the rows of an entity, including those of its subentities.
    package func count<Value: EntityRecord>(_ type: Value.Type, where predicate: RowPredicate = .all) throws -> Int {
        try count(Value.entityName, where: predicate)
    }

    /// Counts the rows of an entity, including those of its subentities.
    public func count<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RowPredicate = .all
    ) async throws -> Int {
        try await count(Value.entityName, where: predicate)
    }
}

// MARK: - Decodable

extension DataStack {
    /// Fetches the rows of an entity and decodes them by the names of their attributes. The type need not be an
    /// ``EntityRecord``.
    ///
    /// ```swift
    /// struct Line: Decodable { var id: Int, title: String, dueAt: Date? }
    /// let lines = try await stack.fetch("Task", as: Line.self, where: "isDone == false")
    /// ```
    /// - Parameter skip: Called with each row that cannot be decoded. The row is then left out. If nil, such a row is
    ///   an error.
    /// - Throws: ``SyncError`` `typeMismatch` for a row that cannot be decoded, and the errors of
    ///   ``fetch(_:where:orderedBy:limit:)-(_,_,_,_)``.
    public func fetch<Value: Decodable & Sendable>(
        _ entity: String, as type: Value.Type, where predicate: RowPredicate = .all,
        orderedBy order: RowOrder = .byKey, limit: Int? = nil,
        skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil
    ) async throws -> [Value] {
        try await reading { db in
            try self.fetch(
                entity, as: type, where: predicate, orderedBy: order, limit: limit, skippingUnreadable: skip, in: db)
        }
    }

    /// Fetches the rows of an entity and decodes them, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
    public func fetch<Value: Decodable>(
        _ entity: String, as type: Value.Type, where predicate: RowPredicate = .all,
        orderedBy order: RowOrder = .byKey, limit: Int? = nil,
        skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil, in db: Database
    ) throws -> [Value] {
        try fetch(entity, where: predicate, orderedBy: order, limit: limit, in: db).compactMap { record in
            let members = record.attributes.compactMap { name in
                record[name].map { JSONValue.Member(name, $0.jsonForm) }
            }
            do {
                return try JSONCodedValue.value(.object(members))
            } catch {
                let error = SyncError(
                    .typeMismatch, "cannot decode the row \(record.key) as \(Value.self): \(error)",
                    entity: record.entity)
                guard let skip else { throw error }
                skip(UnreadableRow(entity: record.entity, key: record.key, error: error))
                return nil
            }
        }
    }
}

// MARK: - Typed observation

extension DataStack {
    /// Observes the rows of an entity as values of its type: their current values, then each change.
    ///
    /// ```swift
    /// for try await users in try stack.observe(User.self, where: "age >= 18", orderedBy: "lastName") { show(users) }
    /// ```
    /// See ``observe(_:where:orderedBy:limit:)``. A change of a loaded related row produces a value too.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of rows to read; nil for all.
    ///   - skip: Called with each row that cannot be read as a value of the type, each time that the list is read. The
    ///     row is then left out. If nil, the sequence fails at the first such row.
    ///   - relationships: The relationships whose rows are loaded.
    /// - Throws: ``SyncError`` `unknownRelationship` if a key path is not a relationship.
    public func observe<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>...
    ) throws -> StoreObservation<[Value]> {
        try observe(type, where: predicate, orderedBy: order, limit: limit, skipping: skip, including: relationships)
    }

    package func observe<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RowPredicate, orderedBy order: RowOrder, limit: Int?,
        skipping skip: (@Sendable (UnreadableRow) -> Void)? = nil, including relationships: [PartialKeyPath<Value>]
    ) throws -> StoreObservation<[Value]> {
        let rows = try TypedRows(type, self, relationships, skipping: skip)
        return StoreObservation(self, fetch: { db in try rows.fetch(predicate, order, limit, db) }) {
            $0.map(\.element)
        }
    }

    /// Observes the row with a key as a value of its type: its current value, then each change; nil while no row has
    /// the key.
    ///
    /// - Throws: ``SyncError`` `unknownRelationship` if a key path is not a relationship.
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

    /// Observes the number of rows of an entity: the current number, then each change.
    public func observeCount<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RowPredicate = .all
    ) -> StoreObservation<Int> {
        observeCount(Value.entityName, where: predicate)
    }

    /// Observes the changes of the rows of an entity as values of its type. See
    /// ``observeChanges(_:where:orderedBy:limit:)``. A row is updated too when its loaded related rows change.
    ///
    /// - Throws: ``SyncError`` `unknownRelationship` if a key path is not a relationship.
    public func observeChanges<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>...
    ) throws -> StoreObservation<RowChanges<Value>> {
        let rows = try TypedRows(type, self, relationships, skipping: skip)
        return StoreObservation<RowChanges<Value>>(
            changesOf: StoreObservation(self, fetch: { db in try rows.fetch(predicate, order, limit, db) }) { $0 })
    }
}
