import SyncCore
import SyncStore

@testable import SyncSQLite

/// A session that records its operations. Over a network, each operation may be a round trip.
final class CountingSession: StoreSession {
    private let session: SQLiteSession
    private(set) var operations: [String] = []

    init(_ session: SQLiteSession) { self.session = session }

    private func count<Result>(_ name: String = #function, _ operation: () throws -> Result) rethrows -> Result {
        operations.append(name)
        return try operation()
    }

    var scratch: [String: Int] {
        get { session.scratch }
        set { session.scratch = newValue }
    }

    func begin(_ plan: PayloadGraph, _ tables: SyncTables, _ steps: ProgressReporter) throws {
        try session.begin(plan, tables, steps)
    }

    func end(awaits: Bool) throws {
        try count { try session.end(awaits: awaits) }
    }

    func reserveCapacity(forInserting rows: Int) throws {
        try count { try session.reserveCapacity(forInserting: rows) }
    }

    func checkLinks() throws {
        try count { try session.checkLinks() }
    }

    func notifyObservers(of tables: [ChangedTable], andLinks: Bool) throws {
        try count { try session.notifyObservers(of: tables, andLinks: andLinks) }
    }

    func match(_ table: SyncTable, _ pass: MatchPass, _ watch: UnmatchedRowFilter) throws {
        try count { try session.match(table, pass, watch) }
    }

    func match(_ rows: [(node: NodeID, key: RowKey)], _ table: SyncTable, _ pass: MatchPass) throws {
        try count { try session.match(rows, table, pass) }
    }

    func diff(_ said: inout ResolvedJoinRows, _ link: CompiledAssociation, coversAll: Bool) throws -> JoinTableDiff {
        try count { try session.diff(&said, link, coversAll: coversAll) }
    }

    func rows(withKeys keys: [RowKey], of entity: CompiledEntity) throws -> [RowKey?] {
        try count { try session.rows(withKeys: keys, of: entity) }
    }

    func identities(of rows: [RowKey], in table: TableID) throws -> [StoredIdentity?] {
        try count { try session.identities(of: rows, in: table) }
    }

    func values(of rows: [RowKey], in table: TableID) throws -> [StoredValues?] {
        try count { try session.values(of: rows, in: table) }
    }

    func rows(
        of entity: CompiledEntity, where predicate: RowPredicate?, after key: RowKey?, limit: Int
    ) throws -> [RowKey] {
        try count { try session.rows(of: entity, where: predicate, after: key, limit: limit) }
    }

    func rows(among rows: [RowKey], of entity: CompiledEntity, where predicate: RowPredicate) throws -> Set<RowKey> {
        try count { try session.rows(among: rows, of: entity, where: predicate) }
    }

    func check(_ predicate: RowPredicate, on entity: CompiledEntity) throws {
        try count { try session.check(predicate, on: entity) }
    }

    func count(of entity: CompiledEntity, upTo limit: Int?) throws -> Int {
        try count { try session.count(of: entity, upTo: limit) }
    }

    func nextKey(of table: TableID) throws -> Int64 {
        try count { try session.nextKey(of: table) }
    }

    func insert(_ nodes: [NodeID], _ table: SyncTable) throws {
        try count { try session.insert(nodes, table) }
    }

    func update(_ nodes: [NodeID], _ table: SyncTable) throws {
        try count { try session.update(nodes, table) }
    }

    func setEntities(of rows: [(key: RowKey, entity: CompiledEntity, added: [Int])], in table: TableID) throws {
        try count { try session.setEntities(of: rows, in: table) }
    }

    func delete(_ rows: [StoredRow]) throws {
        try count { try session.delete(rows) }
    }

    func links(of rows: [RowKey], _ link: CompiledAssociation, from end: CompiledAssociation.End) throws -> [StoredLink]
    {
        try count { try session.links(of: rows, link, from: end) }
    }

    func stored(_ pairs: [JoinKey], _ link: CompiledAssociation) throws -> Set<JoinKey> {
        try count { try session.stored(pairs, link) }
    }

    func nextPositions(in owners: [RowKey], _ link: CompiledAssociation, _ end: CompiledAssociation.End) throws
        -> [Int64]
    {
        try count { try session.nextPositions(in: owners, link, end) }
    }

    func reservedPositions(in owners: [RowKey], _ link: CompiledAssociation, _ end: CompiledAssociation.End) throws
        -> [[Int64]]
    {
        try count { try session.reservedPositions(in: owners, link, end) }
    }

    func setForeignKeys(_ changes: [ForeignKeyUpdate], _ link: CompiledAssociation) throws {
        try count { try session.setForeignKeys(changes, link) }
    }

    func insert(_ pairs: [NodeLink], _ places: [LinkPositions], _ link: CompiledAssociation) throws {
        try count { try session.insert(pairs, places, link) }
    }

    func insert(_ pairs: [JoinRow], _ link: CompiledAssociation) throws {
        try count { try session.insert(pairs, link) }
    }

    func remove(_ pairs: [JoinKey], _ link: CompiledAssociation) throws {
        try count { try session.remove(pairs, link) }
    }

    func setPositions(
        _ positions: [(key: JoinKey, position: Int64)], _ link: CompiledAssociation, _ end: CompiledAssociation.End
    ) throws {
        try count { try session.setPositions(positions, link, end) }
    }

    func danglingLinks() throws -> [DanglingJoinRows] {
        try count { try session.danglingLinks() }
    }

    func danglingJoinRows() throws -> [DanglingJoinRows] {
        try count { try session.danglingJoinRows() }
    }

    func removeDangling(_ links: [AssociationID]) throws {
        try count { try session.removeDangling(links) }
    }

    func pendingReferences() throws -> [PositionedReference] {
        try count { try session.pendingReferences() }
    }

    func insertPendingReferences(_ references: [PositionedReference]) throws {
        try count { try session.insertPendingReferences(references) }
    }

    func deletePendingReferences(_ references: [PendingReference]) throws {
        try count { try session.deletePendingReferences(references) }
    }

    func deletePendingReferences(of rows: [StoredRow]) throws {
        try count { try session.deletePendingReferences(of: rows) }
    }

    func deletePendingReferencesOfNewNodes() throws {
        try count { try session.deletePendingReferencesOfNewNodes() }
    }

    func rowFlags(of rows: [StoredRow], in table: String) throws -> [RowFlags] {
        try count { try session.rowFlags(of: rows, in: table) }
    }

    func moveRowFlags(_ marks: inout RowFlagTable, to table: String?) throws -> String {
        try count { try session.moveRowFlags(&marks, to: table) }
    }

    func dropRowFlags(in table: String) throws {
        try count { try session.dropRowFlags(in: table) }
    }

}
