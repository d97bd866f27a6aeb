import SyncCore

// Rows that are linked beside a list come after the listed ones, in the order they had: a list does not replace the links
// of its owner where the operations or a scope keep others, and other rows may say that they are linked to it too.
extension SyncTransaction {
    mutating func settleOrders() throws {
        for link in model.links where !plan[link.id].isEmpty {
            for end in [Link.End.first, .second] where link.hasPlaces(end) { try settleOrders(link, end) }
        }
    }

    private func settleOrders(_ link: Link, _ end: Link.End) throws {
        let lists = listsToSettle(link, end)
        guard !lists.isEmpty else { return }
        try links.load(lists.keys, link.id, from: end)
        if link.id == plan.parent?.link, end == plan.parent?.end {
            let table = link.side(end.other).table
            try loadMarks(
                of: lists.keys.map { try links.targets(of: $0, link.id, from: end) }.joined()
                    .map { StoredRow(table: table, key: $0) })
        }
        for (owner, listed) in lists {
            try steps.advance()
            try settleOrder(of: owner, link, end, listed)
        }
    }

    /// By owner: the rows that the lists of the payload name, where others may be linked too.
    private func listsToSettle(_ link: Link, _ end: Link.End) -> [RowKey: Set<RowKey>] {
        let statements = statements(of: link.id)
        let spoken = statements.spokenEnd(end)
        let (table, others) = (tables[link.side(end).table], tables[link.side(end.other).table])
        let joined = joinedOwners(link, end)
        let leaving = leavingOwners(link, end)
        var lists: [NodeID: Set<RowKey>] = [:]
        for assertion in statements.stated where assertion.saidBy == end && assertion.position >= 0 {
            let (owner, child) = assertion.ends(from: end)
            // Rows that are told apart by a link keep it, though a list leaves them out.
            let isAlone = table.isPresent(owner, as: .new) || (spoken.speaks(of: owner) && !link.isKeyPart)
            guard !isAlone || joined.contains(owner) || leaving.contains(owner), let key = others.rowKey(child) else {
                continue
            }
            lists[owner, default: []].insert(key)
        }
        return Dictionary(
            lists.compactMap { owner, list in table.rowKey(owner).map { ($0, list) } }, uniquingKeysWith: { $1 })
    }

    /// The owners that rows of the other side say they are linked to.
    private func joinedOwners(_ link: Link, _ end: Link.End) -> Set<NodeID> {
        Set(plan[link.id].assertions.lazy.filter { $0.saidBy != end }.map { $0.ends(from: end).owner })
    }

    /// The owners whose rows a list left out, which stay until the end of the run: a later page may say that they stay
    /// for good.
    private func leavingOwners(_ link: Link, _ end: Link.End) -> Set<NodeID> {
        guard end == .second, let unlisted = run?.unlisted, !unlisted.isEmpty else { return [] }
        let keys = Set(unlisted.filter { $0.link == link.id }.map(\.owner))
        return Set(keys.compactMap { tables[link.second.table].node(of: $0) })
    }

    private func settleOrder(of owner: RowKey, _ link: Link, _ end: Link.End, _ list: Set<RowKey>) throws {
        let isParent = link.id == plan.parent?.link && end == plan.parent?.end
        let table = link.side(end.other).table
        var last: Int64 = -1
        var others: [(row: RowKey, place: Int64?)] = []
        for (row, place) in try links.list(of: owner, link.id, end) {
            let isListed = try list.contains(row) || (isParent && isListed(StoredRow(table: table, key: row)))
            if isListed { last = max(last, place ?? -1) } else { others.append((row, place)) }
        }
        guard others.contains(where: { $0.place.map { $0 <= last } ?? true }) else { return }
        for (index, other) in others.enumerated() {
            try links.setPlace(last + 1 + Int64(index), of: other.row, in: owner, link.id, end)
        }
    }
}

// MARK: - Same orders

// A list that has its rows in the order they are stored in is no reason to number them anew: numbers have gaps where
// rows went away, and an equal order is not a change. A list that waits for rows has its own numbers: theirs are among them.
extension SyncTransaction {
    /// Gives rows of replaced lists their stored places back where these ascend as the new ones do.
    ///
    /// - Parameters:
    ///   - places: The new places of all nodes of a table, in the lists of what a foreign key leads to.
    ///   - awaited: The owners whose lists wait for rows.
    func keepSameOrders(
        _ places: inout [Int64?], _ table: SyncTable, _ index: Int, _ targets: [LinkTarget], _ spoken: SpokenEnd,
        _ awaited: [NodeID: Int64]
    ) {
        guard !spoken.isEmpty else { return }
        let (presence, stored) = (table.met.presence, table.met.foreignKeys[index])
        func stays(_ child: Int) -> Bool {
            presence[child] == .stored && stored.targets[child] == targets[child] && stored.places[child] != nil
        }
        var lists: [NodeID: [Int]] = [:]
        for child in places.indices where places[child] != stored.places[child] && presence[child] != .missing {
            guard let target = targets[child].node else { continue }
            if spoken.speaks(of: target), awaited[target] == nil, stays(child) { lists[target] = [] }
        }
        guard !lists.isEmpty else { return }
        for child in places.indices where presence[child] != .missing {
            if let target = targets[child].node { lists[target]?.append(child) }
        }
        for children in lists.values where children.allSatisfy(stays) {
            let inOrder = children.sorted { places[$0] ?? .min < places[$1] ?? .min }
            let numbers = inOrder.compactMap { stored.places[$0] }
            guard zip(numbers, numbers.dropFirst()).allSatisfy(<) else { continue }
            for child in children { places[child] = stored.places[child] }
        }
    }

    /// The same for the pairs of a join table, at one end.
    func keepSameOrders(_ end: Link.End, _ said: LinkPairs, _ link: Link, _ compared: inout ComparedPairs) {
        let pairs = said.pairs
        let spoken = end == .first ? said.first : said.second
        let owner = end == .first ? \LinkPairs.Pair.first : \LinkPairs.Pair.second
        let position = end == .first ? \LinkPairs.Pair.firstPosition : \LinkPairs.Pair.secondPosition
        var storedNumbers: [Int: Int64] = [:]
        var lists: [NodeID: [Int]] = [:]
        for moved in compared.moved where moved.places[end] != moved.stored[end] {
            storedNumbers[moved.index] = moved.stored[end]
            let owner = pairs[moved.index][keyPath: owner]
            if spoken.speaks(of: owner) { lists[owner] = [] }
        }
        guard !lists.isEmpty else { return }
        for owner in said.awaited.awaitedPlaces(at: end).keys { lists[owner] = nil }
        // One without a place comes last, whatever its position.
        for moved in compared.moved where moved.places[end] != nil && moved.stored[end] == nil {
            lists[pairs[moved.index][keyPath: owner]] = nil
        }
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
        for index in compared.moved.indices where kept.contains(compared.moved[index].index) {
            compared.moved[index].places[end] = compared.moved[index].stored[end]
        }
    }
}

// MARK: - Free places

extension SyncTransaction {
    /// The places after all others in the lists of nodes at an end, but for new ones, where that is the first.
    func freePlaces(
        _ nodes: some Sequence<NodeID>, _ link: Link, _ end: Link.End
    ) throws -> [NodeID: Int64] {
        let table = tables[link.side(end).table]
        var owners: [NodeID: RowKey] = [:]
        for node in nodes where owners[node] == nil && table.isPresent(node, as: .stored) {
            owners[node] = table.rowKey(node)
        }
        guard !owners.isEmpty else { return [:] }
        let asked = Array(owners)
        let free = try store.freePlaces(in: asked.map(\.value), link, end)
        return Dictionary(zip(asked.map(\.key), free), uniquingKeysWith: { $1 })
    }
}
