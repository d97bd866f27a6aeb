package import SyncCore

/// A database inside a transaction, as a sync needs it.
///
/// Every operation takes and returns many rows at once, so that a sync is about as many of them whether it is of ten rows
/// or of a million: over a network each may cost a round trip. What a sync decides is none of its business; how values are
/// kept and compared is nobody else's. Rows are given by their keys, in any order and each once; answers are in that order.
package protocol StoreSession: AnyObject {
    // MARK: A sync

    /// Called before anything else of a sync; there may be several in one transaction.
    ///
    /// - Parameter tables: The tables of the plan, to be met.
    func begin(_ plan: PayloadGraph, _ tables: SyncTables, _ steps: ProgressReporter) throws

    /// Called when a sync has written all it will.
    ///
    /// - Parameter awaits: Whether the payload refers to rows that are not stored.
    func end(awaits: Bool) throws

    /// What it wants to know again when it meets the next page of a run.
    var memory: [String: Int] { get set }

    /// Called before rows and pairs are inserted.
    func makeRoom(forInserting count: Int) throws

    /// Every link must lead to stored rows by now.
    ///
    /// - Throws: ``SyncError`` `storeFailure`, naming some that do not.
    func checkLinks() throws

    /// Tells observers, once the transaction is committed, that rows of these tables changed, and pairs if links did.
    func notifyObservers(of tables: [TableID], andPairs: Bool) throws

    // MARK: Meeting the plan

    /// Finds the stored rows of the nodes that have a key, and notes in ``SyncTable/met`` what they hold.
    ///
    /// - Parameter watch: Which other rows matter.
    func meet(_ table: SyncTable, _ pass: MatchPass, _ watch: UnmatchedRowFilter) throws

    /// Notes what the rows of these nodes hold, which were found through their owners.
    func meet(_ rows: [(node: NodeID, key: RowKey)], _ table: SyncTable, _ pass: MatchPass) throws

    /// Compares the pairs that a payload says there are with those of a join table, and marks those that are stored.
    func compare(_ said: inout ResolvedJoinRows, _ link: CompiledAssociation, coversAll: Bool) throws -> JoinTableDiff

    // MARK: Rows

    /// The rows with these values of the key attribute, among those that share the keys of an entity.
    func rows(withKeys keys: [RowKey], of entity: CompiledEntity) throws -> [RowKey?]

    /// Which entity rows are of, and the values of their key attributes; nil for those that are not stored.
    func identities(of rows: [RowKey], in table: TableID) throws -> [StoredIdentity?]

    /// What rows hold; nil for those that are not stored.
    func values(of rows: [RowKey], in table: TableID) throws -> [StoredValues?]

    /// The rows of an entity for which a condition holds.
    ///
    /// - Parameter keeping: Says of some of them at a time which ones matter.
    func rows(
        of entity: CompiledEntity, where predicate: RowPredicate?, keeping: ([RowKey]) throws -> [RowKey]
    ) throws -> [RowKey]

    /// Those of some rows that are of an entity and for which a condition holds.
    func rows(among rows: [RowKey], of entity: CompiledEntity, where predicate: RowPredicate) throws -> Set<RowKey>

    /// Whether it understands a condition.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate`.
    func check(_ predicate: RowPredicate, on entity: CompiledEntity) throws

    /// The rows of a table with changes that a two-way engine has not sent yet.
    func unsentRows(of table: TableID) throws -> Set<RowKey>

    /// How many rows an entity has, those of its sub-entities left out; no more than a limit are counted.
    func count(of entity: CompiledEntity, upTo limit: Int?) throws -> Int

    /// A key above those of all rows of a table: a hidden one, or a local one where keys are the service's own.
    func nextKey(of table: TableID) throws -> Int64

    /// Inserts the rows of new nodes, in the order given.
    func insert(_ nodes: [NodeID], _ table: SyncTable) throws

    /// Writes the columns of nodes that are marked as changed.
    func update(_ nodes: [NodeID], _ table: SyncTable) throws

    /// Makes rows those of a sub-entity, with the defaults of the attributes it adds.
    func refine(_ rows: [(key: RowKey, entity: CompiledEntity, added: [Int])], in table: TableID) throws

    /// Deletes rows, in the order given. Those that own others come after them.
    func delete(_ rows: [StoredRow]) throws

    // MARK: Links

    /// The links that rows have from one end of a link to rows that are stored.
    func links(of rows: [RowKey], _ link: CompiledAssociation, from end: CompiledAssociation.End) throws -> [StoredLink]

    /// Which of some pairs a join table has.
    func stored(_ pairs: [JoinKey], _ link: CompiledAssociation) throws -> Set<JoinKey>

    /// The places after all others in the lists of rows: after those that are linked, and those that they wait for.
    func nextPositions(in owners: [RowKey], _ link: CompiledAssociation, _ end: CompiledAssociation.End) throws
        -> [Int64]

    /// The places that are kept in the lists of rows for those that they wait for.
    func preservedPositions(in owners: [RowKey], _ link: CompiledAssociation, _ end: CompiledAssociation.End) throws
        -> [[Int64]]

    /// Sets foreign keys, with their places in the lists of their targets.
    func setTargets(_ changes: [ForeignKeyUpdate], _ link: CompiledAssociation) throws

    /// Adds pairs of nodes.
    ///
    /// - Parameter places: Their places in the lists of either row; empty if they have none.
    func insert(_ pairs: [NodeLink], _ places: [LinkPositions], _ link: CompiledAssociation) throws

    /// Adds pairs.
    func insert(_ pairs: [JoinRow], _ link: CompiledAssociation) throws

    /// Removes pairs.
    func remove(_ pairs: [JoinKey], _ link: CompiledAssociation) throws

    /// Sets the places of links in the lists of the rows at one end.
    func setPositions(
        _ places: [(pair: JoinKey, place: Int64)], _ link: CompiledAssociation, _ end: CompiledAssociation.End) throws

    /// Links to rows that are not stored, which something else left behind, as far as they matter to the plan.
    func danglingLinks() throws -> [DanglingJoinRows]

    /// The same of join tables, once their pairs were compared.
    func danglingJoinRows() throws -> [DanglingJoinRows]

    /// Removes all dangling links of these.
    func removeDangling(_ links: [AssociationID]) throws

    // MARK: References to rows that are not stored

    /// The remembered references that concern the plan: of its rows, to its rows, and those whose rows came by other means
    /// than a sync. By owner and position.
    func rememberedReferences() throws -> [PositionedReference]

    /// Remembers references, or that they have another place.
    func remember(_ references: [PositionedReference]) throws

    func forget(_ references: [PendingReference]) throws

    /// Forgets what rows were waiting for that are gone.
    func deletePendingReferences(of rows: [StoredRow]) throws

    /// Forgets what rows were waiting for that had the keys of new nodes before.
    func deletePendingReferencesOfNewNodes() throws

    // MARK: Marks of a run

    /// The marks that were moved out of memory.
    func marks(of rows: [StoredRow], in table: String) throws -> [RowFlags]

    /// Moves marks out of memory.
    ///
    /// - Returns: The name of the table that has them.
    func move(_ marks: inout RowFlagTable, to table: String?) throws -> String

    func dropMarks(in table: String) throws
}

extension StoreSession {
    /// None: no engine keeps it in step.
    package func unsentRows(of table: TableID) throws -> Set<RowKey> { [] }
}

/// What a pass over stored rows is for.
package enum MatchPass: Sendable {
    /// Presence, entity and links only: which records count is not decided yet.
    case meet
    /// Values only.
    case compare
    /// Everything at once, where all records count.
    case both
}

/// Which stored rows matter although the plan has no node for them.
package struct UnmatchedRowFilter {
    /// Of each foreign key of the table, whether rows may lose it to what the payload says of its targets.
    package let watched: [Bool]
    /// The entity whose rows all matter, because those that the payload leaves out are deleted; nil if there is none.
    package let scope: Int?
    /// Whether the payload is all there is: a link to a row that it does not mention is a rare thing then.
    package let coversAll: Bool
    /// Says of some strays at a time which ones matter; nil if all do.
    package let keeping: (([UnmatchedRows.Row]) throws -> [UnmatchedRows.Row])?
}
