package import SyncCore
package import SyncStore

/// A session that passes each operation to another session, under conditions that a database over a network may have.
///
/// It records each operation, because each may be a round trip. It rejects an operation while another one runs. It
/// shuffles answers without a promised order. It can fail at one operation, as a database does whose transactions
/// conflict.
package final class CheckedSession: StoreSession {
    /// The error of a call that violates the rules of ``StoreSession``.
    package struct Violation: Error, CustomStringConvertible {
        package let description: String
    }

    private let session: any StoreSession
    private let conditions: SessionConditions
    /// The operation that runs; nil if there is none.
    private var running: String?
    /// The rows of the last condition, in the order in which ``rows(of:where:after:limit:)`` returns them.
    private var shuffledRows: [RowKey] = []

    package init(_ session: any StoreSession, _ conditions: SessionConditions) {
        self.session = session
        self.conditions = conditions
    }

    private func run<Result>(_ name: String = #function, _ operation: () throws -> Result) throws -> Result {
        if let running { throw Violation(description: "\(name) was called while \(running) ran") }
        running = name
        defer { running = nil }
        try conditions.record(name)
        return try operation()
    }

    // MARK: Syncs

    package var scratch: [String: Int] {
        get { session.scratch }
        set { session.scratch = newValue }
    }

    package func begin(_ graph: PayloadGraph, _ tables: SyncTables, _ steps: ProgressReporter) throws {
        try session.begin(graph, tables, steps)
    }

    package func end(awaits: Bool) throws { try run { try session.end(awaits: awaits) } }

    package func reserveCapacity(forInserting count: Int) throws {
        try run { try session.reserveCapacity(forInserting: count) }
    }

    package func checkLinks() throws -> [OutsideReferences] { try run { try session.checkLinks() } }

    package func notifyObservers(of tables: [ChangedTable], andLinks: Bool) throws {
        try run { try session.notifyObservers(of: tables, andLinks: andLinks) }
    }

    // MARK: Matching

    package func match(_ table: SyncTable, _ pass: MatchPass, _ watch: UnmatchedRowFilter) throws {
        try run {
            try session.match(table, pass, watch)
            shuffleMatches(of: table)
        }
    }

    package func match(_ rows: [(node: NodeID, key: RowKey)], _ table: SyncTable, _ pass: MatchPass) throws {
        try run {
            try session.match(rows, table, pass)
            table.matches.mismatches = conditions.shuffled(table.matches.mismatches)
        }
    }

    private func shuffleMatches(of table: SyncTable) {
        table.matches.mismatches = conditions.shuffled(table.matches.mismatches)
        let unmatched = table.matches.unmatchedRows
        let order = conditions.shuffled(Array(unmatched.rows.indices))
        var places = Array(repeating: 0, count: order.count)
        for (place, index) in order.enumerated() { places[index] = place }
        table.matches.unmatchedRows.rows = order.map { unmatched.rows[$0] }
        table.matches.unmatchedRows.references = conditions.shuffled(
            unmatched.references.map {
                UnmatchedRows.Reference(row: places[$0.row], link: $0.link, target: $0.target)
            })
    }

    package func diff(_ asserted: inout ResolvedJoinRows, _ link: CompiledAssociation, coversAll: Bool) throws
        -> JoinTableDiff
    {
        try run {
            var difference = try session.diff(&asserted, link, coversAll: coversAll)
            difference.removed = conditions.shuffled(difference.removed)
            difference.moved = conditions.shuffled(difference.moved)
            return difference
        }
    }

    // MARK: Rows

    package func rows(withKeys keys: [RowKey], of entity: CompiledEntity) throws -> [RowKey?] {
        try run { try session.rows(withKeys: keys, of: entity) }
    }

    package func referencesToOtherRows(among references: [PendingReference]) throws -> [PendingReference] {
        try run { try session.referencesToOtherRows(among: references) }
    }

    package func identities(of rows: [RowKey], in table: TableID) throws -> [StoredIdentity?] {
        try run { try session.identities(of: rows, in: table) }
    }

    package func values(of rows: [RowKey], in table: TableID) throws -> [StoredValues?] {
        try run { try session.values(of: rows, in: table) }
    }

    package func rows(
        of entity: CompiledEntity, where predicate: RowPredicate?, after key: RowKey?, limit: Int
    ) throws -> [RowKey] {
        try run {
            guard conditions.shuffles else {
                return try session.rows(of: entity, where: predicate, after: key, limit: limit)
            }
            guard let key else {
                let rows = try session.rows(of: entity, where: predicate, after: nil, limit: .max)
                shuffledRows = conditions.shuffled(rows)
                return Array(shuffledRows.prefix(limit))
            }
            guard let index = shuffledRows.firstIndex(of: key) else {
                throw Violation(description: "the rows after a row that was not returned")
            }
            return Array(shuffledRows[(index + 1)...].prefix(limit))
        }
    }

    package func rows(among rows: [RowKey], of entity: CompiledEntity, where predicate: RowPredicate) throws
        -> Set<RowKey>
    {
        try run { try session.rows(among: rows, of: entity, where: predicate) }
    }

    package func check(_ predicate: RowPredicate, on entity: CompiledEntity) throws {
        try run { try session.check(predicate, on: entity) }
    }

    package func rowsWithPendingChanges(of table: TableID) throws -> Set<RowKey> {
        try run { try session.rowsWithPendingChanges(of: table) }
    }

    package func count(of entity: CompiledEntity, upTo limit: Int?) throws -> Int {
        try run { try session.count(of: entity, upTo: limit) }
    }

    package func nextKey(of table: TableID) throws -> Int64 { try run { try session.nextKey(of: table) } }

    package func insert(_ nodes: [NodeID], _ table: SyncTable) throws { try run { try session.insert(nodes, table) } }

    package func update(_ nodes: [NodeID], _ table: SyncTable) throws { try run { try session.update(nodes, table) } }

    package func setEntities(of rows: [(key: RowKey, entity: CompiledEntity, added: [Int])], in table: TableID) throws {
        try run { try session.setEntities(of: rows, in: table) }
    }

    package func setKey(of row: RowKey, _ entity: CompiledEntity, to key: RowKey) throws -> RowKey {
        try run { try session.setKey(of: row, entity, to: key) }
    }

    package func delete(_ rows: [StoredRow]) throws -> [OutsideReferences] { try run { try session.delete(rows) } }

    package func rowCount(ofTable name: String) throws -> Int { try run { try session.rowCount(ofTable: name) } }

    // MARK: Links

    package func links(of rows: [RowKey], _ link: CompiledAssociation, from end: CompiledAssociation.End) throws
        -> [StoredLink]
    {
        try run { try session.links(of: rows, link, from: end) }
    }

    package func stored(_ joinRows: [JoinKey], _ link: CompiledAssociation) throws -> Set<JoinKey> {
        try run { try session.stored(joinRows, link) }
    }

    package func nextPositions(in owners: [RowKey], _ link: CompiledAssociation, _ end: CompiledAssociation.End) throws
        -> [Int64]
    {
        try run { try session.nextPositions(in: owners, link, end) }
    }

    package func reservedPositions(in owners: [RowKey], _ link: CompiledAssociation, _ end: CompiledAssociation.End)
        throws -> [[Int64]]
    {
        try run { try session.reservedPositions(in: owners, link, end).map { conditions.shuffled($0) } }
    }

    package func setForeignKeys(_ changes: [ForeignKeyUpdate], _ link: CompiledAssociation) throws {
        try run { try session.setForeignKeys(changes, link) }
    }

    package func insert(_ joinRows: [NodeLink], _ positions: [LinkPositions], _ link: CompiledAssociation) throws {
        try run { try session.insert(joinRows, positions, link) }
    }

    package func insert(_ joinRows: [JoinRow], _ link: CompiledAssociation) throws {
        try run { try session.insert(joinRows, link) }
    }

    package func remove(_ joinRows: [JoinKey], _ link: CompiledAssociation) throws {
        try run { try session.remove(joinRows, link) }
    }

    package func setPositions(
        _ positions: [(key: JoinKey, position: Int64)], _ link: CompiledAssociation, _ end: CompiledAssociation.End
    ) throws {
        try run { try session.setPositions(positions, link, end) }
    }

    package func danglingLinks() throws -> [DanglingJoinRows] { try run { shuffled(try session.danglingLinks()) } }

    package func danglingJoinRows() throws -> [DanglingJoinRows] {
        try run { shuffled(try session.danglingJoinRows()) }
    }

    private func shuffled(_ found: [DanglingJoinRows]) -> [DanglingJoinRows] {
        conditions.shuffled(found.map { DanglingJoinRows($0.link, conditions.shuffled($0.joinRows)) })
    }

    package func removeDangling(_ links: [AssociationID]) throws { try run { try session.removeDangling(links) } }

    // MARK: Pending references

    package func pendingReferences() throws -> [PositionedReference] { try run { try session.pendingReferences() } }

    package func insertPendingReferences(_ references: [PositionedReference]) throws {
        try run { try session.insertPendingReferences(references) }
    }

    package func deletePendingReferences(_ references: [PendingReference]) throws {
        try run { try session.deletePendingReferences(references) }
    }

    package func deletePendingReferences(of rows: [StoredRow]) throws {
        try run { try session.deletePendingReferences(of: rows) }
    }

    package func deletePendingReferencesOfNewNodes() throws {
        try run { try session.deletePendingReferencesOfNewNodes() }
    }
}
