public import Foundation
public import GRDB
public import SyncCore

extension DataStack {
    /// Fetches the rows of an entity as values of a Swift type.
    package func fetch<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>...
    ) throws -> [Value] {
        let rows = try TypedRows(type, self, relationships, skipping: skip)
        return try reading { db in try rows.fetch(predicate, order, limit, db).map(\.element) }
    }

    /// Fetches the rows of an entity and its subentities as values of a Swift type.
    ///
    /// ```swift
    /// let adults = try await stack.fetch(User.self, where: "age >= 18", orderedBy: "firstName", including: \.notes)
    /// ```
    /// - Parameters:
    ///   - limit: The maximum number of rows to fetch; nil for all.
    ///   - skip: A function that receives each row or related row that does not fit its Swift type. For example, an
    ///     earlier version of the type may have written such a row. The result omits these rows. If `skip` is nil, the
    ///     call throws an error at the first such row.
    ///   - relationships: The relationships whose rows are loaded. All other relationships, and all relationships of
    ///     the related rows, are nil or empty.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`, `invalidPredicate` or `databaseError`.
    ///   `unknownRelationship` for a key path in `relationships` that is not a relationship. `invalidOption` for an
    ///   order by a to-many relationship. `typeMismatch` for a value that does not fit the type of its property.
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>...
    ) async throws -> [Value] {
        let rows = try TypedRows(type, self, relationships, skipping: skip)
        return try await reading { db in try rows.fetch(predicate, order, limit, db).map(\.element) }
    }

    /// Fetches the rows of an entity as values of a Swift type, inside ``read(_:)-7aeh7`` or ``write(_:)-eoq9``.
    ///
    /// - Throws: The errors of ``fetch(_:where:orderedBy:limit:skippingUnreadable:including:)``. Errors of SQLite are
    ///   thrown as GRDB's `DatabaseError`.
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>..., in db: Database
    ) throws -> [Value] {
        try checkTables(db)
        return try TypedRows(type, self, relationships, skipping: skip).fetch(predicate, order, limit, db)
            .map(\.element)
    }

    /// Fetches the row with the given key. Returns the row as a value of a Swift type, or nil if no row has the key.
    package func fetch<Value: EntityRecord>(
        _ type: Value.Type, id: some AttributeValue, including relationships: PartialKeyPath<Value>...
    ) throws -> Value? {
        let rows = try TypedRows(type, self, relationships)
        return try reading { db in try rows.fetch(id: id, db)?.element }
    }

    /// Fetches the row with the given key. Returns the row as a value of a Swift type, or nil if no row has the key.
    ///
    /// - Parameters:
    ///   - id: The primary key, such as an `Int` or a `UUID`. A composite key is a ``JSONValue`` array of its parts in
    ///     the order of the model.
    ///   - relationships: The relationships whose rows are loaded.
    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity` or `databaseError`. `unknownRelationship` for a key
    ///   path that is not a relationship. `typeMismatch` for a value that does not fit the type of its property.
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, id: some AttributeValue, including relationships: PartialKeyPath<Value>...
    ) async throws -> Value? {
        let rows = try TypedRows(type, self, relationships)
        return try await reading { db in try rows.fetch(id: id, db)?.element }
    }

    /// Fetches the row with the given key, inside ``read(_:)-7aeh7`` or ``write(_:)-eoq9``. Returns the row as a value
    /// of a Swift type, or nil if no row has the key.
    ///
    /// - Throws: The errors of ``fetch(_:id:including:)``. Errors of SQLite are thrown as GRDB's `DatabaseError`.
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, id: some AttributeValue, including relationships: PartialKeyPath<Value>..., in db: Database
    ) throws -> Value? {
        try checkTables(db)
        return try TypedRows(type, self, relationships).fetch(id: id, db)?.element
    }

    /// Counts the rows of an entity and its subentities.
    package func count<Value: EntityRecord>(_ type: Value.Type, where predicate: RowPredicate = .all) throws -> Int {
        try count(Value.entityName, where: predicate)
    }

    /// Counts the rows of an entity and its subentities.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`, `invalidPredicate` or `databaseError`.
    public func count<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RowPredicate = .all
    ) async throws -> Int {
        try await reading { db in try self.count(Value.entityName, where: predicate, in: db) }
    }
}

// MARK: - Decodable

extension DataStack {
    /// Fetches the rows of an entity and its subentities, and decodes the attributes of each row by name. The type need
    /// not be an ``EntityRecord``.
    ///
    /// ```swift
    /// struct Line: Decodable { var id: Int, title: String, dueAt: Date? }
    /// let lines = try await stack.fetch("Task", as: Line.self, where: "isDone == false")
    /// ```
    /// A temporary key is decoded as null.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of rows to fetch; nil for all.
    ///   - skip: A function that receives each row that cannot be decoded. The result omits these rows. If `skip` is
    ///     nil, the call throws an error at the first such row.
    /// - Throws: ``SyncError`` `typeMismatch` for a row that cannot be decoded, and the errors of
    ///   ``SyncStack/fetch(_:where:orderedBy:limit:)``.
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

    /// Fetches the rows of an entity and decodes their attributes by name, inside ``read(_:)-7aeh7`` or
    /// ``write(_:)-eoq9``.
    ///
    /// - Throws: The errors of ``fetch(_:as:where:orderedBy:limit:skippingUnreadable:)``. Errors of SQLite are thrown
    ///   as GRDB's `DatabaseError`.
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
    /// Observes the rows of an entity as values of a Swift type. The sequence contains the current rows, then all rows
    /// again after each change.
    ///
    /// ```swift
    /// for try await users in try stack.observe(User.self, where: "age >= 18", orderedBy: "lastName") { show(users) }
    /// ```
    /// For details, see ``observe(_:where:orderedBy:limit:)``. A change of a loaded related row also produces a value.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of rows to read; nil for all.
    ///   - skip: A function that receives each row or related row that does not fit its Swift type, each time the rows
    ///     are read. The sequence omits these rows. If `skip` is nil, the sequence fails at the first such row.
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

    /// Observes the row with the given key, and reads the row as a value of a Swift type. The sequence contains the
    /// current value, then each new value. A value is nil if no row has the key.
    ///
    /// For details, see ``observe(_:id:)``. A change of a loaded related row also produces a value.
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

    /// Observes the number of rows of an entity and its subentities. The sequence contains the current number, then
    /// each new number.
    public func observeCount<Value: EntityRecord>(
        _ type: Value.Type, where predicate: RowPredicate = .all
    ) -> StoreObservation<Int> {
        observeCount(Value.entityName, where: predicate)
    }

    /// Observes the changes of the rows of an entity, and reads the rows as values of a Swift type.
    ///
    /// For details, see ``observeChanges(_:where:orderedBy:limit:)``. A row also counts as updated if one of its loaded
    /// related rows changes.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of rows in the list; nil for all.
    ///   - skip: A function that receives each row or related row that does not fit its Swift type, each time the rows
    ///     are read. The sequence omits these rows. If `skip` is nil, the sequence fails at the first such row.
    ///   - relationships: The relationships whose rows are loaded.
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

// MARK: - Predicates and key paths

// Queries with a predicate of Foundation and an order by a key path, instead of texts. A key path that is no attribute
// or to-one relationship causes an error when the query runs.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension DataStack {
    /// Fetches the rows of an entity and its subentities as values of a Swift type.
    ///
    /// ```swift
    /// let open = try await stack.fetch(Todo.self, where: #Predicate { !$0.isDone }, orderedBy: \.dueAt)
    /// ```
    /// See ``RowPredicate/init(_:)`` for the meaning of the predicate, and
    /// ``fetch(_:where:orderedBy:limit:skippingUnreadable:including:)-(_,RowPredicate,_,_,_,_)`` for the other
    /// parameters and the errors.
    ///
    /// - Parameters:
    ///   - predicate: The condition of the rows; nil for all rows.
    ///   - path: The attribute or to-one relationship that orders the rows, also of a related row, such as
    ///     `\.project?.title`; nil for the order by key. To order the rows by several attributes, pass a ``RowOrder`` to
    ///     the other method.
    ///   - isAscending: Whether the order is ascending.
    @_disfavoredOverload
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, where predicate: Predicate<Value>? = nil, orderedBy path: PartialKeyPath<Value>? = nil,
        ascending isAscending: Bool = true, limit: Int? = nil,
        skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>...
    ) async throws -> [Value] {
        let (condition, order) = Self.selection(predicate, path, isAscending)
        let rows = try TypedRows(type, self, relationships, skipping: skip)
        return try await reading { db in try rows.fetch(condition, order, limit, db).map(\.element) }
    }

    /// Fetches the rows of an entity as values of a Swift type, inside ``read(_:)-7aeh7`` or ``write(_:)-eoq9``.
    ///
    /// For the parameters, see
    /// ``fetch(_:where:orderedBy:ascending:limit:skippingUnreadable:including:)``. Errors of SQLite are thrown as
    /// GRDB's `DatabaseError`.
    @_disfavoredOverload
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, where predicate: Predicate<Value>? = nil, orderedBy path: PartialKeyPath<Value>? = nil,
        ascending isAscending: Bool = true, limit: Int? = nil,
        skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>..., in db: Database
    ) throws -> [Value] {
        try checkTables(db)
        let (condition, order) = Self.selection(predicate, path, isAscending)
        return try TypedRows(type, self, relationships, skipping: skip).fetch(condition, order, limit, db)
            .map(\.element)
    }

    /// Counts the rows of an entity and its subentities that match a predicate.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate`, `unknownEntity` or `databaseError`.
    public func count<Value: EntityRecord>(_ type: Value.Type, where predicate: Predicate<Value>) async throws -> Int {
        let condition = try RowPredicate(predicate)
        return try await reading { db in try self.count(Value.entityName, where: condition, in: db) }
    }

    /// Counts the rows of an entity and its subentities that match a predicate, inside ``read(_:)-7aeh7`` or
    /// ``write(_:)-eoq9``.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate`, or `unknownEntity`.
    public func count<Value: EntityRecord>(
        _ type: Value.Type, where predicate: Predicate<Value>, in db: Database
    ) throws -> Int {
        try count(Value.entityName, where: RowPredicate(predicate), in: db)
    }

    /// Observes the rows of an entity as values of a Swift type. The sequence contains the current rows, then all rows
    /// again after each change.
    ///
    /// For the parameters, see ``fetch(_:where:orderedBy:ascending:limit:skippingUnreadable:including:)``.
    ///
    /// - Throws: ``SyncError`` `unknownRelationship` if a key path of `relationships` is not a relationship. If the
    ///   predicate cannot be translated, the sequence fails.
    @_disfavoredOverload
    public func observe<Value: EntityRecord>(
        _ type: Value.Type, where predicate: Predicate<Value>? = nil, orderedBy path: PartialKeyPath<Value>? = nil,
        ascending isAscending: Bool = true, limit: Int? = nil,
        skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>...
    ) throws -> StoreObservation<[Value]> {
        let (condition, order) = Self.selection(predicate, path, isAscending)
        return try observe(
            type, where: condition, orderedBy: order, limit: limit, skipping: skip, including: relationships)
    }

    /// Observes the number of rows of an entity and its subentities that match a predicate. The sequence contains the
    /// current number, then each new number.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate`.
    public func observeCount<Value: EntityRecord>(
        _ type: Value.Type, where predicate: Predicate<Value>
    ) throws -> StoreObservation<Int> {
        observeCount(Value.entityName, where: try RowPredicate(predicate))
    }

    package static func selection<Value: EntityRecord>(
        _ predicate: Predicate<Value>?, _ path: PartialKeyPath<Value>?, _ isAscending: Bool
    ) -> (RowPredicate, RowOrder) {
        (RowPredicate(checkedInUse: predicate), path.map { RowOrder($0, ascending: isAscending) } ?? .byKey)
    }
}
