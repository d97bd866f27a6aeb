// Where contradictions stand: of a payload that is mapped again because it has some.
extension PayloadMapper {
    /// Notes where a record stands, and what it says otherwise than earlier ones of its row.
    mutating func noteWatched(_ row: ChangePlan.RowReference, _ entity: CompiledEntity, _ bytes: Bytes) -> Int32 {
        guard watch?.rows.contains(row) == true else { return -1 }
        let table = plan.rows[row.table.index]
        let attributes = model[row.table].attributes
        let key = table.nodes[row.node.index].key
        let values = scratch.first(table.stride)
        let path = path.text(bytes, keyTables.all)
        plan.arena.withUnsafeBufferPointer { arena in
            let pool = TextPool(payload: bytes, arena: arena)
            let name = RowKey(key, pool)?.recordKey(model.keyType(of: entity.id)).description
            watch?.add(
                path, entity: entity.name, key: name, of: row,
                values: values.indices.lazy.filter { values[$0].kind != .absent }.map { slot in
                    let attribute = attributes[slot]
                    let value = StoredValue(values[slot], as: attribute.type, pool)?.jsonForm ?? .null
                    return (name: attribute.name, value: String(decoding: JSONText.bytes(of: value), as: UTF8.self))
                })
        }
        return watch?.lastRecord ?? -1
    }

    /// Notes that a record says other targets of a link than an earlier one.
    mutating func noteContradiction(
        _ said: RepeatedRecords.LinkStatement, _ earlier: Int32, _ targets: [NodeID], _ earlierTargets: [NodeID]
    ) {
        let table = model[said.side.link].side(said.side.end.other).table
        let isToMany = model[said.side.link].side(said.side.end).isToMany
        func text(_ node: NodeID) -> String {
            let known = plan.rows[table.index].nodes[node.index]
            return plan.withTexts { RowKey(known.key, $0)?.recordKey(model.keyType(of: Int(known.entity))).description }
                ?? "a row without a key"
        }
        func text(_ nodes: [NodeID]) -> String {
            isToMany ? "[\(ShortList(nodes.map(text)).text)]" : nodes.first.map(text) ?? "null"
        }
        watch?.add(
            .init(
                record: said.record, earlier: earlier, name: model.entities[said.entity].relationships[said.index].name,
                value: text(targets), earlierValue: text(earlierTargets)))
    }
}

extension ChangePlan {
    /// Adds what is found of contradictions to what is reported.
    mutating func add(_ found: [Contradiction], revealing: Bool) {
        let room = max(0, SyncResult.diagnosticLimit - diagnostics.count)
        diagnostics += found.prefix(room).map { $0.diagnostic(revealing: revealing) }
        omittedDiagnostics += max(0, found.count - room)
    }
}
