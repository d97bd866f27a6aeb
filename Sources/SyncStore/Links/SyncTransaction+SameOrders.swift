import SyncCore

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
