// Records that are the same row: they are merged, and counted where they say different things.
extension PayloadMapper {
    /// Marks the row of a root record, and counts the record if an earlier one gave that row.
    mutating func markRoot(_ root: Mapped) {
        let table = root.table.index
        if plan.rows[table].nodes[root.node.index].isRoot { plan.repeatedRecords += 1 }
        plan.rows[table].markRoot(root.node)
    }

    /// Compares the record in the scratch row with what earlier ones say of its row.
    ///
    /// - Returns: Its number among the records that are looked at here; -1 if it is not to be looked at.
    @inline(never)
    mutating func noteRecord(of row: ChangePlan.RowReference, _ entity: CompiledEntity, _ bytes: Bytes) -> Int32 {
        guard watch == nil else { return noteWatched(row, entity, bytes) }
        repeats.count += 1
        let table = row.table.index
        let stride = plan.rows[table].stride
        let values = scratch.first(stride)
        let start = Int(plan.rows[table].nodes[row.node.index].firstVersion) * stride
        let contested = repeats.contestedSlots.isEmpty ? nil : repeats.contestedSlots[row]
        var found: [Int] = []
        plan.arena.withUnsafeBufferPointer { arena in
            let pool = TextPool(payload: bytes, arena: arena)
            if tracksMentions {
                repeats.adding(values, to: row, startingAs: plan.rows[table].slots[start..<start + stride]) {
                    found = pool.contrarySlots(values, $0, contested)
                }
            } else {
                plan.rows[table].slots.withUnsafeBufferPointer {
                    let earlier = UnsafeBufferPointer(rebasing: $0[start..<start + stride])
                    found = pool.contrarySlots(values, earlier, contested)
                }
            }
        }
        guard !found.isEmpty else { return repeats.count }
        repeats.contestedSlots[row, default: []].formUnion(found)
        noteContradiction(of: row, by: repeats.count)
        return repeats.count
    }

    /// - Parameter record: Nil for the row's first, which may go on after a record of the row that is nested in it.
    private mutating func noteContradiction(of row: ChangePlan.RowReference, by record: Int32?) {
        if let record { repeats.contradicting.insert(record) } else { repeats.contradictingFirst.insert(row) }
        if plan.contestedRows.count < RepeatedRecords.rowLimit { plan.contestedRows.insert(row) }
    }

    // MARK: Links

    /// What is told of the links of a row.
    private struct Told {
        let node: NodeID
        let sequence: UInt32
        /// All it is told to be linked to, in the order of the nodes.
        var targets: [NodeID]
    }

    /// Compares what records of the same row say of its links, once all of it is known.
    mutating func settleRepeats() {
        for (side, links) in Dictionary(grouping: repeats.links, by: \.side) {
            let end = model[side.link].side(side.end)
            let rows = end.isToMany ? contestedLists(side.link, side.end) : contestedStatements(side.link, side.end)
            for row in rows { compare(row, links, end.table) }
        }
        if let watch { plan.foundContradictions = watch.contradictions }
        plan.contradictions = repeats.contradicting.count + repeats.contradictingFirst.count
    }

    /// The statements about each row of which records say different things, in their order.
    private func contestedStatements(_ link: LinkID, _ end: Link.End) -> [[Told]] {
        let batch = plan.links[link.index]
        let table = model[link].side(end).table
        // Most are said once, or agree: these are found without keeping any.
        var targets = [Int](repeating: -2, count: plan.rows[table.index].nodes.count)
        var contested: [NodeID: [Told]] = [:]
        Self.statements(of: batch, end) { node, _, target in
            let target = target?.index ?? -1
            let known = targets[node.index]
            if known == -2 { targets[node.index] = target } else if known != target { contested[node] = [] }
        }
        guard !contested.isEmpty else { return [] }
        Self.statements(of: batch, end) { node, sequence, target in
            contested[node]?.append(Told(node: node, sequence: sequence, targets: target.map { [$0] } ?? []))
        }
        return contested.values.map { $0.sorted { $0.sequence < $1.sequence } }
    }

    private static func statements(
        of batch: LinkBatch, _ end: Link.End, _ body: (_ node: NodeID, _ sequence: UInt32, _ target: NodeID?) -> Void
    ) {
        for link in batch.assertions where link.saidBy == end && link.position < 0 {
            let (node, target) = end == .first ? (link.first, link.second) : (link.second, link.first)
            body(node, link.sequence, target)
        }
        for none in batch.replacements where none.end == end { body(none.node, none.sequence, nil) }
    }

    /// The whole lists of each row that records give several of, in their order. One that is not whole only adds to what
    /// others say.
    private func contestedLists(_ link: LinkID, _ end: Link.End) -> [[Told]] {
        let batch = plan.links[link.index]
        var isListed = [Bool](repeating: false, count: plan.rows[model[link].side(end).table.index].nodes.count)
        var lists: [NodeID: [UInt32: [NodeID]]] = [:]
        for list in batch.replacements where list.end == end {
            if isListed[list.node.index] { lists[list.node] = [:] }
            isListed[list.node.index] = true
        }
        guard !lists.isEmpty else { return [] }
        for list in batch.replacements where list.end == end { lists[list.node]?[list.sequence] = [] }
        for link in batch.assertions where link.saidBy == end {
            let (node, target) = end == .first ? (link.first, link.second) : (link.second, link.first)
            lists[node]?[link.sequence]?.append(target)
        }
        return lists.map { node, lists in
            lists.map { Told(node: node, sequence: $0, targets: Set($1).sorted { $0.index < $1.index }) }
                .sorted { $0.sequence < $1.sequence }
        }
    }

    private mutating func compare(_ row: [Told], _ links: [RepeatedRecords.LinkStatement], _ table: TableID) {
        for (place, told) in row.enumerated() {
            guard let earlier = row[..<place].last(where: { $0.targets != told.targets }) else { continue }
            let said = Self.statement(told.sequence, links)
            if watch != nil {
                if let said, let before = Self.statement(earlier.sequence, links) {
                    noteContradiction(said, before.record, told.targets, earlier.targets)
                }
            } else {
                noteContradiction(of: .init(table: table, node: told.node), by: said?.record)
            }
        }
    }

    private static func statement(
        _ sequence: UInt32, _ links: [RepeatedRecords.LinkStatement]
    ) -> RepeatedRecords.LinkStatement? {
        var range = links.indices
        while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
            if links[middle].sequence == sequence { return links[middle] }
            range = links[middle].sequence < sequence ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }
}
