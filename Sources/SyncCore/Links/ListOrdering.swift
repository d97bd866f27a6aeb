/// The rules that assign positions to the rows of ordered lists.
///
/// A list has the rows that are linked to one row, its owner. Four rules assign the positions:
///
/// 1. A row in a list of the payload gets its index in that list. If several lists contain the row, the last list
///    applies.
/// 2. A list of the payload reserves the positions of its pending references.
/// 3. All other rows follow. Rows that stay in the list come first, in their stored order. Rows that join the list come
///    last, in the order of the caller.
/// 4. If a replaced list has only stored rows, in their stored order, the stored positions stay, with their gaps. This
///    rule does not apply to a list with reserved positions.
///
/// Callers pass arrays with one element for each row, and store the returned positions. Three groups of functions are
/// for callers that know all rows of many lists, only the new rows, or one stored list.
package enum ListOrdering {
    // MARK: All rows of many lists

    /// The rows of a table, each in at most one list. A row references the owner of its list by a foreign key.
    package struct Rows: Sendable {
        /// The list of each row, by its owner.
        package var lists: [LinkTarget]
        /// The index of each row in a list of the payload; -1 if it is in none.
        package var positions: [Int32]
        package var states: [RowState]
        /// The stored list of each row, by its owner.
        package var storedLists: [LinkTarget]
        /// The stored position of each row in its stored list; nil for a row without a position.
        package var storedPositions: [Int64?]

        package init(
            lists: [LinkTarget], positions: [Int32], states: [RowState], storedLists: [LinkTarget],
            storedPositions: [Int64?]
        ) {
            self.lists = lists
            self.positions = positions
            self.states = states
            self.storedLists = storedLists
            self.storedPositions = storedPositions
        }

        fileprivate func stays(_ row: Int) -> Bool { lists[row] == storedLists[row] }

        /// The indexes of the rows that belong to a list, but are in no list of the payload. Rows that stay in their
        /// stored list come first, in stored order. Stored positions in other lists are ignored.
        fileprivate var others: [Int] {
            lists.indices
                .filter { positions[$0] < 0 && states[$0] != .missing && lists[$0] != .nowhere }
                .map { (row: $0, position: stays($0) ? storedPositions[$0] ?? .max : .max) }
                .sorted { ($0.position, $0.row) < ($1.position, $1.row) }
                .map(\.row)
        }
    }

    /// Returns the positions of rows in their lists; nil for a row in no list, or for a row that stays without a
    /// position.
    ///
    /// - Parameters:
    ///   - reserved: The positions that the lists reserve.
    ///   - replaced: The lists that the payload replaces. Rule 4 applies only to them.
    ///   - storedEnds: A function that returns the ends of stored lists. The function is called at most once. It
    ///     receives the lists that rows join and in which the payload gives or reserves no position.
    package static func positions(
        of rows: Rows, reserved: ListEnds, replaced: ReplacedEnd, storedEnds: (_ lists: [NodeID]) throws -> [Int64]
    ) rethrows -> [Int64?] {
        var positions = rows.positions.map { $0 < 0 ? nil : Int64($0) }
        var ends = reserved
        for (row, position) in positions.enumerated() {
            if let position, let list = rows.lists[row].node { ends.reserve(position, in: list) }
        }
        let others = rows.others
        let joined = others.filter { !rows.stays($0) }.compactMap { rows.lists[$0].node }
        try ends.loadStoredEnds(joined.filter { ends[$0] == nil }, storedEnds)
        for row in others {
            let stored = rows.storedPositions[row]
            guard let list = rows.lists[row].node else {
                // The owner of the list has no node, so the end of the list is unknown.
                positions[row] = stored
                continue
            }
            if rows.stays(row), stored ?? .min >= ends[list] ?? .min {
                positions[row] = stored
                if let stored, ends[list] != nil { ends.reserve(stored, in: list) }
            } else {
                positions[row] = ends.append(to: list)
            }
        }
        let lists = rows.lists.indices.map { rows.states[$0] == .missing ? .nowhere : rows.lists[$0] }
        let stored = rows.lists.indices.map { row in
            rows.states[row] == .stored && rows.stays(row) ? rows.storedPositions[row] : nil
        }
        preserveStoredOrder(&positions, in: lists, stored: stored, replaced: replaced, reserved: reserved)
        return positions
    }

    /// Restores the stored positions in replaced lists whose new order is the stored one (rule 4).
    ///
    /// - Parameters:
    ///   - lists: The list of each row; ``LinkTarget/nowhere`` for a row in no list.
    ///   - stored: The stored position of each row in that list; nil if it has none there.
    package static func preserveStoredOrder(
        _ positions: inout [Int64?], in lists: [LinkTarget], stored: [Int64?], replaced: ReplacedEnd, reserved: ListEnds
    ) {
        guard !replaced.isEmpty else { return }
        // Whether each list keeps its stored positions. At first, every list in which a stored row would move is a
        // candidate.
        var keeps = Array(repeating: false, count: reserved.count)
        for row in positions.indices where stored[row] != nil && positions[row] != stored[row] {
            guard let list = lists[row].node, replaced.isReplaced(list), reserved[list] == nil else { continue }
            keeps[list.index] = true
        }
        guard keeps.contains(true) else { return }
        for row in positions.indices where stored[row] == nil {
            if let list = lists[row].node { keeps[list.index] = false }
        }
        let rows = positions.indices
            .filter { row in lists[row].node.map { keeps[$0.index] } ?? false }
            .map { (list: lists[$0].number, position: positions[$0] ?? .min, row: $0) }
            .sorted { $0 < $1 }
        for (row, next) in zip(rows, rows.dropFirst()) where row.list == next.list {
            if stored[row.row] ?? .max >= stored[next.row] ?? .min { keeps[Int(row.list)] = false }
        }
        for (list, _, row) in rows where keeps[Int(list)] { positions[row] = stored[row] }
    }

    // MARK: New rows

    /// Assigns a position at the end of its list to each row without a position. The caller needs to know only the ends
    /// of the lists.
    ///
    /// - Parameters:
    ///   - lists: The list of each row, by its owner.
    ///   - storedEnds: A function that returns the ends of stored lists. The function is called at most once.
    package static func append(
        _ positions: inout [Int64?], in lists: [NodeID], reserved: ListEnds,
        storedEnds: (_ lists: [NodeID]) throws -> [Int64]
    ) rethrows {
        var ends = reserved
        for (row, position) in positions.enumerated() { if let position { ends.reserve(position, in: lists[row]) } }
        let others = positions.indices.filter { positions[$0] == nil }
        try ends.loadStoredEnds(others.map { lists[$0] }, storedEnds)
        for row in others { positions[row] = ends.append(to: lists[row]) }
    }

    // MARK: One stored list

    /// Returns the first position after all rows of a list and after its reserved positions.
    package static func end(of positions: [Int64?], reserved: [Int64]) -> Int64 {
        max(positions.reduce(0) { max($0, after($1 ?? -1)) }, reserved.reduce(0) { max($0, after($1)) })
    }

    /// Returns the positions of a list after the rows that the payload omits have moved behind the others. If the
    /// omitted rows already follow the others, no position changes.
    ///
    /// - Parameters:
    ///   - named: Whether each row is in a list of the payload.
    ///   - positions: The stored positions of the rows, in stored order.
    package static func movingOthers(behind named: [Bool], in positions: [Int64?]) -> [Int64?] {
        var end = Self.end(of: positions.indices.map { named[$0] ? positions[$0] : nil }, reserved: [])
        let others = positions.indices.filter { !named[$0] }
        guard others.contains(where: { positions[$0] ?? .min < end }) else { return positions }
        var positions = positions
        for row in others {
            positions[row] = end
            end = after(end)
        }
        return positions
    }

    /// Returns the positions of a list with one row at its reserved position. If another row has that position, it and
    /// all later rows move by one.
    package static func inserting(_ row: Int, at position: Int64, in positions: [Int64?]) -> [Int64?] {
        guard positions[row] != position else { return positions }
        var new = positions
        if positions.contains(position) {
            for (other, occupied) in positions.enumerated() {
                if let occupied, occupied >= position { new[other] = after(occupied) }
            }
        }
        new[row] = position
        return new
    }

    /// Returns the next position; the same position for the largest integer, which other programs can have written.
    fileprivate static func after(_ position: Int64) -> Int64 { position < .max ? position + 1 : position }
}

/// The ends of lists while their rows get positions. The end of a list is the first position after all taken positions.
package struct ListEnds: Sendable {
    /// The end of each list; 0 if no position is taken.
    private var ends: [Int64]
    /// The ends of stored lists; empty until ``loadStoredEnds(_:_:)`` reads them.
    private var storedEnds: [Int64] = []

    /// - Parameter count: The number of lists.
    package init(count: Int) { ends = Array(repeating: 0, count: count) }

    /// Creates the ends of the lists at one end of an association, with their reserved positions (rule 2).
    ///
    /// - Parameter pending: The references to rows that are not stored.
    package init(reserving pending: [LinkBatch.Assertion], at end: CompiledAssociation.End, count: Int) {
        self.init(count: count)
        for assertion in pending where assertion.assertedBy == end && assertion.position >= 0 {
            reserve(Int64(assertion.position), in: end == .first ? assertion.first : assertion.second)
        }
    }

    package var count: Int { ends.count }

    /// The end of a list; nil if none of its positions is taken.
    package subscript(list: NodeID) -> Int64? { ends[list.index] > 0 ? ends[list.index] : nil }

    mutating func reserve(_ position: Int64, in list: NodeID) {
        ends[list.index] = max(ends[list.index], ListOrdering.after(position))
    }

    /// Takes the position at the end of a list, and returns it.
    mutating func append(to list: NodeID) -> Int64 {
        let position = storedEnds.isEmpty ? ends[list.index] : max(ends[list.index], storedEnds[list.index])
        ends[list.index] = ListOrdering.after(position)
        return position
    }

    /// Reads the ends of stored lists. Repeated lists are passed to `read` only once.
    mutating func loadStoredEnds(_ lists: [NodeID], _ read: ([NodeID]) throws -> [Int64]) rethrows {
        guard !lists.isEmpty else { return }
        storedEnds = Array(repeating: -1, count: count)
        var asked: [NodeID] = []
        for list in lists where storedEnds[list.index] < 0 {
            storedEnds[list.index] = 0
            asked.append(list)
        }
        for (list, end) in zip(asked, try read(asked)) { storedEnds[list.index] = end }
    }
}

// MARK: - Positions in the lists of a payload

/// The indexes of rows in the lists of a payload (rule 1). A record that references its owner does not change its index
/// in the owner's list.
struct ListPositions {
    private var position: [Int32]
    private var owner: [LinkTarget]
    private var sequence: [Int64]

    init(count: Int) {
        position = Array(repeating: -1, count: count)
        owner = Array(repeating: LinkTarget.nowhere, count: count)
        sequence = Array(repeating: LinkRule.never, count: count)
    }

    /// Records the index of a row in a list. The last list applies, and within one list the first index.
    mutating func record(_ position: Int32, of child: Int, in owner: NodeID, _ sequence: UInt32) {
        guard Int64(sequence) > self.sequence[child] else { return }
        self.sequence[child] = Int64(sequence)
        self.position[child] = position
        self.owner[child] = LinkTarget(owner)
    }

    /// Returns the index of each row in the list of its target; -1 for none.
    ///
    /// - Parameter replaced: The last replacement of each list. An index from before that replacement does not apply.
    func positions(in targets: [LinkTarget], since replaced: ReplacedEnd) -> [Int32] {
        position.indices.map { child in
            let isCurrent = owner[child] == targets[child] && sequence[child] >= replaced.sequence(of: targets[child])
            return isCurrent ? position[child] : -1
        }
    }
}
