public import GRDB
public import SyncCore

extension DataStack {
    /// The rows of an entity, as values of its type.
    ///
    /// ```swift
    /// let adults = try await stack.fetch(User.self, where: "age >= 18", orderedBy: "firstName", including: \.notes)
    /// ```
    /// - Parameters:
    ///   - limit: How many there are at most; nil for all.
    ///   - skip: Is told of each row that is no value of the type, which is then left out; nil if such a row is an error. A
    ///     sync keeps them out where it knows the types, but rows may be older than a type, or be written otherwise.
    ///   - relationships: Those whose rows are loaded with them; of the others the properties are empty.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`, `unknownRelationship`, `invalidPredicate`,
    ///   `valueDoesNotFit` for a value that is none of its property's type, or `storeFailure`.
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>...
    ) throws -> [Value] {
        let rows = try TypedRows(type, self, relationships, skipping: skip)
        return try reading { db in try rows.fetch(predicate, order, limit, db).map(\.element) }
    }

    /// The rows of an entity, as values of its type.
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>...
    ) async throws -> [Value] {
        let rows = try TypedRows(type, self, relationships, skipping: skip)
        return try await reading { db in try rows.fetch(predicate, order, limit, db).map(\.element) }
    }

    /// The rows of an entity, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>..., in db: Database
    ) throws -> [Value] {
        try TypedRows(type, self, relationships, skipping: skip).fetch(predicate, order, limit, db).map(\.element)
    }

    /// The row with this key: an `Int`, a `String`, a `UUID`, or a ``JSONValue`` where it has several parts; nil if there
    /// is none.
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, id: some AttributeValue, including relationships: PartialKeyPath<Value>...
    ) throws -> Value? {
        let rows = try TypedRows(type, self, relationships)
        return try reading { db in try rows.fetch(id: id, db)?.element }
    }

    /// The row with this key: an `Int`, a `String`, a `UUID`, or a ``JSONValue`` where it has several parts; nil if there
    /// is none.
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, id: some AttributeValue, including relationships: PartialKeyPath<Value>...
    ) async throws -> Value? {
        let rows = try TypedRows(type, self, relationships)
        return try await reading { db in try rows.fetch(id: id, db)?.element }
    }

    /// The row with this key, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, id: some AttributeValue, including relationships: PartialKeyPath<Value>..., in db: Database
    ) throws -> Value? {
        try TypedRows(type, self, relationships).fetch(id: id, db)?.element
    }

    /// How many rows an entity has, those of its sub-entities included.
    public func count<Value: EntityRecord>(_ type: Value.Type, where predicate: RowPredicate = .all) throws -> Int {
        try count(Value.entityName, where: predicate)
    }

    /// How many rows an entity has, those of its sub-entities included.
    public func count<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RowPredicate = .all
    ) async throws -> Int {
        try await count(Value.entityName, where: predicate)
    }
}

// MARK: - Decodable

extension DataStack {
    /// The rows of an entity, decoded by the names of attributes: for types that are no records.
    ///
    /// ```swift
    /// struct Line: Decodable { var id: Int, title: String, dueAt: Date? }
    /// let lines = try await stack.fetch("Task", as: Line.self, where: "isDone == false")
    /// ```
    /// - Parameter skip: Is told of each row that is none of the type, which is then left out; nil if such a row is an error.
    /// - Throws: ``SyncError`` `valueDoesNotFit` for a row that is none of the type, and as ``fetch(_:where:orderedBy:limit:)-(_,_,_,_)`` does.
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

    /// The rows of an entity, decoded by the names of attributes, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
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
                    .valueDoesNotFit, "the row \(record.key) is no \(Value.self): \(error)", entity: record.entity)
                guard let skip else { throw error }
                skip(UnreadableRow(entity: record.entity, key: record.key, error: error))
                return nil
            }
        }
    }
}

// MARK: - Typed observation

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
        _ type: Value.Type, where predicate: RowPredicate = .all
    ) -> StoreObservation<Int> {
        observeCount(Value.entityName, where: predicate)
    }

    /// What becomes of the rows of an entity, as ``observeChanges(_:where:orderedBy:limit:)`` says it, as values of its
    /// type. A row with which others are loaded is updated when these are others.
    ///
    /// - Throws: ``SyncError`` `unknownRelationship` for a key path that is none.
    public func observeChanges<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>...
    ) throws -> RowChangeObservation<Value> {
        let rows = try TypedRows(type, self, relationships, skipping: skip)
        return RowChangeObservation(
            lists: StoreObservation(self, fetch: { db in try rows.fetch(predicate, order, limit, db) }) { $0 })
    }
}
