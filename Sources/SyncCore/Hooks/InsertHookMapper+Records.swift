extension InsertHookMapper {
    /// A row that is new, and the records of the payload that give it, in document order.
    private struct NewRow {
        var row: PayloadGraph.RowReference
        var mentions: [Int]
    }

    /// The plan with what the hook made of the new rows it had not seen; nil if it has seen all.
    ///
    /// - Parameter new: The mentions whose records become new rows, in document order.
    /// - Throws: What the hook throws; ``SyncError`` `recordExpected` or `invalidOption` for an answer that is no
    ///   record or has another key; what mapping throws.
    package mutating func next(after plan: PayloadGraph, newOccurrences new: [Int]) throws -> PayloadGraph? {
        let open = rows(new, plan).filter { row in !row.mentions.contains { settled.contains(plan.recordPaths[$0]) } }
        guard !open.isEmpty else { return nil }
        let waiting = Set(open.map(\.row))
        let ready = open.filter { row in !row.mentions.contains { isInside(waiting, $0, plan) } }
        // Rows nested in each other wait for each other: the first is taken.
        for row in ready.isEmpty ? [open[0]] : ready { try rewrite(row, plan) }
        var next = try map(records)
        // Answers of a hook may hold one another: what is counted is what came.
        (next.repeatedRecords, next.contradictions) = (plan.repeatedRecords, plan.contradictions)
        return next
    }

    private func rows(_ new: [Int], _ plan: PayloadGraph) -> [NewRow] {
        var rows: [NewRow] = []
        var places: [PayloadGraph.RowReference: Int] = [:]
        for mention in new {
            guard let row = plan.row(of: mention) else { continue }
            if let place = places[row] {
                rows[place].mentions.append(mention)
            } else {
                places[row] = rows.count
                rows.append(NewRow(row: row, mentions: [mention]))
            }
        }
        return rows
    }

    private func isInside(_ rows: Set<PayloadGraph.RowReference>, _ mention: Int, _ plan: PayloadGraph) -> Bool {
        var around = plan.mentions[mention].parent
        while around >= 0 {
            if let row = plan.row(of: Int(around)), rows.contains(row) { return true }
            around = plan.mentions[Int(around)].parent
        }
        return false
    }

    // MARK: One row

    /// Puts the hook's answer in the place of the last record of the row. What it left out is taken out of the others.
    private mutating func rewrite(_ row: NewRow, _ plan: PayloadGraph) throws {
        let paths = row.mentions.map { plan.recordPaths[$0] }
        let found = paths.map { $0.value(in: records) ?? .object([]) }
        let record = JSONValue.object(found.reduce(into: []) { Self.merge($1, into: &$0) })
        let entity = plan.model.entities[Int(plan[row.row.table].nodes[row.row.node.index].entity)]
        let insertion = SyncOptions.Insertion(
            entity: entity.name, record: record, parent: row.mentions.first.flatMap { plan.parent(of: $0) })
        let answer = try hook(insertion)
        guard let last = paths.last, case .object(let members) = answer else {
            throw SyncError(.recordExpected, "the hook must give a record (JSON object)", entity: entity.name)
        }
        try checkKey(answer, for: record, of: row.row, entity, plan)
        for path in paths.dropLast() {
            guard case .object(let before)? = path.value(in: records) else { continue }
            let kept = before.filter { member in members.contains { $0.key.utf8.elementsEqual(member.key.utf8) } }
            path.replace(in: &records, with: .object(kept))
        }
        last.replace(in: &records, with: answer)
        settled.insert(last)
    }

    private static func merge(_ record: JSONValue, into members: inout [JSONValue.Member]) {
        guard case .object(let later) = record else { return }
        for member in later {
            members.removeAll { $0.key.utf8.elementsEqual(member.key.utf8) }
            members.append(member)
        }
    }

    /// The key may stand elsewhere, in the name of the record: then it may go on saying nothing of it.
    private func checkKey(
        _ answer: JSONValue, for record: JSONValue, of row: PayloadGraph.RowReference, _ entity: CompiledEntity,
        _ plan: PayloadGraph
    ) throws {
        guard let slot = entity.keySlot else { return try checkPartedKey(answer, of: row, entity, plan) }
        let attribute = plan.model[entity.table].attributes[slot]
        let before = plan.withTexts { StoredValue(plan[row.table].nodes[row.node.index].key, as: attribute.type, $0) }
        let after = try AttributeMapper(answer, of: entity, in: model).values[attribute.name] ?? .null
        if before ?? .null == after { return }
        let said = try AttributeMapper(record, of: entity, in: model).values[attribute.name] ?? .null
        guard said == after else {
            throw SyncError(
                .invalidOption, "the hook must not change the key '\(attribute.name)' of a record", entity: entity.name)
        }
    }
}

extension InsertHookMapper {
    /// A record in a list need not name its owner, though that is a part of its key.
    private func checkPartedKey(
        _ answer: JSONValue, of row: PayloadGraph.RowReference, _ entity: CompiledEntity, _ plan: PayloadGraph
    ) throws {
        guard entity.isKeyed, let before = plan.withTexts({ RowKey(plan[row.table].nodes[row.node.index].key, $0) }),
            plan.model.key(of: entity, in: answer, else: before) != before
        else { return }
        throw SyncError(.invalidOption, "the hook must not change the key of a record", entity: entity.name)
    }
}

extension PayloadGraph {
    /// The row that a record gives; nil if it is skipped.
    fileprivate func row(of mention: Int) -> RowReference? {
        mentions[mention].node.map { RowReference(table: mentions[mention].table, node: $0) }
    }

    /// The row of the record around a record, or the parent of the sync.
    fileprivate func parent(of mention: Int) -> SyncOptions.Insertion.Parent? {
        var around = Int(mentions[mention].parent)
        // A record that is skipped is no row.
        while around >= 0, mentions[around].node == nil { around = Int(mentions[around].parent) }
        guard let row = around >= 0 ? row(of: around) : parent.map({ RowReference(table: $0.table, node: $0.node) })
        else {
            return nil
        }
        let node = self[row.table].nodes[row.node.index]
        let entity = model.entities[Int(node.entity)]
        let type = model.keyType(of: entity.id)
        let key = withTexts { RowKey(node.key, $0)?.recordKey(type) }
        return SyncOptions.Insertion.Parent(entity: entity.name, key: key)
    }
}
