import GRDB
import SyncCore

// A store may remember more references than it has rows, so a small payload asks only for those of its own rows; and for
// those whose rows came by other means than a sync, if there were any since the last look.
extension SyncTransaction {
    typealias Remembered = (reference: PendingReferences.Reference, position: Int64)

    /// What is remembered of the owners and targets that this payload reaches, by owner and position.
    mutating func rememberedReferences() throws -> [Remembered] {
        guard pending.hasStored else { return [] }
        let touched = model.trees.map(\.id).filter { !trees[$0].isEmpty }
        let limit = touched.reduce(0) { $0 + trees[$1].presence.count } * 6
        let stored =
            try Int.fetchOne(db, sql: "SELECT count(*) FROM (SELECT 1 FROM sync_pending LIMIT \(limit + 1))") ?? 0
        if stored <= limit {
            let isTouched = model.trees.map { !trees[$0.id].isEmpty }
            return try references("").filter { reference, _ in
                isTouched[reference.owner.tree] || isTouched[model.entities[reference.targetEntity].tree]
            }
        }
        var found = try referencesOfNodes(touched)
        let unsettled = touched.filter { !pending.settled.contains($0) }
        let arrived = try unsettled.isEmpty ? [] : arrivedReferences(unsettled)
        if arrived.isEmpty { pending.settled.formUnion(unsettled) }
        found += arrived
        return ordered(found)
    }

    private func names(of trees: [Int]) -> String {
        trees.flatMap { model.trees[$0].entities }.map { model.entities[$0].name.literal }.joined(separator: ", ")
    }

    // MARK: Looking up

    /// The references that rows of the payload have, and those to them.
    private func referencesOfNodes(_ touched: [Int]) throws -> [Remembered] {
        var found: [Remembered] = []
        for tree in touched {
            let entities = names(of: [tree])
            let owned = "WHERE owner_entity IN (\(entities)) AND owner_key = ?"
            let awaited = "WHERE target_entity IN (\(entities)) AND target_key = ?"
            for node in plan.rows[tree].nodes.indices {
                try checkCancelled(node)
                let row = trees[tree].rowKey(node, plan.rows[tree], pool)
                if let row { found += try references(owned, row) }
                let key = RowKey(plan.rows[tree].nodes[node].key, pool) ?? (columns[tree].hasHiddenKey ? nil : row)
                if let key { found += try references(awaited, key) }
            }
        }
        return found
    }

    private func checkCancelled(_ node: Int) throws {
        if node & 1023 == 1023 { try Task.checkCancellation() }
    }

    /// The references of or to rows of these trees whose targets are stored by now.
    private func arrivedReferences(_ trees: [Int]) throws -> [Remembered] {
        let owners = names(of: trees)
        return try model.entities.flatMap { entity -> [Remembered] in
            guard entity.keySlot != nil else { return [] }
            let among = trees.contains(entity.tree) ? "" : " AND owner_entity IN (\(owners))"
            let target = columns[entity.tree].table + keyCondition(entity, equals: "reference.target_key")
            return try references(
                "AS reference WHERE target_entity = \(entity.name.literal)\(among) AND EXISTS (SELECT 1 FROM \(target))"
            )
        }
    }

    /// Each once, by owner and position.
    private func ordered(_ references: [Remembered]) -> [Remembered] {
        guard references.count > 1 else { return references }
        var seen: Set<PendingReferences.Reference> = []
        return references.filter { seen.insert($0.reference).inserted }.sorted { left, right in
            let (l, r) = (left.reference, right.reference)
            let owners = (model.entities[l.ownerEntity].name, model.entities[r.ownerEntity].name)
            if owners.0 != owners.1 { return owners.0 < owners.1 }
            let keys = (l.owner.key.recordKey(nil), r.owner.key.recordKey(nil))
            if keys.0 != keys.1 { return keys.0 < keys.1 }
            return (l.relationship, left.position) < (r.relationship, right.position)
        }
    }

    private func references(_ condition: String, _ key: RowKey? = nil) throws -> [Remembered] {
        let statement = try statements.statement(
            """
            SELECT owner_entity, owner_key, relationship, target_entity, target_key, position FROM sync_pending
            \(condition) ORDER BY owner_entity, owner_key, relationship, position
            """)
        if let key { statement.bind(key, at: 1) }
        defer { statement.reset() }
        var found: [Remembered] = []
        while try statement.step() {
            guard let owner = model.entityID(statement.string(0)), let target = model.entityID(statement.string(3)),
                let ownerKey = statement.key(1), let targetKey = statement.key(4)
            else { continue }
            let reference = PendingReferences.Reference(
                owner: StoredRow(tree: model.entities[owner].tree, key: ownerKey), ownerEntity: owner,
                relationship: statement.string(2), targetEntity: target, target: targetKey)
            found.append((reference, statement.integer(5)))
        }
        return found
    }
}
