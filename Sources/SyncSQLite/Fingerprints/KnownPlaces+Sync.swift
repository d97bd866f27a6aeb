import SyncCore
import SyncStore

// What a sync asks of the records that its plan leaves out: what they speak of is mentioned, and counts as unchanged.
extension KnownPlaces: KnownRows {
    var leavesRecordsOut: Bool { records.usedCount > 0 }

    /// Makes sure that nothing was written that the records left out speak of, and takes fingerprints of the others.
    func settle(_ sync: SyncTransaction) throws {
        guard sync.plan.log != nil else { return }
        // Which of two entities a row is of depends on which record says it first.
        if leavesRecordsOut, sync.report.diagnostics.contains(where: { $0.kind == .entityMismatch }) {
            throw NeedsRecords(records: .all)
        }
        try settleWritten()
        var maker = FingerprintMaker(sync, set.hasher)
        keep(maker.fingerprints { leavesRecordsOut && isRoot($0) })
    }

    func addRecords(to result: inout SyncResult, _ sync: SyncTransaction) throws {
        guard leavesRecordsOut else { return }
        let model = sync.model
        let places = WrittenPlaces(model)
        var counts = try rowCounts(model, isWhole: sync.plan.log?.records.isEmpty ?? true)
        result.root.matched += records.usedCount
        result.repeatedRecords += used.reduce(0) { $0 + Int(records.uses[$1]) - 1 }
        for table in sync.tables {
            for node in table.nodes(.stored) where table.values.count(for: node) {
                guard let key = table.rowKey(node) else { continue }
                let hash = set.hasher.hash(key, at: places.row(table.id))
                guard try gives(hash) else { continue }
                counts[table.entity(of: node)] -= 1
                guard table.batch.nodes[node.index].isRoot, isRoot(hash) else { continue }
                result.root.matched -= 1
                result.repeatedRecords += 1
            }
        }
        for (entity, count) in counts.enumerated() where count > 0 {
            result.entities[model.entities[entity].name, default: .init()].unchangedCount += count
        }
        addUnmappedKeys(to: &result)
    }

    private func addUnmappedKeys(to result: inout SyncResult) {
        var uses = set.unmapped.map { _ in 0 }
        for index in used { uses[Int(set.fingerprints[index].unmapped)] += Int(records.uses[index]) }
        result.addUnmappedKeys(
            zip(set.unmapped, uses).lazy.filter { $1 > 0 }.flatMap { keys, uses in
                keys.map { .init(entity: $0.entity, key: $0.key, count: $0.count * uses) }
            })
    }
}
