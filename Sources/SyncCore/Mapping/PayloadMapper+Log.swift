extension PayloadMapper {
    /// Notes a row that the record being mapped gives; its values are in the scratch row.
    mutating func logGiven(_ table: TableID, _ node: NodeID, _ bytes: Bytes) {
        guard plan.log != nil else { return }
        plan.log?.nodes.append(.init(table: table, node: node, isGiven: true))
        if isContested(table, node, bytes) { plan.log?.contested.insert(.init(table: table, node: node)) }
    }

    /// Whether an earlier version of a row has other values than the scratch row. What one version has, later ones
    /// agree with, or the row is known to be contested: so they are asked only for what it lacks.
    private func isContested(_ table: TableID, _ node: NodeID, _ bytes: Bytes) -> Bool {
        let table = table.index
        let stride = plan.rows[table].stride
        var version = plan.rows[table].nodes[node.index].firstVersion
        var isCompared = false
        while version >= 0, !isCompared {
            isCompared = true
            for slot in 0..<stride where scratch[slot].kind != .absent {
                let value = plan.rows[table].slots[Int(version) * stride + slot]
                if value.kind == .absent { isCompared = false }
                if isContested(value, scratch[slot], bytes) { return true }
            }
            version = plan.rows[table].version(after: version)
        }
        return false
    }

    /// Notes a row that the record being mapped refers to by id.
    mutating func logReference(_ table: TableID, _ node: NodeID) {
        plan.log?.nodes.append(.init(table: table, node: node, isGiven: false))
    }

    /// Whether both are values, and not the same.
    func isContested(_ one: Slot, _ other: Slot, _ bytes: Bytes) -> Bool {
        plan.arena.withUnsafeBufferPointer { TextPool(payload: bytes, arena: $0).areContrary(one, other) }
    }

    /// Maps a root record and notes what it speaks of.
    mutating func mapLoggedRoot(
        _ tape: JSONTape, _ bytes: Bytes, _ range: Range<Int>, _ hasher: RecordHasher
    ) throws {
        let problems = plan.diagnostics.count + plan.omittedDiagnostics
        let readable = plan.readableRootRecords
        let firstNode = plan.log?.nodes.count ?? 0
        try mapRoot(tape, bytes)
        let isWhole =
            problems == plan.diagnostics.count + plan.omittedDiagnostics && plan.readableRootRecords == readable + 1
        let hash = hasher.hash(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[range])))
        let unmapped = unmappedPlace()
        plan.log?.records.append(
            .init(
                hash: hash, length: UInt32(truncatingIfNeeded: range.count), firstNode: firstNode,
                lastSequence: sequence, isWhole: isWhole && range.count <= Int(Int32.max), unmapped: unmapped))
    }

    /// Passes over a root record that is known.
    mutating func skipRoot() {
        plan.rootRecords += 1
        plan.readableRootRecords += 1
    }

    /// The place of what the record just mapped has that nothing takes.
    private mutating func unmappedPlace() -> Int {
        guard var log = plan.log.take() else { return 0 }
        defer { plan.log = log }
        let seen = Dictionary(log.unmappedEntries.map { ($0, 1) }, uniquingKeysWith: +)
        log.unmappedEntries.removeAll(keepingCapacity: true)
        let counts = seen.sorted { ($0.key.table, $0.key.entry) < ($1.key.table, $1.key.entry) }
            .flatMap { [$0.key.table, $0.key.entry, $0.value] }
        if let known = log.unmappedPlaces[counts] { return known }
        let keys = stride(from: 0, to: counts.count, by: 3).map { index in
            let table = keyTables.all[counts[index]]
            let key = table.path + [String(decoding: table.names[counts[index + 1]], as: UTF8.self)]
            return SyncResult.UnmappedKey(
                entity: model.entities[table.entity].name, key: key.joined(separator: "."), count: counts[index + 2])
        }
        log.unmapped.append(keys)
        log.unmappedPlaces[counts] = log.unmapped.count - 1
        return log.unmapped.count - 1
    }
}
