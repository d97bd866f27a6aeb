extension InsertHookMapper {
    /// A new row, and the occurrences of its records, in document order.
    private struct NewRow {
        var row: PayloadGraph.RowReference
        var occurrences: [Int]
    }

    /// Calls the hook for the outermost new rows that the hook has not received yet, and maps the payload again with
    /// the returned records.
    ///
    /// - Parameter new: The occurrences of the records of new rows, in document order.
    /// - Returns: The new payload graph; nil if the hook has already received every new row.
    /// - Throws: The errors of the hook and of the mapping. ``SyncError`` `recordExpected` if the hook returns a value
    ///   that is not an object, `invalidOption` if the hook changes the key.
    package mutating func next(after graph: PayloadGraph, newOccurrences new: [Int]) throws -> PayloadGraph? {
        let open = rows(new, graph).filter { row in
            !row.occurrences.contains { answeredPaths.contains(graph.recordPaths[$0]) }
        }
        guard !open.isEmpty else { return nil }
        let pending = Set(open.map(\.row))
        let ready = open.filter { row in !row.occurrences.contains { isInside(pending, $0, graph) } }
        // If new rows are nested in each other in a cycle, none of them is outermost, so take the first.
        for row in ready.isEmpty ? [open[0]] : ready { try rewrite(row, graph) }
        var next = try map(records)
        // A returned record may repeat nested records, so keep the counts of the original payload.
        (next.duplicateRecordCount, next.inconsistentRecordCount) = (
            graph.duplicateRecordCount, graph.inconsistentRecordCount
        )
        return next
    }

    private func rows(_ new: [Int], _ graph: PayloadGraph) -> [NewRow] {
        var rows: [NewRow] = []
        var indexes: [PayloadGraph.RowReference: Int] = [:]
        for occurrence in new {
            guard let row = graph.row(of: occurrence) else { continue }
            if let index = indexes[row] {
                rows[index].occurrences.append(occurrence)
            } else {
                indexes[row] = rows.count
                rows.append(NewRow(row: row, occurrences: [occurrence]))
            }
        }
        return rows
    }

    private func isInside(_ rows: Set<PayloadGraph.RowReference>, _ occurrence: Int, _ graph: PayloadGraph) -> Bool {
        var around = graph.occurrences[occurrence].parent
        while around >= 0 {
            if let row = graph.row(of: Int(around)), rows.contains(row) { return true }
            around = graph.occurrences[Int(around)].parent
        }
        return false
    }

    // MARK: One row

    /// Calls the hook for a row. The returned record replaces the last record of the row. Members that it lacks are
    /// removed from the other records of the row.
    private mutating func rewrite(_ row: NewRow, _ graph: PayloadGraph) throws {
        let paths = row.occurrences.map { graph.recordPaths[$0] }
        let found = paths.map { $0.value(in: records) ?? .object([]) }
        let record = JSONValue.object(found.reduce(into: []) { Self.merge($1, into: &$0) })
        let entity = graph.model.entities[Int(graph[row.row.table].nodes[row.row.node.index].entity)]
        let insertion = SyncOptions.Insertion(
            entity: entity.name, record: record, parent: row.occurrences.first.flatMap { graph.parent(of: $0) })
        let answer = try hook(insertion)
        guard let last = paths.last, case .object(let members) = answer else {
            throw SyncError(
                .recordExpected, "expected a record (JSON object) from the insert hook", entity: entity.name)
        }
        try checkKey(answer, for: record, of: row.row, entity, graph)
        for path in paths.dropLast() {
            guard case .object(let before)? = path.value(in: records) else { continue }
            let kept = before.filter { member in members.contains { $0.key.utf8.elementsEqual(member.key.utf8) } }
            path.replace(in: &records, with: .object(kept))
        }
        last.replace(in: &records, with: answer)
        answeredPaths.insert(last)
    }

    private static func merge(_ record: JSONValue, into members: inout [JSONValue.Member]) {
        guard case .object(let later) = record else { return }
        for member in later {
            members.removeAll { $0.key.utf8.elementsEqual(member.key.utf8) }
            members.append(member)
        }
    }

    /// Checks that the hook did not change the key. If the key is the object key of the record, both records may lack
    /// it, so it is enough that they agree.
    private func checkKey(
        _ answer: JSONValue, for record: JSONValue, of row: PayloadGraph.RowReference, _ entity: CompiledEntity,
        _ graph: PayloadGraph
    ) throws {
        guard let slot = entity.keySlot else {
            return try checkCompositeKey(answer, for: record, of: row, entity, graph)
        }
        let attribute = graph.model[entity.table].attributes[slot]
        let before = graph.withTexts { StoredValue(graph[row.table].nodes[row.node.index].key, as: attribute.type, $0) }
        let after = try AttributeMapper(answer, of: entity, in: model).values[attribute.name] ?? .null
        if before ?? .null == after { return }
        let given = try AttributeMapper(record, of: entity, in: model).values[attribute.name] ?? .null
        guard given == after else {
            throw SyncError(
                .invalidOption, "the insert hook must not change the key '\(attribute.name)' of a record",
                entity: entity.name)
        }
    }
}

extension InsertHookMapper {
    /// Checks that the hook did not change a composite key. In a list of its owner, a record may omit the owner, or
    /// name another one, so it is enough that both records agree.
    private func checkCompositeKey(
        _ answer: JSONValue, for record: JSONValue, of row: PayloadGraph.RowReference, _ entity: CompiledEntity,
        _ graph: PayloadGraph
    ) throws {
        guard entity.isKeyed, let before = graph.withTexts({ RowKey(graph[row.table].nodes[row.node.index].key, $0) })
        else { return }
        let after = graph.model.key(of: entity, in: answer, else: before)
        if after == before || after == graph.model.key(of: entity, in: record, else: before) { return }
        throw SyncError(.invalidOption, "the insert hook must not change the key of a record", entity: entity.name)
    }
}

extension PayloadGraph {
    /// Returns the row of an occurrence; nil if the record is skipped.
    fileprivate func row(of occurrence: Int) -> RowReference? {
        occurrences[occurrence].node.map { RowReference(table: occurrences[occurrence].table, node: $0) }
    }

    /// Returns the row of the enclosing record, or else the parent of the sync; nil if there is neither.
    fileprivate func parent(of occurrence: Int) -> SyncParent? {
        var around = Int(occurrences[occurrence].parent)
        // A skipped record has no row.
        while around >= 0, occurrences[around].node == nil { around = Int(occurrences[around].parent) }
        guard let row = around >= 0 ? row(of: around) : parent.map({ RowReference(table: $0.table, node: $0.node) })
        else {
            return nil
        }
        let node = self[row.table].nodes[row.node.index]
        let entity = model.entities[Int(node.entity)]
        let type = model.keyType(of: entity.id)
        let key = withTexts { RowKey(node.key, $0)?.recordKey(type) }
        return SyncParent(entity.name, id: key?.json ?? .null)
    }
}
