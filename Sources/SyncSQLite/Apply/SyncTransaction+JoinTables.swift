import GRDB
import SyncCore

// Which pairs a join table shall have, by the rule for links, and which of them it has.
extension SyncTransaction {
    mutating func resolveJoinTables() throws {
        for link in model.links where !plan.links[link.id].isEmpty {
            guard let stored = StoredPairs(link.id, layout, db) else { continue }
            try resolveJoinTable(link, stored)
        }
    }

    private mutating func resolveJoinTable(_ link: Link, _ stored: StoredPairs) throws {
        var said = LinkPairs(statements(of: link.id))
        pending.note(said.awaited, link.id)
        var changes = JoinChanges()
        try compareStoredPairs(link, stored, &said, &changes)
        keepSameOrders(.first, said, link, &changes)
        keepSameOrders(.second, said, link, &changes)
        changes.reordered.removeAll { $0.orders == $0.stored }
        changes.added.reserveCapacity(said.pairs.count { $0.isNew })
        for pair in said.pairs where pair.isNew {
            changes.added.append(
                .init(
                    first: pair.first, second: pair.second, firstPosition: pair.firstPosition,
                    secondPosition: pair.secondPosition))
        }
        try book(changes, link)
        joins[link.id] = changes
    }

    // MARK: Stored pairs

    /// Reads the stored pairs that matter: all of them when the payload speaks of many rows, else those of each row
    /// whose links are replaced, and each other pair by itself.
    private mutating func compareStoredPairs(
        _ link: Link, _ stored: StoredPairs, _ said: inout LinkPairs, _ changes: inout JoinChanges
    ) throws {
        let (firstTree, secondTree) = (link.first.tree, link.second.tree)
        let firsts = storedNodes(said.first, firstTree)
        let seconds = storedNodes(said.second, secondTree)
        let others = said.pairs.filter {
            !said.first.speaks(of: $0.first) && !said.second.speaks(of: $0.second)
                && trees[firstTree].presence[Int($0.first)] == .stored
                && trees[secondTree].presence[Int($0.second)] == .stored
        }
        let limit = (firsts.count + seconds.count) * 12 + others.count * 6
        guard limit > 0 else { return }
        switch try size(of: stored.table, limit: limit) {
        case .empty: return
        case .small: return try compareAll(stored.all(), link, stored, &said, &changes)
        case .large: break
        }
        var seen: Set<JoinChanges.Pair> = []
        for (nodes, tree, end) in [(firsts, firstTree, Link.End.first), (seconds, secondTree, .second)] {
            let keys = lookups[tree].integerKeys
            // A pair may be met again below, which only matters where it has a place.
            if !stored.isOrdered, firsts.isEmpty || seconds.isEmpty, !keys.isEmpty,
                let range = KeyRange(nodes.map { keys[$0] }, factor: 12)
            {
                try compareAll(stored.pairs(of: range, at: end), link, stored, &said, &changes)
                continue
            }
            let statement = try stored.pairs(ofRowAt: end)
            for node in nodes {
                try advance()
                bindKey(of: node, tree, to: statement, at: 1)
                while try statement.step() {
                    guard let one = statement.key(0), let other = statement.key(1),
                        seen.insert(.init(first: one, second: other)).inserted
                    else { continue }
                    _ = compare(statement, link, &said, &changes)
                }
                statement.reset()
            }
        }
        let statement = try stored.one()
        for pair in others {
            try advance()
            bindKey(of: Int(pair.first), firstTree, to: statement, at: 1)
            bindKey(of: Int(pair.second), secondTree, to: statement, at: 2)
            if try statement.step() { _ = compare(statement, link, &said, &changes) }
            statement.reset()
        }
    }

    /// All pairs that a statement reads.
    private mutating func compareAll(
        _ statement: RawStatement, _ link: Link, _ stored: StoredPairs, _ said: inout LinkPairs,
        _ changes: inout JoinChanges
    ) throws {
        let firstKeys = lookups[link.first.tree].integerKeys
        let secondKeys = lookups[link.second.tree].integerKeys
        let isGuessed = !firstKeys.isEmpty && !secondKeys.isEmpty && !stored.isOrdered
        var guess = 0
        while try statement.step() {
            try advance()
            // Pairs are often stored in the order they are said in.
            if isGuessed, guess < said.pairs.count,
                firstKeys[Int(said.pairs[guess].first)] == statement.integer(0),
                secondKeys[Int(said.pairs[guess].second)] == statement.integer(1)
            {
                said.pairs[guess].isStored = true
                guess += 1
            } else if let met = compare(statement, link, &said, &changes) {
                guess = met + 1
            }
        }
    }

    /// The stored rows at one end whose links are replaced.
    private func storedNodes(_ spoken: SpokenEnd, _ tree: Int) -> [Int] {
        spoken.nodes.filter { trees[tree].presence[$0] == .stored }
    }

    /// One stored pair against what was said; the place of the pair it is, if it was said.
    private mutating func compare(
        _ statement: RawStatement, _ link: Link, _ said: inout LinkPairs, _ changes: inout JoinChanges
    ) -> Int? {
        let first = endNode(statement, 0, link.first.tree)
        let second = endNode(statement, 1, link.second.tree)
        if let index = said.index(of: first, second) {
            said.pairs[index].isStored = true
            noteOrder(statement, index, said.pairs[index], &changes)
            return index
        }
        guard !said.staysStored(first, second), let firstKey = statement.key(0), let secondKey = statement.key(1) else {
            if first < 0 || second < 0, speaksOfAll { doubtfulLinks.insert(link.id) }
            return nil
        }
        changes.removed.append(.init(first: firstKey, second: secondKey))
        noteOrphan(firstKey, first, link.first.tree)
        noteOrphan(secondKey, second, link.second.tree)
        return nil
    }

    /// The node at one end of a stored pair; -1 for a row of which the payload does not speak.
    private func endNode(_ statement: RawStatement, _ column: Int, _ tree: Int) -> Int32 {
        guard columns[tree].hasHiddenKey else {
            if !trees[tree].ownedNodes.isEmpty, let key = statement.key(column), let owned = trees[tree].ownedNodes[key]
            {
                return owned
            }
            return targetNode(statement, column, tree).map { Int32(truncatingIfNeeded: $0) } ?? -1
        }
        return trees[tree].nodeByHiddenKey[statement.integer(column)] ?? -1
    }

    private func noteOrder(
        _ statement: RawStatement, _ index: Int, _ pair: LinkPairs.Pair, _ changes: inout JoinChanges
    ) {
        let stored = JoinChanges.Orders(
            first: statement.isNull(2) ? nil : statement.integer(2),
            second: statement.isNull(3) ? nil : statement.integer(3))
        let orders = JoinChanges.Orders(
            first: stored.first == nil ? nil : place(pair.firstPosition) ?? stored.first,
            second: stored.second == nil ? nil : place(pair.secondPosition) ?? stored.second)
        guard orders != stored, let firstKey = statement.key(0), let secondKey = statement.key(1) else { return }
        changes.reordered.append(
            .init(index: index, pair: .init(first: firstKey, second: secondKey), orders: orders, stored: stored))
    }

    private func place(_ position: Int32) -> Int64? { position < 0 ? nil : Int64(position) }

    /// Gives the pairs of replaced lists their stored numbers back where these ascend as the new ones do.
    private func keepSameOrders(
        _ end: Link.End, _ said: LinkPairs, _ link: Link, _ changes: inout JoinChanges
    ) {
        let pairs = said.pairs
        let spoken = end == .first ? said.first : said.second
        let owner = end == .first ? \LinkPairs.Pair.first : \LinkPairs.Pair.second
        let position = end == .first ? \LinkPairs.Pair.firstPosition : \LinkPairs.Pair.secondPosition
        let number = end == .first ? \JoinChanges.Orders.first : \JoinChanges.Orders.second
        var storedNumbers: [Int: Int64] = [:]
        var lists: [Int32: [Int]] = [:]
        for change in changes.reordered where change.orders[keyPath: number] != change.stored[keyPath: number] {
            storedNumbers[change.index] = change.stored[keyPath: number]
            let owner = pairs[change.index][keyPath: owner]
            if spoken.speaks(of: owner) { lists[owner] = [] }
        }
        guard !lists.isEmpty else { return }
        for owner in pending.noted(of: link.id).awaitedPlaces(at: end).keys { lists[owner] = nil }
        for (index, pair) in pairs.enumerated() where pair.isStored || !pair.onlyKeeps {
            lists[pair[keyPath: owner]]?.append(index)
        }
        var kept: Set<Int> = []
        for list in lists.values where list.allSatisfy({ pairs[$0].isStored && pairs[$0][keyPath: position] >= 0 }) {
            let numbers = list.sorted { pairs[$0][keyPath: position] < pairs[$1][keyPath: position] }.map { index in
                storedNumbers[index] ?? Int64(pairs[index][keyPath: position])
            }
            if zip(numbers, numbers.dropFirst()).allSatisfy(<) { kept.formUnion(list) }
        }
        for index in changes.reordered.indices where kept.contains(changes.reordered[index].index) {
            changes.reordered[index].orders[keyPath: number] = changes.reordered[index].stored[keyPath: number]
        }
    }

    private mutating func noteOrphan(_ key: RowKey, _ node: Int32, _ tree: Int) {
        let entity = node >= 0 ? trees[tree].entity(of: Int(node)) : model.trees[tree].root
        if isKeyless(entity) { leaving.noteOrphan(StoredRow(tree: tree, key: key)) }
    }
}
