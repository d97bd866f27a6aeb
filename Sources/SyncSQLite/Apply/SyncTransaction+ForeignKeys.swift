import GRDB
import SyncCore

// What each foreign key shall be. One rule: the last statement about a row's link holds, unless its target's end was
// spoken for later.
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

    /// When the links of rows at one end were last spoken for, by node; -1 for never.
    struct Replaced {
        var sequence: [Int64]
        var deletes: [Bool]

        init(count: Int) {
            sequence = Array(repeating: -1, count: count)
            deletes = Array(repeating: false, count: count)
        }

        mutating func note(_ node: Int32, _ sequence: UInt32, deletes: Bool) {
            let index = Int(node)
            guard Int64(sequence) >= self.sequence[index] else { return }
            self.sequence[index] = Int64(sequence)
            self.deletes[index] = deletes
        }

        func at(_ node: Int32) -> Int64 { node < 0 || sequence.isEmpty ? -1 : sequence[Int(node)] }
    }

    /// The replacements of a link at one end by records that count; empty if there are none.
    func replaced(_ link: Int, _ end: Link.End) -> Replaced {
        let replacements = plan.links[link].replacements
        guard replacements.contains(where: { $0.end == end }) else { return Replaced(count: 0) }
        var replaced = Replaced(count: trees[model.links[link].side(end).tree].presence.count)
        for replacement in replacements where replacement.end == end && isActive(replacement.mention) {
            replaced.note(replacement.node, replacement.sequence, deletes: replacement.kind == .delete)
        }
        return replaced
    }

    private mutating func resolveForeignKey(_ link: Int, index: Int) throws {
        let batch = plan.links[link]
        let first = model.links[link].first.tree
        let second = model.links[link].second.tree
        guard !batch.isEmpty else {
            trees[first].targets[index] = trees[first].storedTargets[index]
            trees[first].orders[index] = trees[first].storedOrders[index]
            return
        }
        let count = trees[first].presence.count
        let cleared = replaced(link, .first)
        var replacedTargets = replaced(link, .second)
        let isOneToOne = model.links[link].isOneToOne
        let checksEntities = model.trees[first].hasSubEntities || model.trees[second].hasSubEntities
        if isOneToOne, replacedTargets.sequence.isEmpty {
            replacedTargets = Replaced(count: trees[second].presence.count)
        }
        var said = Array(repeating: Int64(-1), count: count)
        var target = Array(repeating: TreeState.noTarget, count: count)
        var places = columns[first].orders[index] == nil ? nil : ListPlaces(count: count)
        var kept: [Int64: Int64] = [:]
        let firstNoted = pending.noted.count
        for assertion in batch.assertions {
            let standing = standing(assertion)
            if standing == .none { continue }
            let child = Int(assertion.first)
            guard isPresent(assertion.first, first), isPresent(assertion.second, second),
                !checksEntities
                    || (fits(assertion.first, model.links[link].first)
                        && fits(assertion.second, model.links[link].second))
            else {
                if assertion.isByID { pending.note(assertion, link) }
                continue
            }
            if standing == .keeps {
                kept[code((assertion.first, assertion.second))] = Int64(assertion.sequence)
                continue
            }
            // Linking a one-to-one target speaks for its end too, even if a later statement moves the link on.
            if isOneToOne { replacedTargets.note(assertion.second, assertion.sequence, deletes: false) }
            let sequence = Int64(assertion.sequence)
            if assertion.saidBy == .second, assertion.position >= 0 {
                places?.note(assertion.position, of: child, in: assertion.second, assertion.sequence)
            }
            if sequence >= said[child] {
                said[child] = sequence
                target[child] = assertion.second
            }
        }
        for child in 0..<count where trees[first].presence[child] != .missing {
            let node = Int32(truncatingIfNeeded: child)
            /// When the list of a row last had the child, which may only be kept in it.
            func keptSince(_ target: Int32) -> Int64 {
                kept.isEmpty || target < 0 ? -1 : kept[code((node, target))] ?? -1
            }
            if said[child] >= 0, said[child] >= cleared.at(node) {
                let replaced = replacedTargets.at(target[child])
                // The very list that replaces the links may have the child, too.
                let holds = said[child] >= replaced || keptSince(target[child]) == replaced
                target[child] = holds ? target[child] : TreeState.noTarget
            } else {
                let stored = trees[first].storedTargets[index][child]
                let isGone = cleared.at(node) >= 0 || replacedTargets.at(stored) > keptSince(stored)
                target[child] = isGone ? TreeState.noTarget : stored
            }
        }
        trees[first].targets[index] = target
        if let places {
            let positions = places.positions(in: target, since: replacedTargets)
            let awaited = awaitedPlaces(link, .second, from: firstNoted)
            try resolveOrders(link, index: index, positions: positions, awaited, replacedTargets)
        }
        try noteStrays(link, replacedTargets)
    }

    // MARK: Order

    /// Of the rows whose lists name rows that are not stored, the place after the last of those.
    ///
    /// - Parameter firstNoted: Where those of this link begin, if that is known.
    func awaitedPlaces(_ link: Int, _ end: Link.End, from firstNoted: Int = 0) -> [Int32: Int64] {
        var places: [Int32: Int64] = [:]
        for (assertion, noted) in pending.noted[firstNoted...]
        where noted == link && assertion.saidBy == end && assertion.position >= 0 {
            let owner = end == .first ? assertion.first : assertion.second
            places[owner] = max(places[owner] ?? 0, Int64(assertion.position) + 1)
        }
        return places
    }

    /// Positions among the rows that point to the same target: the list's for those listed, after them, and after those
    /// that the list waits for, in their stored order or as they come for others.
    private mutating func resolveOrders(
        _ link: Int, index: Int, positions: [Int32], _ awaited: [Int32: Int64], _ replaced: Replaced
    ) throws {
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
                && trees[first].targets[index][$0] != TreeState.noTarget
        }
        // Rows that stay come first, in their order; a place among the rows of another target means nothing here.
        let staying = others.map { trees[first].targets[index][$0] == trees[first].storedTargets[index][$0] }
        let places = zip(others, staying).map { child, isStay in
            (order: isStay && stored[child] != TreeState.noOrder ? stored[child] : .max, child: child, isStay: isStay)
        }
        for (_, child, isStay) in places.sorted(by: { ($0.order, $0.child) < ($1.order, $1.child) }) {
            let target = trees[first].targets[index][child]
            if isStay, target == TreeState.otherTarget || stored[child] >= nextOrder[target] ?? TreeState.noOrder {
                orders[child] = stored[child]
                if let next = nextOrder[target] { nextOrder[target] = max(next, stored[child] + 1) }
            } else {
                let next = try nextOrder[target] ?? freePlace(link, .second, target)
                orders[child] = next
                nextOrder[target] = next + 1
            }
        }
        keepSameOrders(&orders, link, index: index, replaced, awaited)
        trees[first].orders[index] = orders
    }

    /// The place after all others in the list of a node.
    func freePlace(_ link: Int, _ end: Link.End, _ node: Int32) throws -> Int64 {
        let tree = model.links[link].side(end).tree
        guard node >= 0, trees[tree].presence[Int(node)] == .stored,
            let key = trees[tree].rowKey(Int(node), plan.rows[tree], pool)
        else { return 0 }
        return try freePlace(link, end, key)
    }

    func freePlace(_ link: Int, _ end: Link.End, _ row: RowKey) throws -> Int64 {
        guard let query = FreePlaceSQL.query(link, end, layout) else { return 0 }
        let statement = try statements.statement(query)
        statement.bind(row, at: 1)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : 0
    }

    // MARK: Differences

    /// Marks foreign keys and orders that differ from what is stored, and counts links.
    private mutating func markChangedTargets(_ tree: Int, _ link: Int, index: Int) throws {
        let attributes = model.trees[tree].attributes.count
        let foreignKeys = model.trees[tree].foreignKeys.count
        let hasOrder = columns[tree].orders[index] != nil
        for node in trees[tree].presence.indices where trees[tree].presence[node] != .missing {
            let stored =
                trees[tree].presence[node] == .stored ? trees[tree].storedTargets[index][node] : TreeState.noTarget
            let target = trees[tree].targets[index][node]
            if stored != target {
                if target != TreeState.noTarget { report.linksAdded += 1 }
                if stored != TreeState.noTarget { report.linksRemoved += 1 }
                try noteChangedTarget(of: node, tree, link, wasLinked: stored != TreeState.noTarget, target)
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
        guard stored != TreeState.noTarget else { return }
        let second = model.links[link].second.tree
        if isKeyless(trees[tree].entity(of: node)), let key = trees[tree].rowKey(node, plan.rows[tree], pool) {
            orphans.insert(StoredRow(tree: tree, key: key))
        }
        if stored >= 0, isKeyless(trees[second].entity(of: Int(stored))),
            let key = trees[second].rowKey(Int(stored), plan.rows[second], pool)
        {
            orphans.insert(StoredRow(tree: second, key: key))
        } else if stored == TreeState.otherTarget, columns[second].hasHiddenKey, !trees[tree].rawTargets.isEmpty {
            let index = model.trees[tree].foreignKeys.firstIndex(of: link) ?? 0
            guard !trees[tree].rawTargets[index].isEmpty else { return }
            orphans.insert(StoredRow(tree: second, key: .integer(trees[tree].rawTargets[index][node])))
        }
    }

    func isKeyless(_ entity: Int) -> Bool { model.entities[entity].keySlot == nil }

    // MARK: Strays

    /// Unmentioned rows that pointed to a target whose end was spoken for: to be unlinked or deleted. Rows that the
    /// service does not know yet stay where they are: its lists cannot have them.
    private mutating func noteStrays(_ link: Int, _ replaced: Replaced) throws {
        let first = model.links[link].first.tree
        for stray in trees[first].strayLinks where stray.link == link && replaced.at(stray.target) >= 0 {
            let row = StoredRow(tree: first, key: trees[first].strays[stray.stray].key)
            if replaced.deletes[Int(stray.target)], try isLocal(row) { continue }
            if replaced.deletes[Int(stray.target)] || isKeyless(trees[first].strays[stray.stray].entity) {
                try leaveOut(row, link, owner: stray.target)
            } else {
                unlinked[row, default: []].insert(link)
            }
        }
    }

    /// New rows known only by their owner, which a later statement took the owner from, are not stored.
    private mutating func dropUnownedRows() throws {
        var pairs: [Int32: Set<Int64>] = [:]
        var dropped: Set<ChangePlan.RowReference> = []
        for reference in plan.ownedRows where trees[reference.tree].presence[reference.node] == .new {
            let owner = plan.rows[reference.tree].owners[Int(plan.rows[reference.tree].nodes[reference.node].owner)]
            if model.links[Int(owner.link)].storage == .joinTable {
                if pairs[owner.link] == nil { pairs[owner.link] = heldPairs(Int(owner.link)) }
                let node = Int32(truncatingIfNeeded: reference.node)
                let pair = owner.end == .first ? (owner.node, node) : (node, owner.node)
                if isPresent(owner.node, Int(owner.tree)), pairs[owner.link]?.contains(code(pair)) == true { continue }
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
                    trees[tree.id].targets[index][node] = TreeState.noTarget
                }
            }
        }
    }

    /// The pairs of a join table that were said to be linked, and neither end of which was spoken for later.
    private func heldPairs(_ link: Int) -> Set<Int64> {
        let first = replaced(link, .first)
        let second = replaced(link, .second)
        var held: Set<Int64> = []
        for assertion in plan.links[link].assertions where standing(assertion) == .full {
            let sequence = Int64(assertion.sequence)
            guard sequence >= first.at(assertion.first), sequence >= second.at(assertion.second) else { continue }
            held.insert(code((assertion.first, assertion.second)))
        }
        return held
    }

    private func code(_ pair: (Int32, Int32)) -> Int64 { Int64(pair.0) << 32 | Int64(pair.1) }

    private func isOwned(_ reference: ChangePlan.RowReference, _ owner: RowBatch.Owner) -> Bool {
        let first = model.links[Int(owner.link)].first.tree
        guard let index = model.trees[first].foreignKeys.firstIndex(of: Int(owner.link)) else { return true }
        let child = owner.end == .first ? Int(owner.node) : reference.node
        let target = owner.end == .first ? Int32(truncatingIfNeeded: reference.node) : owner.node
        return trees[first].presence[child] != .missing && trees[first].targets[index][child] == target
            && isPresent(owner.node, Int(owner.tree))
    }
}
