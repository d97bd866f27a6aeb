package import SyncCore

/// The database operations of a sync, inside one transaction.
///
/// Most operations take and return many rows, so that a sync needs few operations. Over a network, each operation may
/// cost a round trip.
///
/// The session decides how values are stored and compared, and ``SyncTransaction`` makes all other decisions. Callers
/// give rows by distinct keys, in any order. Results are in the order of the keys.
package protocol StoreSession: AnyObject {
    // MARK: Syncs

    /// Begins a sync, before its first other operation. One transaction may contain several syncs.
    ///
    /// - Parameters:
    ///   - tables: The tables whose nodes the session matches with stored rows.
    ///   - steps: Counts the progress of long loops, and checks for cancellation.
    func begin(_ graph: PayloadGraph, _ tables: SyncTables, _ steps: ProgressReporter) throws

    /// Ends a sync, after its last write.
    ///
    /// - Parameter awaits: Whether the payload has references to rows that are not stored.
    func end(awaits: Bool) throws

    /// State of the session to keep for the next page of a paged import.
    var scratch: [String: Int] { get set }

    /// Prepares for the insertion of rows and join rows.
    func reserveCapacity(forInserting count: Int) throws

    /// Checks that no link that the transaction wrote is dangling.
    ///
    /// - Returns: The foreign keys of tables outside the model that deny deletions of the sync.
    /// - Throws: ``SyncError`` `databaseError`, naming some other dangling links.
    func checkLinks() throws -> [OutsideReferences]

    /// Notifies observers, once the transaction is committed, that rows of these tables changed, and join rows if links
    /// changed. Also notifies observers of the tables that triggers and foreign-key actions may have written.
    func notifyObservers(of tables: [ChangedTable], andLinks: Bool) throws

    // MARK: Matching

    /// Finds the stored rows of the nodes that have a key, and records the results of the pass in
    /// ``SyncTable/matches``.
    ///
    /// - Parameter watch: The unmatched rows that the session collects.
    func match(_ table: SyncTable, _ pass: MatchPass, _ watch: UnmatchedRowFilter) throws

    /// Records the results of the pass for nodes whose row keys are known, such as nodes that were matched through
    /// their owners.
    func match(_ rows: [(node: NodeID, key: RowKey)], _ table: SyncTable, _ pass: MatchPass) throws

    /// Compares the asserted join rows with the stored rows of a join table. Marks the asserted join rows that are
    /// stored.
    ///
    /// - Parameter coversAll: Whether the payload is a snapshot of all rows. Stored join rows that it omits are then
    ///   rare.
    func diff(_ asserted: inout ResolvedJoinRows, _ link: CompiledAssociation, coversAll: Bool) throws -> JoinTableDiff

    // MARK: Rows

    /// Returns the row keys of the rows with these primary keys; nil for each key without a row. Looks up the keys
    /// among the rows of all entities with the same ``CompiledEntity/keyOwner`` as `entity`.
    func rows(withKeys keys: [RowKey], of entity: CompiledEntity) throws -> [RowKey?]

    /// Returns those pending references that do not mean the stored row with their key. They stay pending.
    func referencesToOtherRows(among references: [PendingReference]) throws -> [PendingReference]

    /// Returns the entity and primary key of each row; nil for rows that are not stored.
    func identities(of rows: [RowKey], in table: TableID) throws -> [StoredIdentity?]

    /// Returns the values of rows; nil for rows that are not stored.
    func values(of rows: [RowKey], in table: TableID) throws -> [StoredValues?]

    /// Returns the next rows of an entity and its subentities that satisfy a condition. If they are fewer than `limit`,
    /// there are no more.
    ///
    /// The session chooses the order, for example that of the keys. The order stays the same until the next write.
    ///
    /// - Parameter key: The last row of the previous call; nil for the first rows.
    func rows(
        of entity: CompiledEntity, where predicate: RowPredicate?, after key: RowKey?, limit: Int
    ) throws -> [RowKey]

    /// Returns the rows of a set that are of an entity and satisfy a condition.
    func rows(among rows: [RowKey], of entity: CompiledEntity, where predicate: RowPredicate) throws -> Set<RowKey>

    /// Checks that the database supports a condition.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate`.
    func check(_ predicate: RowPredicate, on entity: CompiledEntity) throws

    /// Returns the rows of a table with pending changes.
    func rowsWithPendingChanges(of table: TableID) throws -> Set<RowKey>

    /// Counts the rows of an entity without its subentities, up to a limit.
    func count(of entity: CompiledEntity, upTo limit: Int?) throws -> Int

    /// Returns the key of the next new row. It is greater than all surrogate keys of the table. Without surrogate keys,
    /// it is greater than all temporary keys.
    func nextKey(of table: TableID) throws -> Int64

    /// Inserts the rows of new nodes, in the given order.
    func insert(_ nodes: [NodeID], _ table: SyncTable) throws

    /// Updates the changed columns of nodes.
    func update(_ nodes: [NodeID], _ table: SyncTable) throws

    /// Changes the entity of rows to a subentity. Sets the attributes that the subentity adds, given by their slots, to
    /// their defaults.
    func setEntities(of rows: [(key: RowKey, entity: CompiledEntity, added: [Int])], in table: TableID) throws

    /// Changes the primary key of a row to a key that no row has. Links to the row, and its pending references, stay.
    /// Links that referenced a missing row with the new key are removed.
    ///
    /// - Returns: The row key of the row afterwards: the new key, or the unchanged surrogate key.
    /// - Throws: ``SyncError`` `rowNotFound` if the new key includes the key of a row that is not stored.
    func setKey(of row: RowKey, _ entity: CompiledEntity, to key: RowKey) throws -> RowKey

    /// Deletes rows, in the given order: owned rows before their owners. Also deletes the join rows that still
    /// reference them, such as the reverse links of a symmetric association.
    ///
    /// - Returns: The rows of tables outside the model that foreign keys deleted or changed.
    func delete(_ rows: [StoredRow]) throws -> [OutsideReferences]

    /// Counts the rows of a table outside the model.
    func rowCount(ofTable name: String) throws -> Int

    // MARK: Links

    /// Returns the links from rows at one end to stored rows. The links of one row are ordered by position, then by
    /// key. Links without a position come last.
    func links(of rows: [RowKey], _ link: CompiledAssociation, from end: CompiledAssociation.End) throws -> [StoredLink]

    /// Returns the given join keys that a join table contains.
    func stored(_ joinRows: [JoinKey], _ link: CompiledAssociation) throws -> Set<JoinKey>

    /// Returns the next free position in the list of each row: after linked rows and after positions reserved for
    /// pending references.
    func nextPositions(in owners: [RowKey], _ link: CompiledAssociation, _ end: CompiledAssociation.End) throws
        -> [Int64]

    /// Returns the positions that the list of each row reserves for pending references.
    func reservedPositions(in owners: [RowKey], _ link: CompiledAssociation, _ end: CompiledAssociation.End) throws
        -> [[Int64]]

    /// Sets foreign keys, with the positions in the lists of the referenced rows.
    func setForeignKeys(_ changes: [ForeignKeyUpdate], _ link: CompiledAssociation) throws

    /// Inserts links between nodes.
    ///
    /// - Parameter positions: The positions in the lists of both rows; empty if the association has no positions.
    func insert(_ joinRows: [NodeLink], _ positions: [LinkPositions], _ link: CompiledAssociation) throws

    /// Inserts join rows.
    func insert(_ joinRows: [JoinRow], _ link: CompiledAssociation) throws

    /// Deletes join rows.
    func remove(_ joinRows: [JoinKey], _ link: CompiledAssociation) throws

    /// Sets the positions of links in the lists of the rows at one end.
    func setPositions(
        _ positions: [(key: JoinKey, position: Int64)], _ link: CompiledAssociation, _ end: CompiledAssociation.End)
        throws

    /// Looks for dangling links that can affect the payload graph. If there is one, returns the dangling links of all
    /// associations.
    func danglingLinks() throws -> [DanglingJoinRows]

    /// Returns the dangling rows of join tables in which the comparison found links to rows without a node. Call it
    /// after comparing the join tables.
    func danglingJoinRows() throws -> [DanglingJoinRows]

    /// Removes all dangling links of these associations.
    func removeDangling(_ links: [AssociationID]) throws

    // MARK: Pending references

    /// Returns at least the pending references that affect the payload graph. These are from its rows, to its rows, and
    /// to rows that code other than a sync inserted. They are sorted by owner, relationship and position.
    func pendingReferences() throws -> [PositionedReference]

    /// Stores pending references, or updates their positions.
    func insertPendingReferences(_ references: [PositionedReference]) throws

    func deletePendingReferences(_ references: [PendingReference]) throws

    /// Deletes the pending references of deleted rows.
    func deletePendingReferences(of rows: [StoredRow]) throws

    /// Deletes the pending references of deleted rows that had the keys of new nodes.
    func deletePendingReferencesOfNewNodes() throws
}

extension StoreSession {
    /// Returns no rows, for databases without an engine.
    package func rowsWithPendingChanges(of table: TableID) throws -> Set<RowKey> { [] }
}

/// The purpose of one pass over stored rows.
package enum MatchPass: Sendable {
    /// Reads states, entities and links. The sync has not decided yet which records are effective.
    case match
    /// Compares values.
    case diff
    /// Does both in one pass, if all records are effective.
    case both
}

/// The unmatched rows to collect.
package struct UnmatchedRowFilter {
    /// For each foreign key of the table, whether unmatched rows can lose it because the payload asserts links of the
    /// referenced rows.
    package let watched: [Bool]
    /// The entity whose unmatched rows are all collected, because the sync deletes the rows that the payload omits; nil
    /// if there is none.
    package let scope: Int?
    /// Whether the payload is a snapshot of all rows. Links to rows that it omits are then rare.
    package let coversAll: Bool
}

/// A table in which a sync changed rows.
package struct ChangedTable: Hashable, Sendable {
    package let table: TableID
    package let changes: RowChangeKinds

    package init(table: TableID, changes: RowChangeKinds) {
        self.table = table
        self.changes = changes
    }
}

/// The kinds of changes of the rows of one table.
package struct RowChangeKinds: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let insertion = RowChangeKinds(rawValue: 1)
    package static let update = RowChangeKinds(rawValue: 2)
    package static let deletion = RowChangeKinds(rawValue: 4)
}

// MARK: - Rows

/// The entity and key of a stored row.
package struct StoredIdentity: Sendable {
    package var entity: Int
    /// The primary key; nil for a keyless row, or if a part of the key has no value.
    package var key: RowKey?

    package init(entity: Int, key: RowKey?) {
        self.entity = entity
        self.key = key
    }
}

/// The values of a stored row.
package struct StoredValues: Sendable {
    /// The values of the attributes, with their slots. Temporary keys are null.
    package var attributes: [(slot: Int, value: StoredValue)]
    /// The foreign keys that are not null, by their index in ``EntityHierarchy/foreignKeys``.
    package var targets: [(foreignKey: Int, row: RowKey)]

    package init(attributes: [(slot: Int, value: StoredValue)], targets: [(foreignKey: Int, row: RowKey)]) {
        self.attributes = attributes
        self.targets = targets
    }
}

/// A reference by ID to a row that is not stored yet.
package struct PendingReference: Hashable, Sendable {
    package var owner: StoredRow
    package var ownerEntity: Int
    package var relationship: String
    package var targetEntity: Int
    package var target: RowKey

    package init(owner: StoredRow, ownerEntity: Int, relationship: String, targetEntity: Int, target: RowKey) {
        self.owner = owner
        self.ownerEntity = ownerEntity
        self.relationship = relationship
        self.targetEntity = targetEntity
        self.target = target
    }

    /// Hashes only the keys, which differ between nearly all references.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(owner.key)
        hasher.combine(target)
    }
}

/// A pending reference with the position that is reserved for its row.
package struct PositionedReference: Sendable {
    package var reference: PendingReference
    /// The index in the list of IDs that contains the reference; -1 for a to-one relationship, as in the store.
    package var position: Int64

    package init(_ reference: PendingReference, at position: Int64) {
        self.reference = reference
        self.position = position
    }
}
