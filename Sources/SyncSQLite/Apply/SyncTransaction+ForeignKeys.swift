import GRDB
import SyncCore

// What each foreign key shall be, by the rule for links.
extension SyncTransaction {
    mutating func resolveForeignKeys() throws {
        for tree in model.trees {
            for (index, link) in tree.foreignKeys.enumerated() {
                try resolveForeignKey(link, index: index)
            }
        }
        try dropUnownedRows()
        for tree in model.trees {
            for (index, link) in tree.foreignKeys.enumerated() {
                try markChangedTargets(tree.id, link, index: index)
            }
        }
    }

    private mutating func resolveForeignKey(_ link: Int, index: Int) throws {
        let first = model.links[link].first.tree
        guard !plan.links[link].isEmpty else {
            trees[first].targets[index] = trees[first].storedTargets[index]
            trees[first].orders[index] = trees[first].storedOrders[index]
            return
        }
        let outcome = LinkTargets(statements(of: link), stored: trees[first].storedTargets[index])
        trees[first].targets[index] = outcome.nodes
        pending.note(outcome.awaited, link)
        if !outcome.positions.isEmpty { try resolveOrders(link, index: index, outcome) }
        try noteStrays(link, outcome.second)
    }

    // MARK: Order

    /// Positions among the rows that point to the same target: the list's for those listed, after them, and after those
    /// that the list waits for, in their stored order or as they come for others.
    private mutating func resolveOrders(_ link: Int, index: Int, _ outcome: LinkTargets) throws {
        let positions = outcome.positions
        let awaited = outcome.awaited.awaitedPlaces(at: .second)
        let first = model.links[link].first.tree
        let count = trees[first].presence.count
        if trees[first].storedOrders[index].isEmpty {
            trees[first].storedOrders[index] = Array(repeating: TreeState.noOrder, count: count)
        }
        var orders = Array(repeating: TreeState.noOrder, count: count)
        var nextOrder = awaited
        for child in 0..<count where positions[child] >= 0 {
            orders[child] = Int64(positions[child])
            nextOrder[trees[first].targets[index][child], default: 0] =
                max(nextOrder[trees[first].targets[index][child], default: 0], orders[child] + 1)
        }
        let stored = trees[first].storedOrders[index]
        let others = (0..<count).filter {
            positions[$0] < 0 && trees[first].presence[$0] != .missing
                && trees[first].targets[index][$0] != LinkTargets.none
        }
        // Rows that stay come first, in their order; a place among the rows of another target means nothing here.
        let staying = others.map { trees[first].targets[index][$0] == trees[first].storedTargets[index][$0] }
        let places = zip(others, staying).map { child, isStay in
            (order: isStay && stored[child] != TreeState.noOrder ? stored[child] : .max, child: child, isStay: isStay)
        }
        for (_, child, isStay) in places.sorted(by: { ($0.order, $0.child) < ($1.order, $1.child) }) {
            let target = trees[first].targets[index][child]
            if isStay, target == LinkTargets.unmentioned || stored[child] >= nextOrder[target] ?? TreeState.noOrder {
                orders[child] = stored[child]
                if let next = nextOrder[target] { nextOrder[target] = max(next, stored[child] + 1) }
            } else {
                let next = try nextOrder[target] ?? freePlace(link, .second, target)
                orders[child] = next
                nextOrder[target] = next + 1
            }
        }
        keepSameOrders(&orders, link, index: index, outcome.second, awaited)
        trees[first].orders[index] = orders
    }

    /// The place after all others in the list of a node.
    func freePlace(_ link: Int, _ end: Link.End, _ node: Int32) throws -> Int64 {
        let tree = model.links[link].side(end).tree
        guard node >= 0, trees[tree].presence[Int(node)] == .stored,
            let key = trees[tree].rowKey(Int(node), plan.rows[tree], pool)
        else { return 0 }
        return try storedLinks.freePlace(link, end, key)
    }

    // MARK: Differences

    /// Marks foreign keys and orders that differ from what is stored, and counts links.
    private mutating func markChangedTargets(_ tree: Int, _ link: Int, index: Int) throws {
        let attributes = model.trees[tree].attributes.count
        let foreignKeys = model.trees[tree].foreignKeys.count
        let hasOrder = columns[tree].orders[index] != nil
        for node in trees[tree].presence.indices where trees[tree].presence[node] != .missing {
            let stored =
                trees[tree].presence[node] == .stored ? trees[tree].storedTargets[index][node] : LinkTargets.none
            let target = trees[tree].targets[index][node]
            if stored != target {
                try bookTarget(of: node, tree, link, before: stored, after: target)
                if trees[tree].presence[node] == .stored {
                    trees[tree].markDirty(node, column: attributes + index)
                    noteOrphans(tree, node, link, stored: stored)
                }
            }
            if hasOrder, trees[tree].presence[node] == .stored, !trees[tree].orders[index].isEmpty,
                trees[tree].orders[index][node] != trees[tree].storedOrders[index][node]
            {
                trees[tree].markDirty(node, column: attributes + foreignKeys + index)
            }
        }
    }

    /// A keyless row at either end of a removed link may have no owner left.
    private mutating func noteOrphans(_ tree: Int, _ node: Int, _ link: Int, stored: Int32) {
        guard stored != LinkTargets.none else { return }
        let second = model.links[link].second.tree
        if isKeyless(trees[tree].entity(of: node)), let key = trees[tree].rowKey(node, plan.rows[tree], pool) {
            leaving.noteOrphan(StoredRow(tree: tree, key: key))
        }
        if stored >= 0, isKeyless(trees[second].entity(of: Int(stored))),
            let key = trees[second].rowKey(Int(stored), plan.rows[second], pool)
        {
            leaving.noteOrphan(StoredRow(tree: second, key: key))
        } else if stored == LinkTargets.unmentioned, columns[second].hasHiddenKey, !trees[tree].rawTargets.isEmpty {
            let index = model.trees[tree].foreignKeys.firstIndex(of: link) ?? 0
            guard !trees[tree].rawTargets[index].isEmpty else { return }
            leaving.noteOrphan(StoredRow(tree: second, key: .integer(trees[tree].rawTargets[index][node])))
        }
    }

    func isKeyless(_ entity: Int) -> Bool { model.entities[entity].keySlot == nil }

    // MARK: Strays

    /// Unmentioned rows that pointed to a target whose end was spoken for: to be unlinked or deleted. Rows that the
    /// service does not know yet stay where they are: its lists cannot have them.
    private mutating func noteStrays(_ link: Int, _ spoken: SpokenEnd) throws {
        let first = model.links[link].first.tree
        for stray in trees[first].strayLinks where stray.link == link && spoken.speaks(of: stray.target) {
            let row = StoredRow(tree: first, key: trees[first].strays[stray.stray].key)
            let deletes = spoken.deletes(at: stray.target)
            if deletes, try isLocal(row) { continue }
            if deletes || isKeyless(trees[first].strays[stray.stray].entity) {
                try leaveOut(row, link, owner: stray.target)
            } else {
                leaving[row].unlinked.insert(link)
            }
        }
    }

    /// New rows known only by their owner, which a later statement took the owner from, are not stored.
    private mutating func dropUnownedRows() throws {
        var pairs: [Int32: LinkPairs] = [:]
        var dropped: Set<ChangePlan.RowReference> = []
        for reference in plan.ownedRows where trees[reference.tree].presence[reference.node] == .new {
            let owner = plan.rows[reference.tree].owners[Int(plan.rows[reference.tree].nodes[reference.node].owner)]
            if model.links[Int(owner.link)].storage == .joinTable {
                let said = pairs[owner.link] ?? LinkPairs(statements(of: Int(owner.link)))
                pairs[owner.link] = said
                let node = Int32(truncatingIfNeeded: reference.node)
                let (first, second) = owner.end == .first ? (owner.node, node) : (node, owner.node)
                if isPresent(owner.node, Int(owner.tree)), said.holds(first, second) { continue }
            } else if isOwned(reference, owner) {
                continue
            }
            trees[reference.tree].presence[reference.node] = .missing
            dropped.insert(reference)
        }
        if !dropped.isEmpty { clearTargets(dropped) }
    }

    private mutating func clearTargets(_ dropped: Set<ChangePlan.RowReference>) {
        for tree in model.trees {
            for (index, link) in tree.foreignKeys.enumerated() {
                let targetTree = model.links[link].second.tree
                for (node, target) in trees[tree.id].targets[index].enumerated()
                where target >= 0 && dropped.contains(.init(tree: targetTree, node: Int(target))) {
                    trees[tree.id].targets[index][node] = LinkTargets.none
                }
            }
        }
    }

    private func isOwned(_ reference: ChangePlan.RowReference, _ owner: RowBatch.Owner) -> Bool {
        let first = model.links[Int(owner.link)].first.tree
        guard let index = model.trees[first].foreignKeys.firstIndex(of: Int(owner.link)) else { return true }
        let child = owner.end == .first ? Int(owner.node) : reference.node
        let target = owner.end == .first ? Int32(truncatingIfNeeded: reference.node) : owner.node
        return trees[first].presence[child] != .missing && trees[first].targets[index][child] == target
            && isPresent(owner.node, Int(owner.tree))
    }
}
