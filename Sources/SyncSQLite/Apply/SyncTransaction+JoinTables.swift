import GRDB
import SyncCore

// Which pairs a join table shall have: those said to be, unless either end was spoken for later.
extension SyncTransaction {
    mutating func resolveJoinTables() throws {
        for link in model.links where link.storage == .joinTable && !plan.links[link.id].isEmpty {
            try resolveJoinTable(link)
        }
    }

    /// A pair that was said to be linked.
    private struct Said {
        var first: Int32
        var second: Int32
        var sequence: UInt32
        var firstPosition: Int32 = -1
        var secondPosition: Int32 = -1
        /// When a list last had the pair that may only keep it; 0 for never.
        var keptSequence: UInt32 = 0
        var onlyKeeps: Bool
        var isStored = false
        var isGone = false
        var position: Int32 { max(firstPosition, secondPosition) }
        var isNew: Bool { !isStored && !onlyKeeps }

        /// Takes over what a later statement says of the same pair.
        mutating func merge(_ later: Said) {
            let isSameList = sequence == later.sequence
            if later.firstPosition >= 0, !isSameList || firstPosition < 0 { firstPosition = later.firstPosition }
            if later.secondPosition >= 0, !isSameList || secondPosition < 0 { secondPosition = later.secondPosition }
            keptSequence = max(keptSequence, later.keptSequence)
            if onlyKeeps == later.onlyKeeps {
                sequence = max(sequence, later.sequence)
            } else if onlyKeeps {
                sequence = later.sequence
            }
            onlyKeeps = onlyKeeps && later.onlyKeeps
        }

        /// Whether it stays said although its ends were spoken for as a whole: by what came later, or by the very list
        /// that did so. If not, a list may still keep it where it is stored.
        mutating func stands(_ replacedFirst: Int64, _ replacedSecond: Int64) -> Bool {
            let last = max(replacedFirst, replacedSecond)
            let isListed = [replacedFirst, replacedSecond].allSatisfy {
                $0 <= Int64(sequence) || $0 == Int64(keptSequence)
            }
            if isListed { return true }
            onlyKeeps = true
            return Int64(keptSequence) >= last
        }
    }

    /// How pairs are put in order: by the end that says most of them, which comes in the order of the payload.
    private struct PairOrder {
        let bySecond: Bool

        init(_ assertions: [LinkBatch.Assertion]) { bySecond = assertions.last?.saidBy == .second }

        @inline(__always)
        func major(_ pair: Said) -> Int32 { bySecond ? pair.second : pair.first }

        @inline(__always)
        func code(_ first: Int32, _ second: Int32) -> UInt64 {
            let (major, minor) = bySecond ? (second, first) : (first, second)
            return UInt64(UInt32(bitPattern: major)) << 32 | UInt64(UInt32(bitPattern: minor))
        }

        @inline(__always)
        func code(_ pair: Said) -> UInt64 { code(pair.first, pair.second) }

        /// Repeated pairs in document order.
        func precedes(_ left: Said, _ right: Said) -> Bool {
            let (l, r) = (code(left), code(right))
            return l != r ? l < r : (left.sequence, left.position) < (right.sequence, right.position)
        }
    }

    private mutating func resolveJoinTable(_ link: Link) throws {
        let order = PairOrder(plan.links[link.id].assertions)
        let replacedFirst = replaced(link.id, .first)
        let replacedSecond = replaced(link.id, .second)
        var pairs = saidPairs(link, order, replacedFirst, replacedSecond)
        for index in pairs.indices
        where Int64(pairs[index].sequence)
            < max(replacedFirst.at(pairs[index].first), replacedSecond.at(pairs[index].second))
        {
            let (first, second) = (replacedFirst.at(pairs[index].first), replacedSecond.at(pairs[index].second))
            pairs[index].isGone = !pairs[index].stands(first, second)
        }
        pairs.removeAll(where: \.isGone)
        var changes = JoinChanges()
        try compareStoredPairs(link, &pairs, order, replacedFirst, replacedSecond, &changes)
        keepSameOrders(.first, pairs, replacedFirst, link, &changes)
        keepSameOrders(.second, pairs, replacedSecond, link, &changes)
        changes.reordered.removeAll { $0.orders == $0.stored }
        changes.added.reserveCapacity(pairs.count { $0.isNew })
        for pair in pairs where pair.isNew {
            changes.added.append(
                .init(
                    first: pair.first, second: pair.second, firstPosition: pair.firstPosition,
                    secondPosition: pair.secondPosition))
        }
        report.linksAdded += changes.added.count
        report.linksRemoved += changes.removed.count
        try noteLinks(changes, link)
        joins[link.id] = changes
    }

    private func place(_ position: Int32) -> Int64? { position < 0 ? nil : Int64(position) }

    /// The pairs said by records that count, each once, by first and second node.
    private mutating func saidPairs(
        _ link: Link, _ order: PairOrder, _ replacedFirst: Replaced, _ replacedSecond: Replaced
    ) -> [Said] {
        var pairs: [Said] = []
        pairs.reserveCapacity(plan.links[link.id].assertions.count)
        let checksEntities = model.trees[link.first.tree].hasSubEntities || model.trees[link.second.tree].hasSubEntities
        for assertion in plan.links[link.id].assertions {
            let standing = standing(assertion)
            if standing == .none { continue }
            guard isPresent(assertion.first, link.first.tree), isPresent(assertion.second, link.second.tree),
                !checksEntities || (fits(assertion.first, link.first) && fits(assertion.second, link.second))
            else {
                if assertion.isByID { pending.note(assertion, link.id) }
                continue
            }
            var pair = Said(
                first: assertion.first, second: assertion.second, sequence: assertion.sequence,
                keptSequence: standing == .keeps ? assertion.sequence : 0, onlyKeeps: standing == .keeps)
            // A place in a list that another list came after is none.
            let sequence = Int64(assertion.sequence)
            if assertion.saidBy == .first, sequence >= replacedFirst.at(assertion.first) {
                pair.firstPosition = assertion.position
            } else if assertion.saidBy == .second, sequence >= replacedSecond.at(assertion.second) {
                pair.secondPosition = assertion.position
            }
            pairs.append(pair)
        }
        sortAndMerge(&pairs, order)
        return pairs
    }

    /// Puts pairs in the order of their nodes and makes repeated ones one: the last statement counts, with the position
    /// each end last gave (in one list the first).
    private func sortAndMerge(_ pairs: inout [Said], _ order: PairOrder) {
        guard pairs.count > 1 else { return }
        if zip(pairs, pairs.dropFirst()).allSatisfy({ order.major($0) <= order.major($1) }) {
            var start = 0
            while start < pairs.count {
                var end = start + 1
                while end < pairs.count, order.major(pairs[end]) == order.major(pairs[start]) { end += 1 }
                if !isAscending(pairs, start, end, order) { sort(&pairs, start, end, order) }
                start = end
            }
        } else {
            pairs.sort(by: order.precedes)
        }
        var last = 0
        for index in 1..<pairs.count {
            if order.code(pairs[index]) == order.code(pairs[last]) {
                pairs[last].merge(pairs[index])
            } else {
                last += 1
                pairs[last] = pairs[index]
            }
        }
        pairs.removeLast(pairs.count - last - 1)
    }

    /// Sorts the pairs of one list, which are few mostly.
    private func sort(_ pairs: inout [Said], _ start: Int, _ end: Int, _ order: PairOrder) {
        guard end - start <= 16 else { return pairs[start..<end].sort(by: order.precedes) }
        for index in (start + 1)..<end {
            let pair = pairs[index]
            var place = index
            while place > start, order.precedes(pair, pairs[place - 1]) {
                pairs[place] = pairs[place - 1]
                place -= 1
            }
            pairs[place] = pair
        }
    }

    /// Whether no pair of a range comes before, or is the same as, the one before it.
    private func isAscending(_ pairs: [Said], _ start: Int, _ end: Int, _ order: PairOrder) -> Bool {
        for index in (start + 1)..<end where order.code(pairs[index - 1]) >= order.code(pairs[index]) { return false }
        return true
    }

    // MARK: Stored pairs

    /// Reads the stored pairs that matter: all of them when the payload speaks of many rows, else those of each row
    /// whose links are replaced, and each other pair by itself.
    private mutating func compareStoredPairs(
        _ link: Link, _ pairs: inout [Said], _ order: PairOrder, _ replacedFirst: Replaced, _ replacedSecond: Replaced,
        _ changes: inout JoinChanges
    ) throws {
        guard case .joinTable(let name, let first, let second, let firstOrder, let secondOrder) = layout.links[link.id]
        else { return }
        let orders = [firstOrder, secondOrder].map { $0?.quoted ?? "NULL" }.joined(separator: ", ")
        let select = "SELECT \(first.quoted), \(second.quoted), \(orders) FROM \(name.quoted)"
        let others = pairs.filter {
            replacedFirst.at($0.first) < 0 && replacedSecond.at($0.second) < 0
                && trees[link.first.tree].presence[Int($0.first)] == .stored
                && trees[link.second.tree].presence[Int($0.second)] == .stored
        }
        let limit =
            (storedCount(replacedFirst, link.first.tree) + storedCount(replacedSecond, link.second.tree)) * 12
            + others.count * 6
        guard limit > 0 else { return }
        let isOrdered = orders != "NULL, NULL"
        switch try size(of: name.quoted, limit: limit) {
        case .empty: return
        case .small:
            return try compareAll(
                RawStatement(db, select), link, isOrdered, &pairs, order, replacedFirst, replacedSecond, &changes)
        case .large: break
        }
        let firsts = storedNodes(replacedFirst, link.first.tree)
        let seconds = storedNodes(replacedSecond, link.second.tree)
        var seen: Set<JoinChanges.Pair> = []
        for (nodes, tree, column) in [(firsts, link.first.tree, first), (seconds, link.second.tree, second)] {
            let keys = lookups[tree].integerKeys
            // A pair may be met again below, which only matters where it has a place.
            if !isOrdered, firsts.isEmpty || seconds.isEmpty, !keys.isEmpty,
                let range = KeyRange(nodes.map { keys[$0] }, factor: 12)
            {
                let statement = try RawStatement(
                    db, select + KeyRange.condition(column.quoted) + " ORDER BY \(column.quoted)")
                range.bind(to: statement)
                try compareAll(
                    statement, link, isOrdered, &pairs, order, replacedFirst, replacedSecond, &changes)
                continue
            }
            let statement = try RawStatement(db, select + " WHERE \(column.quoted) = ?")
            for node in nodes {
                try checkCancellation()
                bindKey(of: node, tree, to: statement, at: 1)
                while try statement.step() {
                    guard let one = statement.key(0), let other = statement.key(1),
                        seen.insert(.init(first: one, second: other)).inserted
                    else { continue }
                    _ = compare(statement, link, &pairs, order, replacedFirst, replacedSecond, &changes)
                }
                statement.reset()
            }
        }
        let statement = try RawStatement(db, select + " WHERE \(first.quoted) = ? AND \(second.quoted) = ?")
        for pair in others {
            try checkCancellation()
            bindKey(of: Int(pair.first), link.first.tree, to: statement, at: 1)
            bindKey(of: Int(pair.second), link.second.tree, to: statement, at: 2)
            if try statement.step() {
                _ = compare(statement, link, &pairs, order, replacedFirst, replacedSecond, &changes)
            }
            statement.reset()
        }
    }

    /// All pairs that a statement reads.
    private mutating func compareAll(
        _ statement: RawStatement, _ link: Link, _ isOrdered: Bool, _ pairs: inout [Said], _ order: PairOrder,
        _ replacedFirst: Replaced, _ replacedSecond: Replaced, _ changes: inout JoinChanges
    ) throws {
        let firstKeys = lookups[link.first.tree].integerKeys
        let secondKeys = lookups[link.second.tree].integerKeys
        let isGuessed = !firstKeys.isEmpty && !secondKeys.isEmpty && !isOrdered
        var guess = 0
        while try statement.step() {
            try checkCancellation()
            // Pairs are often stored in the order they are said in.
            if isGuessed, guess < pairs.count, firstKeys[Int(pairs[guess].first)] == statement.integer(0),
                secondKeys[Int(pairs[guess].second)] == statement.integer(1)
            {
                pairs[guess].isStored = true
                guess += 1
            } else if let met = compare(statement, link, &pairs, order, replacedFirst, replacedSecond, &changes) {
                guess = met + 1
            }
        }
    }

    /// The stored rows whose links at one end are replaced.
    private func storedNodes(_ replaced: Replaced, _ tree: Int) -> [Int] {
        replaced.sequence.indices.filter { isStored($0, replaced, tree) }
    }

    private func storedCount(_ replaced: Replaced, _ tree: Int) -> Int {
        replaced.sequence.indices.count { isStored($0, replaced, tree) }
    }

    private func isStored(_ node: Int, _ replaced: Replaced, _ tree: Int) -> Bool {
        replaced.sequence[node] >= 0 && trees[tree].presence[node] == .stored
    }

    /// One stored pair against what was said; the place of the pair it is, if it was said.
    private mutating func compare(
        _ statement: RawStatement, _ link: Link, _ pairs: inout [Said], _ order: PairOrder, _ replacedFirst: Replaced,
        _ replacedSecond: Replaced, _ changes: inout JoinChanges
    ) -> Int? {
        let first = endNode(statement, 0, link.first.tree)
        let second = endNode(statement, 1, link.second.tree)
        if first >= 0, second >= 0, let index = index(of: order.code(first, second), in: pairs, order) {
            pairs[index].isStored = true
            noteOrder(statement, index, pairs[index], &changes)
            return index
        }
        guard replacedFirst.at(first) >= 0 || replacedSecond.at(second) >= 0,
            let firstKey = statement.key(0), let secondKey = statement.key(1)
        else {
            if first < 0 || second < 0, speaksOfAll { doubtfulLinks.insert(link.id) }
            return nil
        }
        changes.removed.append(.init(first: firstKey, second: secondKey))
        noteOrphan(firstKey, first, link.first.tree)
        noteOrphan(secondKey, second, link.second.tree)
        return nil
    }

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

    private func index(of code: UInt64, in pairs: [Said], _ order: PairOrder) -> Int? {
        var low = 0
        var high = pairs.count
        while low < high {
            let middle = (low + high) / 2
            if order.code(pairs[middle]) < code { low = middle + 1 } else { high = middle }
        }
        return low < pairs.count && order.code(pairs[low]) == code ? low : nil
    }

    private func noteOrder(_ statement: RawStatement, _ index: Int, _ pair: Said, _ changes: inout JoinChanges) {
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

    /// Gives the pairs of replaced lists their stored numbers back where these ascend as the new ones do.
    private func keepSameOrders(
        _ end: Link.End, _ pairs: [Said], _ replaced: Replaced, _ link: Link, _ changes: inout JoinChanges
    ) {
        let owner = end == .first ? \Said.first : \Said.second
        let position = end == .first ? \Said.firstPosition : \Said.secondPosition
        let number = end == .first ? \JoinChanges.Orders.first : \JoinChanges.Orders.second
        var storedNumbers: [Int: Int64] = [:]
        var lists: [Int32: [Int]] = [:]
        for change in changes.reordered where change.orders[keyPath: number] != change.stored[keyPath: number] {
            storedNumbers[change.index] = change.stored[keyPath: number]
            let owner = pairs[change.index][keyPath: owner]
            if replaced.at(owner) >= 0 { lists[owner] = [] }
        }
        guard !lists.isEmpty else { return }
        for owner in awaitedPlaces(link.id, end).keys { lists[owner] = nil }
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
        if isKeyless(entity) { orphans.insert(StoredRow(tree: tree, key: key)) }
    }
}
