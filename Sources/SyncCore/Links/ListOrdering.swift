/// How the rows of ordered lists are numbered.
///
/// A list has the rows that are linked to one row, its owner. The number of a row in a list is its *place*. Four rules give it:
///
/// 1. A row that a list of the payload names has the place at which it is named. Of several lists the last one counts.
/// 2. A list reserves the places of the rows that it names and that are not stored yet.
/// 3. All other rows come after these: first the rows that stay in the list, in their stored order, then new ones as they come.
/// 4. If this is the stored order, the stored places stay, with their gaps. A list with reserved places gets its own places.
///
/// No other code chooses places. Callers pass columns, with an element for each row, and store the columns that they get back.
/// What a caller knows of its lists decides which function it calls: all rows of many lists, new rows only, or one stored list.
package enum ListOrdering {
    // MARK: All rows of many lists

    /// The rows of a table that are in one list at most, because they reference its owner by a foreign key.
    package struct Rows: Sendable {
        /// The list of each row, by its owner.
        package var lists: [LinkTarget]
        /// Where a list of the payload names each row; -1 if none does.
        package var positions: [Int32]
        package var presence: [RowState]
        /// The lists in which the rows are stored.
        package var storedLists: [LinkTarget]
        /// Their places in those lists; nil for a row that has none.
        package var storedPositions: [Int64?]

        package init(
            lists: [LinkTarget], positions: [Int32], presence: [RowState], storedLists: [LinkTarget],
            storedPositions: [Int64?]
        ) {
            self.lists = lists
            self.positions = positions
            self.presence = presence
            self.storedLists = storedLists
            self.storedPositions = storedPositions
        }

        fileprivate func stays(_ row: Int) -> Bool { lists[row] == storedLists[row] }

        /// The rows that no list of the payload names: first those that stay, in their stored order. A place in another list
        /// means nothing here.
        fileprivate var others: [Int] {
            lists.indices
                .filter { positions[$0] < 0 && presence[$0] != .missing && lists[$0] != .nowhere }
                .map { (row: $0, place: stays($0) ? storedPositions[$0] ?? .max : .max) }
                .sorted { ($0.place, $0.row) < ($1.place, $1.row) }
                .map(\.row)
        }
    }

    /// The places of rows in their lists; nil for a row that is in none.
    ///
    /// - Parameters:
    ///   - reserved: The places that the lists reserve.
    ///   - replaced: The lists that the payload replaces. Only their stored places may stay.
    ///   - storedEnds: Returns where lists end as they are stored. It is called once at most, with the lists that only new rows
    ///     join: all rows of the other ones are known.
    package static func places(
        of rows: Rows, reserved: ListEnds, replaced: ReplacedEnd, storedEnds: (_ lists: [NodeID]) throws -> [Int64]
    ) rethrows -> [Int64?] {
        var places = rows.positions.map { $0 < 0 ? nil : Int64($0) }
        var ends = reserved
        for (row, place) in places.enumerated() {
            if let place, let list = rows.lists[row].node { ends.take(place, in: list) }
        }
        let others = rows.others
        let joined = others.filter { !rows.stays($0) }.compactMap { rows.lists[$0].node }
        try ends.ask(joined.filter { ends[$0] == nil }, storedEnds)
        for row in others {
            let stored = rows.storedPositions[row]
            guard let list = rows.lists[row].node else {
                // Its owner is not in the payload.
                places[row] = stored
                continue
            }
            if rows.stays(row), stored ?? .min >= ends[list] ?? .min {
                places[row] = stored
                if let stored, ends[list] != nil { ends.take(stored, in: list) }
            } else {
                places[row] = ends.append(to: list)
            }
        }
        let lists = rows.lists.indices.map { rows.presence[$0] == .missing ? .nowhere : rows.lists[$0] }
        let stored = rows.lists.indices.map { row in
            rows.presence[row] == .stored && rows.stays(row) ? rows.storedPositions[row] : nil
        }
        preserveStoredOrder(&places, in: lists, stored: stored, replaced: replaced, reserved: reserved)
        return places
    }

    /// Gives rows their stored places back in the replaced lists whose new order is the stored one (rule 4).
    ///
    /// - Parameters:
    ///   - lists: The list of each row; ``LinkTarget/nowhere`` for a row that is in none.
    ///   - stored: The stored place of each row in that list; nil for a row that has none there.
    package static func preserveStoredOrder(
        _ places: inout [Int64?], in lists: [LinkTarget], stored: [Int64?], replaced: ReplacedEnd, reserved: ListEnds
    ) {
        guard !replaced.isEmpty else { return }
        // By list. Only lists in which a stored row would move are looked at.
        var keeps = Array(repeating: false, count: reserved.count)
        for row in places.indices where stored[row] != nil && places[row] != stored[row] {
            guard let list = lists[row].node, replaced.speaks(of: list), reserved[list] == nil else { continue }
            keeps[list.index] = true
        }
        guard keeps.contains(true) else { return }
        for row in places.indices where stored[row] == nil {
            if let list = lists[row].node { keeps[list.index] = false }
        }
        let rows = places.indices
            .filter { row in lists[row].node.map { keeps[$0.index] } ?? false }
            .map { (list: lists[$0].number, place: places[$0] ?? .min, row: $0) }
            .sorted { $0 < $1 }
        for (row, next) in zip(rows, rows.dropFirst()) where row.list == next.list {
            if stored[row.row] ?? .max >= stored[next.row] ?? .min { keeps[Int(row.list)] = false }
        }
        for (list, _, row) in rows where keeps[Int(list)] { places[row] = stored[row] }
    }

    // MARK: New rows

    /// Gives each row without a place one after all others in its list. Only the ends of the lists need to be known.
    ///
    /// - Parameters:
    ///   - lists: The list of each row, by its owner.
    ///   - storedEnds: Returns where lists end as they are stored. It is called once at most.
    package static func append(
        _ places: inout [Int64?], in lists: [NodeID], reserved: ListEnds,
        storedEnds: (_ lists: [NodeID]) throws -> [Int64]
    ) rethrows {
        var ends = reserved
        for (row, place) in places.enumerated() { if let place { ends.take(place, in: lists[row]) } }
        let others = places.indices.filter { places[$0] == nil }
        try ends.ask(others.map { lists[$0] }, storedEnds)
        for row in others { places[row] = ends.append(to: lists[row]) }
    }

    // MARK: One stored list

    /// The first place after all rows of a list and after the places that it reserves.
    package static func end(of places: [Int64?], reserved: [Int64]) -> Int64 {
        max(places.reduce(0) { max($0, after($1 ?? -1)) }, reserved.reduce(0) { max($0, after($1)) })
    }

    /// The places of a list whose other rows come after those that the payload names: as they are, if they do already.
    ///
    /// - Parameters:
    ///   - named: Whether a list of the payload names each row.
    ///   - places: The places of the rows, in their stored order.
    package static func movingOthers(behind named: [Bool], in places: [Int64?]) -> [Int64?] {
        var end = Self.end(of: places.indices.map { named[$0] ? places[$0] : nil }, reserved: [])
        let others = places.indices.filter { !named[$0] }
        guard others.contains(where: { places[$0] ?? .min < end }) else { return places }
        var places = places
        for row in others {
            places[row] = end
            end = after(end)
        }
        return places
    }

    /// The places of a list in which a row gets the place that was reserved for it. If another row has that place, it moves
    /// on by one, and so do all rows behind it.
    package static func inserting(_ row: Int, at place: Int64, in places: [Int64?]) -> [Int64?] {
        guard places[row] != place else { return places }
        var new = places
        if places.contains(place) {
            for (other, taken) in places.enumerated() { if let taken, taken >= place { new[other] = after(taken) } }
        }
        new[row] = place
        return new
    }

    /// Programs besides Sync write places too, the last possible one among them.
    fileprivate static func after(_ place: Int64) -> Int64 { place < .max ? place + 1 : place }
}

/// Where lists end while their rows get places: by list, the first place after all that are taken.
package struct ListEnds: Sendable {
    /// By list; 0 if no place is taken.
    private var taken: [Int64]
    /// The ends of lists as they are stored; empty unless asked for.
    private var stored: [Int64] = []

    /// - Parameter count: How many lists there are.
    package init(count: Int) { taken = Array(repeating: 0, count: count) }

    /// The lists of an end, with the places that they reserve (rule 2).
    ///
    /// - Parameter awaited: References to rows that are not stored.
    package init(reserving awaited: [LinkBatch.Assertion], at end: CompiledAssociation.End, count: Int) {
        self.init(count: count)
        for assertion in awaited where assertion.saidBy == end && assertion.position >= 0 {
            take(Int64(assertion.position), in: end == .first ? assertion.first : assertion.second)
        }
    }

    package var count: Int { taken.count }

    /// Nil for a list of which no place is taken.
    package subscript(list: NodeID) -> Int64? { taken[list.index] > 0 ? taken[list.index] : nil }

    mutating func take(_ place: Int64, in list: NodeID) {
        taken[list.index] = max(taken[list.index], ListOrdering.after(place))
    }

    /// Takes the first place after all others.
    mutating func append(to list: NodeID) -> Int64 {
        let place = stored.isEmpty ? taken[list.index] : max(taken[list.index], stored[list.index])
        taken[list.index] = ListOrdering.after(place)
        return place
    }

    /// Asks where lists end as they are stored, once for each list.
    mutating func ask(_ lists: [NodeID], _ storedEnds: ([NodeID]) throws -> [Int64]) rethrows {
        guard !lists.isEmpty else { return }
        stored = Array(repeating: -1, count: count)
        var asked: [NodeID] = []
        for list in lists where stored[list.index] < 0 {
            stored[list.index] = 0
            asked.append(list)
        }
        for (list, end) in zip(asked, try storedEnds(asked)) { stored[list.index] = end }
    }
}

// MARK: - Positions in the lists of a payload

/// Where the lists of a payload name rows (rule 1). A row that itself references an owner does not move in the list.
struct ListPositions {
    private var position: [Int32]
    private var owner: [LinkTarget]
    private var sequence: [Int64]

    init(count: Int) {
        position = Array(repeating: -1, count: count)
        owner = Array(repeating: LinkTarget.nowhere, count: count)
        sequence = Array(repeating: LinkRule.never, count: count)
    }

    /// Of several lists the last one counts, of several positions in it the first.
    mutating func record(_ position: Int32, of child: Int, in owner: NodeID, _ sequence: UInt32) {
        guard Int64(sequence) > self.sequence[child] else { return }
        self.sequence[child] = Int64(sequence)
        self.position[child] = position
        self.owner[child] = LinkTarget(owner)
    }

    /// The position of each row in the list of the row it is linked to; -1 for none.
    ///
    /// - Parameter spoken: When lists were given last: a position in an earlier one does not count.
    func positions(in targets: [LinkTarget], since spoken: ReplacedEnd) -> [Int32] {
        position.indices.map { child in
            let isCurrent = owner[child] == targets[child] && sequence[child] >= spoken.sequence(of: targets[child])
            return isCurrent ? position[child] : -1
        }
    }
}
