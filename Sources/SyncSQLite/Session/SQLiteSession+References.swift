import GRDB
package import SyncCore
package import SyncStore

// A store may remember more references than it has rows, so a small payload asks only for those of its own rows; and for
// those whose rows came by other means than a sync, if there were any since the last look.
extension SQLiteSession {
    package func rememberedReferences() throws -> [RememberedReference] {
        guard hasReferences, let tables else { return [] }
        let touched = tables.filter { !$0.isEmpty }
        let limit = touched.reduce(0) { $0 + $1.batch.nodes.count } * 6
        let stored =
            try Int.fetchOne(db, sql: "SELECT count(*) FROM (SELECT 1 FROM sync_pending LIMIT \(limit + 1))") ?? 0
        if stored <= limit {
            return try references("").filter { known in
                !tables[known.reference.owner.table].isEmpty
                    || !tables[model.entities[known.reference.targetEntity].table].isEmpty
            }
        }
        let found = try touched.flatMap(referencesOfNodes)
        let unsettled = touched.map(\.id).filter { !settled.contains($0) }
        let arrived = try unsettled.isEmpty ? [] : arrivedReferences(unsettled)
        if arrived.isEmpty { settle(unsettled) }
        return ordered(found + arrived)
    }

    // MARK: Looking up

    /// The references that rows of the payload have, and those to them. Those to a row that is only named, and is not there, are not
    /// asked for: they wait on.
    private func referencesOfNodes(_ table: SyncTable) throws -> [RememberedReference] {
        let entities = layout.entityNames(of: [table.id])
        let owned = "WHERE owner_entity IN (\(entities)) AND owner_key = ?"
        let awaited = "WHERE target_entity IN (\(entities)) AND target_key = ?"
        var found: [RememberedReference] = []
        for node in table.nodes {
            if node.index & 1023 == 1023 { try Task.checkCancellation() }
            let row = table.rowKey(node)
            if let row { found += try references(owned, row) }
            guard table.isPresent(node) || table.batch.nodes[node.index].isGiven else { continue }
            let key = RowKey(table.batch.nodes[node.index].key, table.pool) ?? (table.hasHiddenKey ? nil : row)
            if let key { found += try references(awaited, key) }
        }
        return found
    }

    /// The references of or to rows of these tables whose targets are stored by now.
    private func arrivedReferences(_ tables: [TableID]) throws -> [RememberedReference] {
        let owners = layout.entityNames(of: tables)
        return try model.entities.flatMap { entity -> [RememberedReference] in
            guard entity.isKeyed else { return [] }
            let among = tables.contains(entity.table) ? "" : " AND owner_entity IN (\(owners))"
            let target = columns(entity.table).table + keyCondition(entity, equals: "reference.target_key")
            return try references(
                "AS reference WHERE target_entity = \(entity.name.literal)\(among) AND EXISTS (SELECT 1 FROM \(target))"
            )
        }
    }

    /// Each once, by owner and position.
    private func ordered(_ references: [RememberedReference]) -> [RememberedReference] {
        guard references.count > 1 else { return references }
        var seen: Set<LateReference> = []
        return references.filter { seen.insert($0.reference).inserted }.sorted { left, right in
            let (l, r) = (left.reference, right.reference)
            let owners = (model.entities[l.ownerEntity].name, model.entities[r.ownerEntity].name)
            if owners.0 != owners.1 { return owners.0 < owners.1 }
            let keys = (l.owner.key.recordKey(nil), r.owner.key.recordKey(nil))
            if keys.0 != keys.1 { return keys.0 < keys.1 }
            return (l.relationship, left.position) < (r.relationship, right.position)
        }
    }

    private func references(_ condition: String, _ key: RowKey? = nil) throws -> [RememberedReference] {
        let statement = try statements.statement(
            """
            SELECT owner_entity, owner_key, relationship, target_entity, target_key, position FROM sync_pending
            \(condition) ORDER BY owner_entity, owner_key, relationship, position
            """)
        if let key { statement.bind(key, at: 1) }
        defer { statement.reset() }
        var found: [RememberedReference] = []
        while try statement.step() {
            guard let owner = model.entityID(statement.string(0)), let target = model.entityID(statement.string(3)),
                let ownerKey = statement.key(1), let targetKey = statement.key(4)
            else { continue }
            let reference = LateReference(
                owner: StoredRow(table: model.entities[owner].table, key: ownerKey), ownerEntity: owner,
                relationship: statement.string(2), targetEntity: target, target: targetKey)
            found.append(RememberedReference(reference, at: statement.integer(5)))
        }
        return found
    }

    // MARK: Remembering

    package func remember(_ references: [RememberedReference]) throws {
        noteReferences()
        let statement = try statements.statement(
            """
            INSERT INTO sync_pending (owner_entity, owner_key, relationship, target_entity, target_key, position)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET position = excluded.position
            """)
        for new in references {
            statement.bind(.text(model.entities[new.reference.ownerEntity].name), at: 1)
            statement.bind(new.reference.owner.key, at: 2)
            statement.bind(.text(new.reference.relationship), at: 3)
            statement.bind(.text(model.entities[new.reference.targetEntity].name), at: 4)
            statement.bind(new.reference.target, at: 5)
            statement.bind(new.position, at: 6)
            try statement.execute()
        }
    }

    package func forget(_ references: [LateReference]) throws {
        let statement = try statements.statement(
            """
            DELETE FROM sync_pending
            WHERE owner_entity = ? AND owner_key = ? AND relationship = ? AND target_key = ? AND target_entity = ?
            """)
        for reference in references {
            statement.bind(.text(model.entities[reference.ownerEntity].name), at: 1)
            statement.bind(reference.owner.key, at: 2)
            statement.bind(.text(reference.relationship), at: 3)
            statement.bind(reference.target, at: 4)
            statement.bind(.text(model.entities[reference.targetEntity].name), at: 5)
            try statement.execute()
        }
    }

    package func forgetReferences(of rows: [StoredRow]) throws {
        guard hasReferences else { return }
        let dangling = DanglingLinks(layout: layout, db: db)
        for row in rows { try dangling.forgetReferences(of: row.key.databaseValue, in: row.table) }
    }

    package func forgetReferencesOfNewNodes() throws {
        guard hasReferences, let tables else { return }
        let dangling = DanglingLinks(layout: layout, db: db)
        for table in tables {
            let new = table.nodes(.new)
            if new.isEmpty { continue }
            if try TableSize(of: "sync_pending", limit: new.count * 6, in: db) == .large {
                try forgetReferences(of: new.compactMap(table.rowKey).map { StoredRow(table: table.id, key: $0) })
            } else {
                try dangling.forgetReferences(ofMissingRowsIn: table.id)
            }
        }
    }
}
