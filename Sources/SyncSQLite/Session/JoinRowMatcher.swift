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
