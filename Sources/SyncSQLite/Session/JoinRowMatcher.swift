import GRDB
import SyncCore
import SyncStore

/// Compares the stored join rows of one table with the join rows that the payload asserts.
struct JoinRowMatcher {
    private(set) var asserted: ResolvedJoinRows
    private(set) var compared = JoinTableDiff()
    /// Whether a stored join row that stays references a row without a node.
    private(set) var hasUnmatchedRows = false
    /// The rows that have no node, but that stored join rows reference; empty unless the caller asked for them.
    private(set) var unmatchedEnds = DanglingCandidates()
    private let collectsUnmatchedEnds: Bool
    private let link: CompiledAssociation
    private let first: SyncTable
    private let second: SyncTable
    private let firstLookup: NodeLookup
    private let secondLookup: NodeLookup
    private let firstColumns: RowColumns
    private let secondColumns: RowColumns
    private var seen: Set<JoinKey> = []

    init(
        _ asserted: ResolvedJoinRows, of link: CompiledAssociation, _ ends: (SyncTable, SyncTable),
        _ lookups: [NodeLookup],
        collectingUnmentioned: Bool, _ session: SQLiteSession
    ) {
        self.asserted = asserted
        collectsUnmatchedEnds = collectingUnmentioned
        self.link = link
        (first, second) = ends
        firstLookup = lookups[first.id.index]
        secondLookup = lookups[second.id.index]
        firstColumns = session.columns(first.id)
        secondColumns = session.columns(second.id)
    }

    func table(_ end: CompiledAssociation.End) -> SyncTable { end == .first ? first : second }

    /// Returns the nodes at an end that are stored and whose list is replaced.
    func rowsWithReplacedLinks(_ end: CompiledAssociation.End) -> some Sequence<NodeID> {
        let table = table(end)
        return (end == .first ? asserted.first : asserted.second).nodes.lazy.filter { table.isPresent($0, as: .stored) }
    }

    /// Returns the asserted join rows between stored nodes for which neither node's list is replaced.
    func unreplacedRows() -> [ResolvedJoinRows.Row] {
        asserted.rows.filter {
            !asserted.first.isReplaced($0.first) && !asserted.second.isReplaced($0.second)
                && first.isPresent($0.first, as: .stored) && second.isPresent($0.second, as: .stored)
        }
    }

    /// Compares all join rows that a statement reads.
    mutating func compareAll(_ statement: RawStatement, isOrdered: Bool, _ steps: ProgressReporter) throws {
        let isGuessed =
            firstLookup.hasIntegerKeys && secondLookup.hasIntegerKeys && !isOrdered && !firstLookup.testsStorageClass
        var counter = ProgressCounter(steps)
        var guess = 0
        while try statement.step() {
            try counter.advance()
            // Join rows are often stored in the order of the payload, so try the next asserted join row first.
            if isGuessed, guess < asserted.rows.count,
                firstLookup.integerKey(asserted.rows[guess].first.index) == statement.integer(0),
                secondLookup.integerKey(asserted.rows[guess].second.index) == statement.integer(1)
            {
                asserted.rows[guess].isStored = true
                guess += 1
            } else if let matched = compare(statement) {
                guess = matched + 1
            }
        }
        try counter.finish()
    }

    /// Compares a stored join row, unless it was already read from the other end.
    mutating func compareOnce(_ statement: RawStatement) {
        guard let rows = rows(statement), seen.insert(rows).inserted else { return }
        _ = compare(statement)
    }

    /// Compares a stored join row with the asserted join rows. Returns the index of the asserted join row with the same
    /// ends; nil if there is none.
    mutating func compare(_ statement: RawStatement) -> Int? {
        let (one, other) = (
            node(statement, 0, first, firstLookup, firstColumns),
            node(statement, 1, second, secondLookup, secondColumns)
        )
        if let index = asserted.index(of: one, other) {
            asserted.rows[index].isStored = true
            let stored = LinkPositions(
                first: statement.isNull(2) ? nil : statement.integer(2),
                second: statement.isNull(3) ? nil : statement.integer(3))
            let moved = JoinTableDiff.Moved(asserted.rows[index], of: link, index: index, stored: stored) {
                rows(statement)
            }
            if let moved { compared.moved.append(moved) }
            return index
        }
        if collectsUnmatchedEnds {
            if one == nil { unmatchedEnds.record(statement.key(0), at: .first) }
            if other == nil { unmatchedEnds.record(statement.key(1), at: .second) }
        }
        guard !asserted.preserves(one, other), let rows = rows(statement) else {
            if one == nil || other == nil { hasUnmatchedRows = true }
            return nil
        }
        compared.removed.append(.init(rows: rows, first: one, second: other))
        return nil
    }

    private func rows(_ statement: RawStatement) -> JoinKey? {
        guard let one = statement.key(0), let other = statement.key(1) else { return nil }
        return JoinKey(first: one, second: other)
    }

    /// Returns the node at one end of a stored join row; nil for a row without a node.
    private func node(
        _ statement: RawStatement, _ column: Int, _ table: SyncTable, _ lookup: NodeLookup, _ columns: RowColumns
    ) -> NodeID? {
        if columns.hasSurrogateKey { return table.keys.node(ofSurrogate: statement.integer(column)) }
        if lookup.hasOwned, table.keys.hasOwned, let key = statement.key(column), let owned = table.keys.owned(key) {
            return owned
        }
        guard let key = columns.commonKey, !lookup.isEmpty else { return nil }
        return lookup.node(statement, column, key.type, key.owner, table.pool, guess: -1).map { NodeID($0) }
    }
}

/// The statements that read and write the join table of an association.
///
/// Statements that read return four columns: the keys of the first and the second row, and the positions of the link in
/// their lists.
struct JoinTableStatements {
    let table: String
    /// Whether the lists at one or both ends are ordered.
    let isOrdered: Bool
    private let db: Database
    private let name: String
    private let first: String
    private let second: String
    private let firstOrder: String?
    private let secondOrder: String?

    /// Returns nil for an association that is stored as a foreign key.
    init?(_ link: AssociationID, _ layout: StoreLayout, _ db: Database) {
        guard case .joinTable(let name, let first, let second, let firstOrder, let secondOrder) = layout[link]
        else { return nil }
        self.db = db
        self.name = name
        table = name.quoted
        self.first = first.quoted
        self.second = second.quoted
        self.firstOrder = firstOrder?.quoted
        self.secondOrder = secondOrder?.quoted
        isOrdered = firstOrder != nil || secondOrder != nil
    }

    private func column(_ end: CompiledAssociation.End) -> String { end == .first ? first : second }
    func order(_ end: CompiledAssociation.End) -> String? { end == .first ? firstOrder : secondOrder }

    // MARK: Reading

    private var select: String {
        "SELECT \(first), \(second), \(firstOrder ?? "NULL"), \(secondOrder ?? "NULL") FROM \(table)"
    }

    /// Returns a statement that reads all join rows.
    func all() throws -> RawStatement { try RawStatement(db, select) }

    /// Returns a statement that reads the join rows whose key at one end is in a range, in the order of that key.
    func joinRows(of rows: KeyRange, at end: CompiledAssociation.End) throws -> RawStatement {
        let column = column(end)
        let statement = try RawStatement(db, select + KeyRange.condition(column) + " ORDER BY \(column)")
        rows.bind(to: statement)
        return statement
    }

    /// Returns a statement that reads the join rows of one row. The parameter is its key.
    func joinRows(ofRowAt end: CompiledAssociation.End) throws -> RawStatement {
        try RawStatement(db, select + " WHERE \(column(end)) = ?")
    }

    /// Returns a statement that reads one join row. The parameters are its two keys.
    func one() throws -> RawStatement { try RawStatement(db, select + " WHERE \(first) = ? AND \(second) = ?") }

    // MARK: Writing

    /// Returns a statement that deletes one join row. The parameters are its two keys.
    func removal() throws -> RawStatement {
        try RawStatement(db, "DELETE FROM \(table) WHERE \(first) = ? AND \(second) = ?")
    }

    /// Returns an insertion of join rows. The parameters of each join row are its two keys and its position at each
    /// ordered end.
    func insertion(of count: Int) throws -> BulkInsertion {
        let names = [first, second] + [firstOrder, secondOrder].compactMap { $0 }
        return try BulkInsertion(
            into: name, names: names, parameters: Array(1...names.count), width: names.count, rowCount: count, in: db)
    }
}
