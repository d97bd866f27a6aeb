import Foundation
import GRDB
import SyncCore

// Which records count: what the operations allow, and what a new row must have.
extension SyncTransaction {
    mutating func decideWhichRecordsCount() throws {
        if plan.mentions.isEmpty {
            for tree in trees.indices { admitNewRows(tree) { _ in true } }
        } else {
            try decideMentions()
        }
        try giveKeysToOwnedRows()
    }

    /// Whether a record's statements count.
    func isActive(_ mention: Int32) -> Bool { records.counts(mention) }

    /// What is nested in a refused record does not count either, so this is repeated until no more are refused.
    private mutating func decideMentions() throws {
        while true {
            let refused = trees.map(\.refused.count)
            try weighMentions()
            for tree in trees.indices {
                mergeVersions(tree)
                let values = trees[tree].values
                admitNewRows(tree) { values[$0] >= 0 }
            }
            if refused == trees.map(\.refused.count) { break }
        }
        try compareRows()
    }

    /// A record counts if the record around it does and it may be inserted or updated, whichever it needs. One that may
    /// only be updated counts for a row that another record inserts too: the next time that row is stored.
    private mutating func weighMentions() throws {
        let someOnlyUpdate = plan.mentions.contains { $0.permission == .update }
        var inserted: Set<ChangePlan.RowReference> = []
        var insertedBefore: Int
        repeat {
            insertedBefore = inserted.count
            records.counts = Array(repeating: false, count: plan.mentions.count)
            for (index, mention) in plan.mentions.enumerated() {
                let tree = Int(mention.tree)
                guard mention.parent < 0 || records.counts[Int(mention.parent)],
                    !trees[tree].refused.contains(mention.node)
                else { continue }
                if mention.node < 0 {
                    records.counts[index] = !mention.permission.isEmpty
                    continue
                }
                let isStored = trees[tree].presence[Int(mention.node)] == .stored
                if isStored, try isInsertedBefore(mention.node, tree) {
                    records.counts[index] = !mention.permission.isEmpty
                    continue
                }
                records.counts[index] = mention.permission.contains(isStored ? .update : .insert)
                guard someOnlyUpdate, !isStored else { continue }
                let row = ChangePlan.RowReference(tree: tree, node: Int(mention.node))
                if records.counts[index] { inserted.insert(row) }
                if mention.permission == .update { records.counts[index] = inserted.contains(row) }
            }
        } while inserted.count > insertedBefore
    }

    /// Whether an earlier page of the run inserted a row, which is as new as if one payload had it.
    private func isInsertedBefore(_ node: Int32, _ tree: Int) throws -> Bool {
        guard run != nil, let key = trees[tree].rowKey(Int(node), plan.rows[tree], pool) else { return false }
        return try marks(of: StoredRow(tree: tree, key: key)).contains(.inserted)
    }

    /// The values of the versions that count, later ones over earlier ones.
    private mutating func mergeVersions(_ tree: Int) {
        let batch = plan.rows[tree]
        trees[tree].merged.removeAll()
        for node in batch.nodes.indices {
            var values: Int32 = -1
            var version = batch.nodes[node].firstVersion
            while version >= 0 {
                defer { version = batch.version(after: version) }
                guard isActive(batch.mention(ofVersion: version)) else { continue }
                values = values < 0 ? version : merge(version, over: values, tree)
            }
            trees[tree].values[node] = values
        }
    }

    private mutating func merge(_ version: Int32, over earlier: Int32, _ tree: Int) -> Int32 {
        let batch = plan.rows[tree]
        let stride = batch.stride
        func slots(_ place: Int32) -> ArraySlice<Slot> {
            let index = Int(place)
            return index < batch.versionCount
                ? batch.slots[index * stride..<(index + 1) * stride]
                : trees[tree].merged[
                    (index - batch.versionCount) * stride..<(index - batch.versionCount + 1) * stride]
        }
        let merged = zip(slots(earlier), slots(version)).map { $1.kind == .absent ? $0 : $1 }
        let place = batch.versionCount + trees[tree].merged.count / max(stride, 1)
        trees[tree].merged += merged
        return Int32(truncatingIfNeeded: place)
    }

    // MARK: New rows

    private mutating func admitNewRows(_ tree: Int, where mayInsert: (Int) -> Bool) {
        let batch = plan.rows[tree]
        for node in batch.nodes.indices where trees[tree].presence[node] != .stored {
            trees[tree].presence[node] = .missing
            let id = Int32(truncatingIfNeeded: node)
            guard batch.nodes[node].firstVersion >= 0, mayInsert(node), !trees[tree].refused.contains(id) else {
                continue
            }
            if !admitsIncomplete, let problem = problem(withNew: node, tree) {
                trees[tree].refused.insert(id)
                trees[tree].values[node] = -1
                report.add(
                    problem.kind, Int(batch.nodes[node].entity), key: RowKey(batch.nodes[node].key, pool),
                    path: path(of: node, tree), problem.message)
            } else {
                trees[tree].presence[node] = .new
            }
        }
    }

    /// Where the payload first gives a row.
    func path(of node: Int, _ tree: Int) -> String {
        let version = plan.rows[tree].nodes[node].firstVersion
        return version < 0 ? "" : plan.path(of: Int(plan.rows[tree].mention(ofVersion: version)), pool)
    }

    private func problem(withNew node: Int, _ tree: Int) -> (kind: Diagnostic.Kind, message: String)? {
        let batch = plan.rows[tree]
        let entity = model.entities[Int(batch.nodes[node].entity)]
        if entity.isAbstract {
            return (.entityMismatch, "\(entity.name) is abstract, so a new row of it cannot be stored")
        }
        if batch.nodes[node].owner >= 0, let slot = entity.keySlot {
            let type = model.trees[tree].attributes[slot].type
            if ![.integer, .string, .uuid].contains(type) {
                return (.keyCannotBeMade, "a new \(entity.name) needs its key: one of type \(type) cannot be made here")
            }
        }
        for slot in entity.slots where slot != entity.keySlot {
            if lacksValue(slot, of: node, tree) {
                let name = model.trees[tree].attributes[slot].name
                return (
                    .requiredValueMissing, "a new \(entity.name) needs a value for \(name); the record is refused"
                )
            }
        }
        return nil
    }

    /// Whether a row that is new has no value for an attribute that must have one.
    func lacksValue(_ slot: Int, of node: Int, _ tree: Int) -> Bool {
        let attribute = model.trees[tree].attributes[slot]
        guard !attribute.isOptional, attribute.defaultValue == nil else { return false }
        return [.absent, .null].contains(staged(slot, of: node, tree).kind)
    }

    /// Hidden keys for new rows of hidden-key tables, local keys for new rows that have no key of their own.
    private mutating func giveKeysToOwnedRows() throws {
        for tree in model.trees where !trees[tree.id].isEmpty {
            var next: Int64?
            for node in plan.rows[tree.id].nodes.indices where trees[tree.id].presence[node] == .new {
                guard columns[tree.id].hasHiddenKey || plan.rows[tree.id].nodes[node].owner >= 0 else { continue }
                let key = try newRowKey(tree.id, Int(plan.rows[tree.id].nodes[node].entity), next: &next)
                trees[tree.id].setOwnedKey(key, of: node, isHidden: columns[tree.id].hasHiddenKey)
            }
        }
    }

    private func newRowKey(_ tree: Int, _ entity: Int, next: inout Int64?) throws -> RowKey {
        let table = columns[tree]
        let type = model.entities[entity].keySlot.map { model.trees[tree].attributes[$0].type }
        if !table.hasHiddenKey, type == .string { return .text(LocalKey.text()) }
        if !table.hasHiddenKey, type == .uuid { return .text(UUID().uuidString) }
        let condition = table.hasHiddenKey ? "" : " WHERE \(table.keyColumn) < \(LocalKey.integerBound)"
        let value =
            try next
            ?? Int64.fetchOne(db, sql: "SELECT max(\(table.keyColumn)) + 1 FROM \(table.table)\(condition)")
            ?? (table.hasHiddenKey ? 1 : Int64.min + 1)
        next = value + 1
        return .integer(value)
    }
}
