public import Foundation
import SyncCore

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
    ///   - path: The attribute or to-one relationship that orders the rows; nil for the order by key. To order the rows
    ///     by several attributes, pass a ``RowOrder`` to the other method.
    ///   - isAscending: Whether the order is ascending.
    @_disfavoredOverload
    public func fetch<Value: EntityRecord>(
        _ type: Value.Type, where predicate: Predicate<Value>? = nil, orderedBy path: PartialKeyPath<Value>? = nil,
        ascending isAscending: Bool = true, limit: Int? = nil,
        skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>...
    ) async throws -> [Value] {
        let (condition, order) = try Self.selection(predicate, path, isAscending)
        let rows = try TypedRows(type, self, relationships, skipping: skip)
        return try await reading { db in try rows.fetch(condition, order, limit, db).map(\.element) }
    }

    /// Counts the rows of an entity and its subentities that match a predicate.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate`, `unknownEntity` or `databaseError`.
    public func count<Value: EntityRecord>(_ type: Value.Type, where predicate: Predicate<Value>) async throws -> Int {
        try await count(Value.entityName, where: RowPredicate(predicate))
    }

    /// Observes the rows of an entity as values of a Swift type. The sequence contains the current rows, then all rows
    /// again after each change.
    ///
    /// For the parameters, see ``fetch(_:where:orderedBy:ascending:limit:skippingUnreadable:including:)``.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate`, or `unknownRelationship` if a key path of `relationships` is not a
    ///   relationship.
    @_disfavoredOverload
    public func observe<Value: EntityRecord>(
        _ type: Value.Type, where predicate: Predicate<Value>? = nil, orderedBy path: PartialKeyPath<Value>? = nil,
        ascending isAscending: Bool = true, limit: Int? = nil,
        skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil,
        including relationships: PartialKeyPath<Value>...
    ) throws -> StoreObservation<[Value]> {
        let (condition, order) = try Self.selection(predicate, path, isAscending)
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

    private static func selection<Value: EntityRecord>(
        _ predicate: Predicate<Value>?, _ path: PartialKeyPath<Value>?, _ isAscending: Bool
    ) throws -> (RowPredicate, RowOrder) {
        (
            try predicate.map { try RowPredicate($0) } ?? .all,
            path.map { RowOrder($0, ascending: isAscending) } ?? .byKey
        )
    }
}
