import GRDB
import SyncCore

// Records that the plan leaves out, because the store satisfies them already: what they speak of is mentioned, and counts
// as unchanged.
extension SyncTransaction {
    var leavesRecordsOut: Bool { (known?.records.usedCount ?? 0) > 0 }

    /// Makes sure that nothing was written that the records left out speak of, and takes fingerprints of the others.
    func settleFingerprints() throws {
        guard let known, plan.log != nil else { return }
        if leavesRecordsOut, diagnosesEntities {
            throw KnownPlaces.NeedsRecords(records: .all)
        }
        try known.settle(WrittenRows(db))
        var maker = FingerprintMaker(self, known.set.hasher)
        known.keep(maker.fingerprints { leavesRecordsOut && known.isRoot($0) })
    }

    /// Which of two entities a row is of depends on which record says it first.
    private var diagnosesEntities: Bool { report.diagnostics.contains { $0.kind == .entityMismatch } }

    /// Counts the rows of the records left out as unchanged, each once.
    func addKnownRecords(to result: inout SyncResult) throws {
        guard let known, leavesRecordsOut else { return }
        let places = WrittenPlaces(model)
        var counts = try known.rowCounts(model, isWhole: plan.log?.records.isEmpty ?? true)
        result.root.matched += known.records.usedCount
        for tree in model.trees {
            for node in trees[tree.id].presence.indices
            where trees[tree.id].presence[node] == .stored && trees[tree.id].values[node] >= 0 {
                guard let key = trees[tree.id].rowKey(node, plan.rows[tree.id], pool) else { continue }
                let hash = known.set.hasher.hash(key, at: places.row(tree.id))
                guard try known.gives(hash) else { continue }
                counts[trees[tree.id].entity(of: node)] -= 1
                if plan.rows[tree.id].nodes[node].isRoot, known.isRoot(hash) { result.root.matched -= 1 }
            }
        }
        for (entity, count) in counts.enumerated() where count > 0 {
            result.entities[model.entities[entity].name, default: .init()].unchangedCount += count
        }
        addUnmappedKeys(of: known, to: &result)
    }

    private func addUnmappedKeys(of known: KnownPlaces, to result: inout SyncResult) {
        var uses = known.set.unmapped.map { _ in 0 }
        for index in known.used { uses[Int(known.set.fingerprints[index].unmapped)] += Int(known.records.uses[index]) }
        result.addUnmappedKeys(
            zip(known.set.unmapped, uses).lazy.filter { $1 > 0 }.flatMap { keys, uses in
                keys.map { .init(entity: $0.entity, key: $0.key, count: $0.count * uses) }
            })
    }
}
