public import Foundation
public import GRDB
package import SyncCore

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
