import SyncCore

// A list that has its rows in the order they are stored in is no reason to number them anew: numbers have gaps where
// rows went away, and an equal order is not a change. A list that waits for rows has its own numbers: theirs are among them.
extension SyncTransaction {
    /// Gives rows of replaced lists their stored numbers back where these ascend as the new ones do.
    ///
    /// - Parameters:
    ///   - orders: The new numbers of all nodes of a link's first end.
    ///   - awaited: The owners whose lists wait for rows.
    func keepSameOrders(
        _ orders: inout [Int64], _ link: Int, index: Int, _ spoken: SpokenEnd, _ awaited: [Int32: Int64]
    ) {
        guard !spoken.isEmpty else { return }
        let tree = trees[model.links[link].first.tree]
        let stored = tree.storedOrders[index]
        func stays(_ child: Int) -> Bool {
            tree.presence[child] == .stored && tree.storedTargets[index][child] == tree.targets[index][child]
                && stored[child] != TreeState.noOrder
        }
        var lists: [Int32: [Int]] = [:]
        for child in orders.indices where orders[child] != stored[child] && tree.presence[child] != .missing {
            let target = tree.targets[index][child]
            if spoken.speaks(of: target), awaited[target] == nil, stays(child) { lists[target] = [] }
        }
        guard !lists.isEmpty else { return }
        for child in orders.indices where tree.presence[child] != .missing {
            lists[tree.targets[index][child]]?.append(child)
        }
        for children in lists.values where children.allSatisfy(stays) {
            let inOrder = children.sorted { orders[$0] < orders[$1] }
            guard zip(inOrder, inOrder.dropFirst()).allSatisfy({ stored[$0] < stored[$1] }) else { continue }
            for child in children { orders[child] = stored[child] }
        }
    }
}
