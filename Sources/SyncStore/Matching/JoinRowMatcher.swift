public import SyncCore

/// Compares the stored join rows of one table with the join rows that the payload asserts.
///
/// The columns of a stored join row are the keys of the first and the second row, and the positions of the link in
/// their lists.
@usableFromInline
package struct JoinRowMatcher {
    package private(set) var asserted: ResolvedJoinRows
    package private(set) var compared = JoinTableDiff()
    /// Whether a stored join row that stays references a row without a node.
    package private(set) var hasUnmatchedRows = false
    /// The rows that have no node, but that stored join rows reference; empty unless the caller asked for them.
    package private(set) var unmatchedEnds = DanglingCandidates()
    @usableFromInline let collectsUnmatchedEnds: Bool
    private let link: CompiledAssociation
    @usableFromInline let first: JoinEnd
    @usableFromInline let second: JoinEnd
    private var seen: Set<JoinKey> = []

    /// Whether the next asserted join row is expected to be the next stored one.
    private var isGuessed = false
    /// The index of the expected join row, and its keys. They are valid only if `hasGuess`.
    private var guess = 0
    @usableFromInline private(set) var hasGuess = false
    @usableFromInline private(set) var expectedFirst: Int64 = 0
    @usableFromInline private(set) var expectedSecond: Int64 = 0

    /// - Parameters:
    ///   - lookups: The lookups of all tables, in the order of their IDs.
    ///   - columns: The columns of any table.
    package init(
        _ asserted: ResolvedJoinRows, of link: CompiledAssociation, _ ends: (SyncTable, SyncTable),
        _ lookups: [NodeLookup], columns: (TableID) -> RowColumns, collectingUnmatchedEnds: Bool
    ) {
        self.asserted = asserted
        collectsUnmatchedEnds = collectingUnmatchedEnds
        self.link = link
        first = JoinEnd(ends.0, lookups[ends.0.id.index], columns(ends.0.id))
        second = JoinEnd(ends.1, lookups[ends.1.id.index], columns(ends.1.id))
    }

    package func table(_ end: CompiledAssociation.End) -> SyncTable { end == .first ? first.table : second.table }

    /// Returns the nodes at an end that are stored and whose list is replaced.
    package func rowsWithReplacedLinks(_ end: CompiledAssociation.End) -> [NodeID] {
        let table = table(end)
        return (end == .first ? asserted.first : asserted.second).nodes.filter { table.isPresent($0, as: .stored) }
    }

    /// The number of nodes at both ends that are stored and whose list is replaced.
    package var replacedCount: Int {
        [(asserted.first, first.table), (asserted.second, second.table)].reduce(0) { count, end in
            end.0.nodes.reduce(count) { $0 + (end.1.isPresent($1, as: .stored) ? 1 : 0) }
        }
    }

    /// Returns the asserted join rows between stored nodes for which neither node's list is replaced.
    package func unreplacedRows() -> [ResolvedJoinRows.Row] {
        asserted.rows.filter {
            !asserted.first.isReplaced($0.first) && !asserted.second.isReplaced($0.second)
                && first.table.isPresent($0.first, as: .stored) && second.table.isPresent($0.second, as: .stored)
        }
    }

    // MARK: Comparing

    /// Compares all join rows of a result.
    @inlinable
    package mutating func compareAll(
        _ rows: some StoredRowReader, isOrdered: Bool, _ counter: inout ProgressCounter
    ) throws {
        startGuessing(isOrdered: isOrdered)
        while try rows.step() {
            try counter.advance()
            if hasGuess, rows.integer(0) == expectedFirst, rows.integer(1) == expectedSecond {
                acceptGuess()
            } else if let matched = compare(rows) {
                expect(matched + 1)
            }
        }
    }

    /// Compares a stored join row, unless it was already read from the other end.
    @inlinable
    package mutating func compareOnce(_ row: some StoredRowReader) {
        guard let one = row.key(0), let other = row.key(1), insertIntoSeen(one, other) else { return }
        _ = compare(row)
    }

    /// Compares a stored join row with the asserted join rows. Returns the index of the asserted join row with the same
    /// ends; nil if there is none.
    @inlinable
    package mutating func compare(_ row: some StoredRowReader) -> Int? {
        let (one, other) = (first.node(row, 0), second.node(row, 1))
        if let index = index(of: one, other) {
            accept(
                index, first: row.isNull(2) ? nil : row.integer(2), second: row.isNull(3) ? nil : row.integer(3)
            ) { (row.key(0), row.key(1)) }
            return index
        }
        if collectsUnmatchedEnds {
            if one == nil { addUnmatchedEnd(row.key(0), isFirst: true) }
            if other == nil { addUnmatchedEnd(row.key(1), isFirst: false) }
        }
        remove(one, other) { (row.key(0), row.key(1)) }
        return nil
    }

    // MARK: Guessing

    // Join rows are often stored in the order of the payload, so the next asserted join row is tried first.

    @usableFromInline
    mutating func startGuessing(isOrdered: Bool) {
        isGuessed =
            first.lookup.hasIntegerKeys && second.lookup.hasIntegerKeys && !isOrdered && !first.lookup.testsStorageClass
        expect(0)
    }

    /// Sets the index of the asserted join row that is tried next.
    @usableFromInline
    mutating func expect(_ index: Int) {
        guess = index
        hasGuess = isGuessed && index < asserted.rows.count
        guard hasGuess else { return }
        expectedFirst = first.lookup.integerKey(asserted.rows[index].first.index)
        expectedSecond = second.lookup.integerKey(asserted.rows[index].second.index)
    }

    @usableFromInline
    mutating func acceptGuess() {
        asserted.rows[guess].isStored = true
        expect(guess + 1)
    }

    // MARK: Results

    /// Records that a join row is read. Returns false if it was read before.
    @usableFromInline
    mutating func insertIntoSeen(_ one: RowKey, _ other: RowKey) -> Bool {
        seen.insert(JoinKey(first: one, second: other)).inserted
    }

    @usableFromInline
    mutating func index(of one: NodeID?, _ other: NodeID?) -> Int? { asserted.index(of: one, other) }

    /// Records that an asserted join row is stored with these positions.
    @usableFromInline
    mutating func accept(_ index: Int, first: Int64?, second: Int64?, _ keys: () -> (RowKey?, RowKey?)) {
        asserted.rows[index].isStored = true
        let stored = LinkPositions(first: first, second: second)
        let moved = JoinTableDiff.Moved(asserted.rows[index], of: link, index: index, stored: stored) {
            JoinKey(keys())
        }
        if let moved { compared.moved.append(moved) }
    }

    /// - Parameter key: The key of a row without a node; nil if the column contains a value that is not a key.
    @usableFromInline
    mutating func addUnmatchedEnd(_ key: RowKey?, isFirst: Bool) {
        unmatchedEnds.record(key, at: isFirst ? .first : .second)
    }

    /// Records that a stored join row is removed, unless it stays.
    @usableFromInline
    mutating func remove(_ one: NodeID?, _ other: NodeID?, _ keys: () -> (RowKey?, RowKey?)) {
        guard !asserted.preserves(one, other), let rows = JoinKey(keys()) else {
            if one == nil || other == nil { hasUnmatchedRows = true }
            return
        }
        compared.removed.append(.init(rows: rows, first: one, second: other))
    }
}

/// The rows at one end of a join table.
@usableFromInline
struct JoinEnd {
    let table: SyncTable
    @usableFromInline let lookup: NodeLookup
    @usableFromInline let pool: TextPool
    @usableFromInline let hasSurrogateKey: Bool
    @usableFromInline let commonKey: (type: AttributeType, owner: Int)?

    init(_ table: SyncTable, _ lookup: NodeLookup, _ columns: RowColumns) {
        self.table = table
        self.lookup = lookup
        pool = table.pool
        hasSurrogateKey = columns.hasSurrogateKey
        commonKey = columns.commonKey
    }

    /// Returns the node of the row whose key is in a column; nil for a row without a node.
    @inlinable
    func node(_ row: some StoredRowReader, _ column: Int) -> NodeID? {
        if hasSurrogateKey { return node(ofSurrogate: row.integer(column)) }
        if lookup.hasOwned, hasOwnedKeys, let key = row.key(column), let owned = owned(key) { return owned }
        guard let commonKey, !lookup.isEmpty else { return nil }
        return lookup.node(row, column, commonKey.type, commonKey.owner, pool, guess: -1).map { NodeID($0) }
    }

    @usableFromInline
    func node(ofSurrogate key: Int64) -> NodeID? { table.keys.node(ofSurrogate: key) }

    @usableFromInline
    var hasOwnedKeys: Bool { table.keys.hasOwned }

    @usableFromInline
    func owned(_ key: RowKey) -> NodeID? { table.keys.owned(key) }
}

extension JoinKey {
    /// Returns nil if a key is missing.
    fileprivate init?(_ keys: (RowKey?, RowKey?)) {
        guard let first = keys.0, let second = keys.1 else { return nil }
        self.init(first: first, second: second)
    }
}
