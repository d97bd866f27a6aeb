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
        _ type: Value.Type, where predicate: RecordPredicate = .all, orderedBy order: RecordOrder = .byKey,
        limit: Int? = nil, skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>...
    ) throws -> [Value] {
        let rows = try TypedRows(type, self, relationships, skipping: skip)
        return try reading { db in try rows.fetch(predicate, order, limit, db).map(\.element) }
    }

    /// The rows of an entity, as values of its type.
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RecordPredicate = .all, orderedBy order: RecordOrder = .byKey,
        limit: Int? = nil, skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>...
    ) async throws -> [Value] {
        let rows = try TypedRows(type, self, relationships, skipping: skip)
        return try await reading { db in try rows.fetch(predicate, order, limit, db).map(\.element) }
    }

    /// The rows of an entity, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RecordPredicate = .all, orderedBy order: RecordOrder = .byKey,
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
    public func count<Value: EntityRecord>(_ type: Value.Type, where predicate: RecordPredicate = .all) throws -> Int {
        try count(Value.entityName, where: predicate)
    }

    /// How many rows an entity has, those of its sub-entities included.
    public func count<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RecordPredicate = .all
    ) async throws -> Int {
        try await count(Value.entityName, where: predicate)
    }
}
