package import SyncCore

/// The reads of a store. All reads of one reader see the same state of the store. A reader inside a write also sees the
/// writes of its transaction (``StoreWriter/reader``).
///
/// Each operation takes or returns many rows, because each may cost a round trip.
package protocol StoreReader: AnyObject {
    /// Selects rows, which the cursor returns in the order of the query.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate`; `unknownAttribute` for an unknown name in the order; `invalidOption`
    ///   for an order by a to-many relationship.
    func select(_ query: RowQuery) throws -> any StoreRowCursor

    /// Counts the rows of an entity and its subentities that satisfy a condition.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate`.
    func count(of entity: CompiledEntity, where predicate: RowPredicate) throws -> Int

    /// Returns the row of an entity or its subentities with a primary key; nil if no row has the key.
    ///
    /// If the store keeps former temporary keys, such a key also identifies the row.
    func row(withKey key: RowKey, of entity: CompiledEntity) throws -> SyncRow?

    /// Returns the rows that a relationship links to some rows.
    ///
    /// - Parameters:
    ///   - rows: The distinct row keys of rows of `owner`.
    ///   - owner: The entity that has the relationship, or one that inherits it.
    func rows(relatedTo rows: [RowKey], by relationship: CompiledRelationship, of owner: CompiledEntity) throws
        -> LinkedRows

    /// Returns whether the store has pending references.
    func hasPendingReferences() throws -> Bool

    /// Returns the relationships with pending references of some rows of a table.
    func pendingRelationships(of rows: [RowKey], in table: TableID) throws -> Set<PendingRelationship>
}

extension StoreReader {
    /// Returns the row with a key; nil if no row has the key.
    ///
    /// - Parameters:
    ///   - id: The primary key, which the call converts to the type of the key attribute.
    ///   - capabilities: The keys that the store can keep. The reader is not asked for other keys.
    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity`.
    package func row(
        _ entity: String, id: JSONValue, in model: CompiledModel, keeping capabilities: StoreCapabilities = .unlimited
    ) throws -> SyncRow? {
        let entity = try model.keyedEntity(named: entity)
        guard let key = model.rowKey(id, of: entity, keeping: capabilities) else { return nil }
        return try row(withKey: key, of: entity)
    }

    /// Returns the rows that a relationship links to a row, in the order of the relationship.
    ///
    /// - Throws: ``SyncError`` `unknownRelationship`.
    package func rows(_ relationship: String, of row: SyncRow) throws -> [SyncRow] {
        guard let compiled = row.type.relationship(named: relationship) else {
            throw SyncError.unknownRelationship(relationship, of: row.type)
        }
        let related = try rows(relatedTo: [row.rowKey], by: compiled, of: row.type)
        return related.links.map { related.rows[$0.row] }
    }
}

/// The rows that a ``StoreReader`` selected. Other reads are allowed between two calls of ``next(_:)``.
package protocol StoreRowCursor: AnyObject {
    /// Returns the next rows. If they are fewer than `count`, there are no more.
    func next(_ count: Int) throws -> [SyncRow]
}

/// A selection of the rows of an entity and its subentities.
package struct RowQuery: Sendable {
    package let entity: CompiledEntity
    package let predicate: RowPredicate
    /// The order. Rows that are equal in all its terms are ordered by key.
    package let order: RowOrder
    /// The maximum number of rows; nil for all. A negative number counts as 0.
    package let limit: Int?
    /// The number of rows to skip.
    package let offset: Int

    package init(
        _ entity: CompiledEntity, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, offset: Int = 0
    ) {
        self.entity = entity
        self.predicate = predicate
        self.order = order
        self.limit = limit
        self.offset = offset
    }
}

/// The rows that one relationship links to several rows.
package struct LinkedRows: Sendable {
    /// The linked rows, each once.
    package var rows: [SyncRow] = []
    /// The links. `owner` is an index in the row keys that the call got, and `row` is an index in ``rows``.
    ///
    /// The links of one owner are in the order of the relationship: by position, then by key, and links without a
    /// position last. Links of a relationship that is not ordered have no position.
    package var links: [(owner: Int, row: Int)] = []

    package init() {}
}

/// A relationship of a row that has pending references.
package struct PendingRelationship: Hashable, Sendable {
    /// The row key of the row.
    package let owner: RowKey
    /// The name of the most specific entity of the row.
    package let entity: String
    package let relationship: String

    package init(owner: RowKey, entity: String, relationship: String) {
        self.owner = owner
        self.entity = entity
        self.relationship = relationship
    }
}
