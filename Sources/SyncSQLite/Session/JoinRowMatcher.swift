import GRDB
import SyncCore
import SyncStore

/// Meets the pairs of one join table, as they are read, with those that a payload says there are.
struct JoinRowMatcher {
    private(set) var said: ResolvedJoinRows
    private(set) var compared = JoinTableDiff()
    /// Whether a pair was met of a row of which the payload does not speak, and that stays.
    private(set) var matchedUnmentioned = false
    /// The rows that pairs lead to of which the payload does not speak, if they are asked for.
    private(set) var unmentioned = DoubtfulEnds()
    private let collectsUnmentioned: Bool
    private let link: CompiledAssociation
    private let first: SyncTable
    private let second: SyncTable
    private let firstLookup: NodeLookup
    private let secondLookup: NodeLookup
    private let firstColumns: RowColumns
    private let secondColumns: RowColumns
    private var seen: Set<JoinKey> = []

    init(
        _ said: ResolvedJoinRows, of link: CompiledAssociation, _ ends: (SyncTable, SyncTable), _ lookups: [NodeLookup],
        collectingUnmentioned: Bool, _ session: SQLiteSession
    ) {
        self.said = said
        collectsUnmentioned = collectingUnmentioned
        self.link = link
        (first, second) = ends
        firstLookup = lookups[first.id.index]
        secondLookup = lookups[second.id.index]
        firstColumns = session.columns(first.id)
        secondColumns = session.columns(second.id)
    }

    func table(_ end: CompiledAssociation.End) -> SyncTable { end == .first ? first : second }

    /// The stored rows at an end whose links are replaced.
    func rowsWithReplacedLinks(_ end: CompiledAssociation.End) -> some Sequence<NodeID> {
        let table = table(end)
        return (end == .first ? said.first : said.second).nodes.lazy.filter { table.isPresent($0, as: .stored) }
    }

    /// Pairs of stored rows neither of which is spoken for.
    func unreplacedPairs() -> [ResolvedJoinRows.Pair] {
        said.pairs.filter {
            !said.first.speaks(of: $0.first) && !said.second.speaks(of: $0.second)
                && first.isPresent($0.first, as: .stored) && second.isPresent($0.second, as: .stored)
        }
    }

    /// All pairs that a statement reads.
    mutating func compareAll(_ statement: RawStatement, isOrdered: Bool, _ steps: ProgressReporter) throws {
        let isGuessed = firstLookup.hasIntegerKeys && secondLookup.hasIntegerKeys && !isOrdered
        var counter = ProgressCounter(steps)
        var guess = 0
        while try statement.step() {
            try counter.advance()
            // Pairs are often stored in the order they are said in.
            if isGuessed, guess < said.pairs.count,
                firstLookup.integerKey(said.pairs[guess].first.index) == statement.integer(0),
                secondLookup.integerKey(said.pairs[guess].second.index) == statement.integer(1)
            {
                said.pairs[guess].isStored = true
                guess += 1
            } else if let met = compare(statement) {
                guess = met + 1
            }
        }
        try counter.finish()
    }

    /// A pair that may be met at both ends.
    mutating func compareOnce(_ statement: RawStatement) {
        guard let rows = rows(statement), seen.insert(rows).inserted else { return }
        _ = compare(statement)
    }

    /// One stored pair against what was said; the place of the pair it is, if it was said.
    mutating func compare(_ statement: RawStatement) -> Int? {
        let (one, other) = (
            node(statement, 0, first, firstLookup, firstColumns),
            node(statement, 1, second, secondLookup, secondColumns)
        )
        if let index = said.index(of: one, other) {
            said.pairs[index].isStored = true
            let stored = LinkPositions(
                first: statement.isNull(2) ? nil : statement.integer(2),
                second: statement.isNull(3) ? nil : statement.integer(3))
            let moved = JoinTableDiff.Moved(said.pairs[index], of: link, index: index, stored: stored) {
                rows(statement)
            }
            if let moved { compared.moved.append(moved) }
            return index
        }
        if collectsUnmentioned {
            if one == nil { unmentioned.record(statement.key(0), at: .first) }
            if other == nil { unmentioned.record(statement.key(1), at: .second) }
        }
        guard !said.staysStored(one, other), let rows = rows(statement) else {
            if one == nil || other == nil { matchedUnmentioned = true }
            return nil
        }
        compared.removed.append(.init(rows: rows, first: one, second: other))
        return nil
    }

    private func rows(_ statement: RawStatement) -> JoinKey? {
        guard let one = statement.key(0), let other = statement.key(1) else { return nil }
        return JoinKey(first: one, second: other)
    }

    /// The node at one end of a stored pair; nil for a row of which the payload does not speak.
    private func node(
        _ statement: RawStatement, _ column: Int, _ table: SyncTable, _ lookup: NodeLookup, _ columns: RowColumns
    ) -> NodeID? {
        if columns.hasHiddenKey { return table.keys.node(ofHidden: statement.integer(column)) }
        if lookup.hasOwned, table.keys.hasOwned, let key = statement.key(column), let owned = table.keys.owned(key) {
            return owned
        }
        guard let key = columns.commonKey, !lookup.isEmpty else { return nil }
        return lookup.node(statement, column, key.type, key.owner, table.pool, guess: -1).map { NodeID($0) }
    }
}

/// The join table of a link, read and written by the thousand.
///
/// Of what it reads, the columns are the key of the first row, of the second, and the place of either in the other's list.
struct JoinTableStatements {
    let table: String
    /// Whether rows at either end have their links in an order.
    let isOrdered: Bool
    private let db: Database
    private let name: String
    private let first: String
    private let second: String
    private let firstOrder: String?
    private let secondOrder: String?

    /// Nil for a link that is a foreign key.
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

    /// Reads all pairs.
    func all() throws -> RawStatement { try RawStatement(db, select) }

    /// Reads the pairs of the rows at one end whose keys are in a range, in the order of their keys.
    func pairs(of rows: KeyRange, at end: CompiledAssociation.End) throws -> RawStatement {
        let column = column(end)
        let statement = try RawStatement(db, select + KeyRange.condition(column) + " ORDER BY \(column)")
        rows.bind(to: statement)
        return statement
    }

    /// Reads the pairs of one row, whose key is the parameter.
    func pairs(ofRowAt end: CompiledAssociation.End) throws -> RawStatement {
        try RawStatement(db, select + " WHERE \(column(end)) = ?")
    }

    /// Reads one pair; its keys are the parameters.
    func one() throws -> RawStatement { try RawStatement(db, select + " WHERE \(first) = ? AND \(second) = ?") }

    // MARK: Writing

    /// Removes one pair; its keys are the parameters.
    func removal() throws -> RawStatement {
        try RawStatement(db, "DELETE FROM \(table) WHERE \(first) = ? AND \(second) = ?")
    }

    /// Adds pairs; the parameters of each are its keys, and its place at either end that has an order.
    func insertion(of count: Int) throws -> BulkInsertion {
        let names = [first, second] + [firstOrder, secondOrder].compactMap { $0 }
        return try BulkInsertion(
            into: name, names: names, parameters: Array(1...names.count), width: names.count, rowCount: count, in: db)
    }
}
