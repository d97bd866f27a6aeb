import GRDB
package import SyncCore
package import SyncStore

// A store may have more pending references than rows. For a small payload, the session therefore reads only references
// from and to its nodes, and references to rows that were inserted without a sync.
extension SQLiteSession {
    package func pendingReferences() throws -> [PositionedReference] {
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
        let unresolved = touched.map(\.id).filter { !resolvedTables.contains($0) }
        let arrived = try unresolved.isEmpty ? [] : arrivedReferences(unresolved)
        if arrived.isEmpty { addResolvedTables(unresolved) }
        return ordered(found + arrived)
    }

    // MARK: Lookup

    /// Returns the pending references from and to the nodes of a table. It skips references to nodes that have no
    /// record and are not stored, because these references stay pending.
    private func referencesOfNodes(_ table: SyncTable) throws -> [PositionedReference] {
        let entities = layout.entityNames(of: [table.id])
        let owned = "WHERE owner_entity IN (\(entities)) AND owner_key = ?"
        let pending = "WHERE target_entity IN (\(entities)) AND target_key = ?"
        var found: [PositionedReference] = []
        for node in table.nodes {
            if node.index & 1023 == 1023 { try steps.check() }
            let row = table.rowKey(node)
            if let row { found += try references(owned, row) }
            guard table.isPresent(node) || table.batch.nodes[node.index].isGiven else { continue }
            let key = RowKey(table.batch.nodes[node.index].key, table.pool) ?? (table.hasSurrogateKey ? nil : row)
            if let key { found += try references(pending, key) }
        }
        return found
    }

    /// Returns the pending references from or to rows of these tables whose referenced rows are stored.
    private func arrivedReferences(_ tables: [TableID]) throws -> [PositionedReference] {
        let owners = layout.entityNames(of: tables)
        return try model.entities.flatMap { entity -> [PositionedReference] in
            guard entity.isKeyed else { return [] }
            let among = tables.contains(entity.table) ? "" : " AND owner_entity IN (\(owners))"
            let target = rowSQL(entity.table).table + keyCondition(entity, equals: "reference.target_key")
            return try references(
                "AS reference WHERE target_entity = \(entity.name.literal)\(among) AND EXISTS (SELECT 1 FROM \(target))"
            )
        }
    }

    /// Returns the references without duplicates, ordered by owner, relationship and position.
    private func ordered(_ references: [PositionedReference]) -> [PositionedReference] {
        guard references.count > 1 else { return references }
        var seen: Set<PendingReference> = []
        return references.filter { seen.insert($0.reference).inserted }.sorted { left, right in
            let (l, r) = (left.reference, right.reference)
            let owners = (model.entities[l.ownerEntity].name, model.entities[r.ownerEntity].name)
            if owners.0 != owners.1 { return owners.0 < owners.1 }
            let keys = (l.owner.key.recordKey(nil), r.owner.key.recordKey(nil))
            if keys.0 != keys.1 { return keys.0 < keys.1 }
            return (l.relationship, left.position) < (r.relationship, right.position)
        }
    }

    private func references(_ condition: String, _ key: RowKey? = nil) throws -> [PositionedReference] {
        let statement = try statements.statement(
            """
            SELECT owner_entity, owner_key, relationship, target_entity, target_key, position FROM sync_pending
            \(condition) ORDER BY owner_entity, owner_key, relationship, position
            """)
        if let key { statement.bind(key, at: 1) }
        defer { statement.reset() }
        var found: [PositionedReference] = []
        while try statement.step() {
            guard let owner = model.entityID(statement.string(0)), let target = model.entityID(statement.string(3)),
                let ownerKey = statement.key(1), let targetKey = statement.key(4)
            else { continue }
            let reference = PendingReference(
                owner: StoredRow(table: model.entities[owner].table, key: ownerKey), ownerEntity: owner,
                relationship: statement.string(2), targetEntity: target, target: targetKey)
            found.append(PositionedReference(reference, at: statement.integer(5)))
        }
        return found
    }

    // MARK: Unsent rows

    /// A reference of the service does not mean a row that the service does not have yet, unless the payload inserts
    /// the row. The engine links such rows if the client assigns IDs.
    package func referencesToOtherRows(among references: [PendingReference]) throws -> [PendingReference] {
        guard let edits = try PendingReferenceEdits(layout, db) else { return [] }
        return try edits.referencesToUnsentRows(among: references.filter { !isInserted($0) })
    }

    /// Returns whether the sync inserts the referenced row.
    private func isInserted(_ reference: PendingReference) -> Bool {
        guard let table = tables?[model.entities[reference.targetEntity].table],
            let node = table.node(of: reference.target)
        else { return false }
        return table.isPresent(node, as: .new)
    }

    // MARK: Storing

    package func insertPendingReferences(_ references: [PositionedReference]) throws {
        setHasReferences()
        let statement = try statements.statement(
            """
            INSERT INTO sync_pending (owner_entity, owner_key, relationship, target_entity, target_key, position)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET position = excluded.position
            """)
        let edits = try PendingReferenceEdits(layout, db)
        for new in references {
            try edits?.recordInsertion(of: new.reference)
            statement.bind(.text(model.entities[new.reference.ownerEntity].name), at: 1)
            statement.bind(new.reference.owner.key, at: 2)
            statement.bind(.text(new.reference.relationship), at: 3)
            statement.bind(.text(model.entities[new.reference.targetEntity].name), at: 4)
            statement.bind(new.reference.target, at: 5)
            statement.bind(new.position, at: 6)
            try statement.execute()
        }
    }

    package func deletePendingReferences(_ references: [PendingReference]) throws {
        if references.isEmpty { return }
        let statement = try statements.statement(
            """
            DELETE FROM sync_pending
            WHERE owner_entity = ? AND owner_key = ? AND relationship = ? AND target_key = ? AND target_entity = ?
            """)
        let edits = try PendingReferenceEdits(layout, db)
        for reference in references {
            try edits?.recordDeletion(of: reference)
            statement.bind(.text(model.entities[reference.ownerEntity].name), at: 1)
            statement.bind(reference.owner.key, at: 2)
            statement.bind(.text(reference.relationship), at: 3)
            statement.bind(reference.target, at: 4)
            statement.bind(.text(model.entities[reference.targetEntity].name), at: 5)
            try statement.execute()
        }
    }

    /// Deletes the pending references that new links replace: those from and to the linked rows, at each end of the
    /// association that has at most one link. They would take the links away when their rows arrive.
    func deletePendingReferences(
        replacedByLinksOf row: SyncRow, _ relationship: CompiledRelationship, to targets: [SyncRow]
    ) throws {
        let link = model[relationship.link]
        guard try db.hasPendingReferences() else { return }
        for (end, rows) in [(relationship.end, [row]), (relationship.end.other, targets)]
        where !link.side(end).isToMany {
            for row in rows { try deletePendingReferences(ofAndTo: row, link, at: end) }
        }
    }

    /// Deletes the pending references that give a row at an end of an association a link.
    private func deletePendingReferences(
        ofAndTo row: SyncRow, _ link: CompiledAssociation, at end: CompiledAssociation.End
    ) throws {
        func isReplaced(_ reference: PendingReference, by rowEnd: (CompiledRelationship) -> CompiledAssociation.End)
            -> Bool
        {
            let owner = model.entities[reference.ownerEntity]
            guard let relationship = owner.relationship(named: reference.relationship) else { return false }
            return relationship.link == link.id && (link.isSymmetric || rowEnd(relationship) == end)
        }
        let entities = layout.entityNames(of: [row.type.table])
        var found: [PendingReference] = []
        found += try references("WHERE owner_entity IN (\(entities)) AND owner_key = ?", row.rowKey).map(\.reference)
            .filter { isReplaced($0, by: \.end) }
        if row.type.isKeyed {
            let key = RowKey(row.key, model.keyType(of: row.type.id))
            found += try references("WHERE target_entity IN (\(entities)) AND target_key = ?", key).map(\.reference)
                .filter { reference in
                    model.entity(row.type.id, isKindOf: reference.targetEntity)
                        && isReplaced(reference, by: \.end.other)
                }
        }
        try deletePendingReferences(found)
    }

    package func deletePendingReferences(of rows: [StoredRow]) throws {
        guard hasReferences else { return }
        let dangling = DanglingLinks(layout: layout, db: db)
        for row in rows { try dangling.deletePendingReferences(of: row.key.databaseValue, in: row.table) }
    }

    package func deletePendingReferencesOfNewNodes() throws {
        guard hasReferences, let tables else { return }
        let dangling = DanglingLinks(layout: layout, db: db)
        for table in tables {
            let new = table.nodes(.new)
            if new.isEmpty { continue }
            if try TableSize(of: "sync_pending", limit: new.count * 6, in: db) == .large {
                try deletePendingReferences(
                    of: new.compactMap(table.rowKey).map { StoredRow(table: table.id, key: $0) })
            } else {
                try dangling.deletePendingReferences(ofMissingRowsIn: table.id)
            }
        }
    }
}

// MARK: - Dangling links

// A search of all links for dangling links would cost more than most syncs. So the session searches only small link
// tables. Once it finds a dangling link of a node, it searches all links. Links stay valid until another connection
// writes, or this connection with foreign keys off.
extension SQLiteSession {
    /// Link tables with at most this number of rows are searched without evidence of a dangling link.
    private static let few = 1000

    private var dangling: DanglingLinks { DanglingLinks(layout: layout, db: db) }

    package func danglingLinks() throws -> [DanglingJoinRows] {
        let known = validLinks.checked.count + validLinks.valid.count
        var found: [DanglingJoinRows] = []
        if try mayHaveDanglingLinks() {
            found = try model.links.compactMap { try self.dangling($0.id) }
            validLinks.valid = Set(model.links.map(\.id))
        }
        validLinks.checked.formUnion(validLinks.valid)
        if validLinks.checked.count + validLinks.valid.count > known { storeValidLinks() }
        return found
    }

    /// Finds the dangling links of join tables. The call reads only join tables in which the diff of a snapshot found a
    /// link to a row without a node.
    package func danglingJoinRows() throws -> [DanglingJoinRows] {
        try model.links.compactMap { link -> DanglingJoinRows? in
            guard let ends = danglingCandidates[link.id], link.storage == .joinTable, !isValid(link.id) else {
                return nil
            }
            let found = try dangling.exist(link.id, among: ends) ? self.dangling(link.id) : nil
            validLinks.valid.insert(link.id)
            storeValidLinks()
            return found
        }
    }

    private func dangling(_ link: AssociationID) throws -> DanglingJoinRows? {
        let rows = try dangling.find(link)
        return rows.isEmpty ? nil : DanglingJoinRows(link, rows.map { ($0.first, $0.second) })
    }

    package func removeDangling(_ links: [AssociationID]) throws { for link in links { try dangling.remove(link) } }

    private func isValid(_ link: AssociationID) -> Bool { validLinks.valid.contains(link) }

    // MARK: Detection

    private func mayHaveDanglingLinks() throws -> Bool {
        guard let tables else { return false }
        for link in model.links where !tables[link.first.table].isEmpty || !tables[link.second.table].isEmpty {
            guard validLinks.checked.insert(link.id).inserted else { continue }
            if try TableSize(of: dangling.table(link.id), limit: Self.few, in: db) == .large { continue }
            if try dangling.exist(link.id) { return true }
            validLinks.valid.insert(link.id)
        }
        for table in tables where !table.isEmpty {
            for (index, link) in table.hierarchy.foreignKeys.enumerated() {
                if try hasDanglingTargets(table, model[link], index, tables) { return true }
            }
        }
        for link in model.links {
            for end in [CompiledAssociation.End.first, .second] where link.storage == .joinTable || end == .second {
                if try mayReferenceMissingRows(link, end, tables) { return true }
            }
        }
        return false
    }

    /// Returns whether a foreign key of a node is dangling. If the session scanned the table, this includes foreign
    /// keys of unmatched rows.
    private func hasDanglingTargets(
        _ table: SyncTable, _ link: CompiledAssociation, _ index: Int, _ tables: SyncTables
    ) throws -> Bool {
        let states = tables[link.second.table].matches.rowStates
        var others: [NodeID] = []
        for (node, target) in table.matches.foreignKeys[index].targets.enumerated() where target != .nowhere {
            if let target = target.node {
                if states[target.index] != .stored { return true }
            } else {
                others.append(NodeID(node))
            }
        }
        let references = table.matches.unmatchedRows.references
        if references.contains(where: { $0.link == link.id && states[$0.target.index] != .stored }) { return true }
        let ends = danglingCandidates[link.id]
        guard !others.isEmpty || ends != nil, !isValid(link.id) else { return false }
        guard table.matches.isScanned else {
            return try dangling.exist(link.id, of: others.compactMap(table.rowKey))
        }
        // The scan read all rows of the table. Rows that are neither in `others` nor in `ends` reference nodes.
        if let ends, others.count * 6 <= table.batch.nodes.count {
            guard try !dangling.exist(link.id, of: others.compactMap(table.rowKey)) else { return true }
            guard try !dangling.exist(link.id, among: ends) else { return true }
        } else {
            guard try !dangling.exist(link.id) else { return true }
        }
        validLinks.valid.insert(link.id)
        return false
    }

    /// Returns whether there are links to nodes that are not stored. In a small link table, any dangling link counts.
    private func mayReferenceMissingRows(
        _ link: CompiledAssociation, _ end: CompiledAssociation.End, _ tables: SyncTables
    )
        throws -> Bool
    {
        let table = tables[link.side(end).table]
        let states = table.matches.rowStates
        guard states.contains(where: { $0 != .stored }), !isValid(link.id) else { return false }
        let missing = table.nodes.filter { states[$0.index] != .stored }
        switch try size(of: dangling.table(link.id), limit: missing.count * 6) {
        case .empty: break
        case .small: if try dangling.exist(link.id) { return true }
        case .large: return try dangling.exist(link.id, to: missing.compactMap(table.rowKey), at: end)
        }
        validLinks.valid.insert(link.id)
        return false
    }
}

extension Database {
    /// Returns whether the store has pending references.
    func hasPendingReferences() throws -> Bool { try finds("SELECT 1 FROM sync_pending") }
}
