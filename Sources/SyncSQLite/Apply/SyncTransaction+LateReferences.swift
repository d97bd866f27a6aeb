import GRDB
import SyncCore

// Ids of rows that are not stored are remembered, and linked when the rows arrive. What a payload says about a link
// wins over what was remembered.
extension SyncTransaction {
    mutating func linkLateReferences() throws {
        guard pending.hasStored || !pending.noted.isEmpty else { return }
        let spoken = spokenEnds()
        let wanted = wantedReferences(spoken)
        var isStored = Array(repeating: false, count: wanted.references.count)
        var linked: Set<StoredRow> = []
        for (reference, position) in try rememberedReferences() {
            if let place = wanted.place(of: reference) {
                isStored[place] = true
                if wanted.references[place].position != position {
                    try remember(reference, at: wanted.references[place].position)
                }
            } else if isSpokenFor(reference, spoken) {
                try forget(reference)
            } else if let target = try arrivedRow(reference) {
                if try !hasOwnLink(target, reference, linked) {
                    try link(reference, to: target, at: position)
                    linked.insert(target)
                }
                try forget(reference)
            }
        }
        for (place, (reference, position)) in wanted.references.enumerated() where !isStored[place] {
            try checkCancellation()
            try remember(reference, at: position)
        }
        unresolved = wanted.references.map { reference, _ in
            .init(
                entity: model.entities[reference.ownerEntity].name,
                key: reference.owner.key.recordKey(report.keyType(reference.ownerEntity)),
                relationship: reference.relationship,
                target: reference.target.recordKey(report.keyType(reference.targetEntity)))
        }
    }

    /// When each end was last spoken for by a record that counts. Linking a to-one end speaks for it as a whole.
    /// By link and end.
    private func spokenEnds() -> [[Replaced]] {
        var spoken = model.links.map { [replaced($0.id, .first), replaced($0.id, .second)] }
        func note(_ link: Int, _ end: Link.End, _ node: Int32, _ sequence: UInt32) {
            if spoken[link][end.rawValue].sequence.isEmpty {
                spoken[link][end.rawValue] = Replaced(
                    count: trees[model.links[link].side(end).tree].presence.count)
            }
            spoken[link][end.rawValue].note(node, sequence, deletes: false)
        }
        if let parent = plan.parent, plan.canDelete, predicate == nil {
            note(parent.link, parent.end, Int32(truncatingIfNeeded: parent.node), 0)
        }
        for link in model.links {
            let toOneEnds = [Link.End.first, .second].filter { !link.side($0).isToMany }
            guard !toOneEnds.isEmpty else { continue }
            for assertion in plan.links[link.id].assertions where standing(assertion) == .full {
                // An object that was refused says nothing about the row it would have been.
                let saysBoth =
                    assertion.isByID
                    || (isPresent(assertion.first, link.first.tree) && isPresent(assertion.second, link.second.tree))
                for end in toOneEnds where saysBoth || end == assertion.saidBy {
                    note(link.id, end, end == .first ? assertion.first : assertion.second, assertion.sequence)
                }
            }
        }
        return spoken
    }

    private func wantedReferences(_ spoken: [[Replaced]]) -> PendingReferences.Wanted {
        var wanted = PendingReferences.Wanted(capacity: pending.noted.count)
        for (assertion, link) in pending.noted {
            let end = assertion.saidBy
            let (owner, target) =
                end == .first ? (assertion.first, assertion.second) : (assertion.second, assertion.first)
            let tree = model.links[link].side(end).tree
            let targetTree = model.links[link].side(end.other).tree
            guard isPresent(owner, tree), let relationship = model.links[link].side(end).relationship,
                Int64(assertion.sequence) >= spoken[link][end.rawValue].at(owner),
                Int64(assertion.sequence) >= spoken[link][end.other.rawValue].at(target),
                let ownerKey = trees[tree].rowKey(Int(owner), plan.rows[tree], pool),
                let targetKey = RowKey(plan.rows[targetTree].nodes[Int(target)].key, pool)
            else { continue }
            let reference = PendingReferences.Reference(
                owner: StoredRow(tree: tree, key: ownerKey), ownerEntity: trees[tree].entity(of: Int(owner)),
                relationship: relationship.name,
                targetEntity: model.links[link].side(end.other).entity, target: targetKey)
            wanted.add(reference, at: Int64(assertion.position))
        }
        return wanted
    }

    private func isSpokenFor(_ reference: PendingReferences.Reference, _ spoken: [[Replaced]]) -> Bool {
        guard let relationship = relationship(of: reference) else { return true }
        if let owner = node(of: reference.owner.key, reference.owner.tree),
            spoken[relationship.link][relationship.end.rawValue].at(owner) >= 0
        {
            return true
        }
        let target = targetNode(of: reference)
        return target.map { spoken[relationship.link][relationship.end.other.rawValue].at($0) >= 0 } ?? false
    }

    private func relationship(of reference: PendingReferences.Reference) -> CompiledRelationship? {
        model.entities[reference.ownerEntity].relationship(named: reference.relationship)
    }

    private func targetNode(of reference: PendingReferences.Reference) -> Int32? {
        let entity = model.entities[reference.targetEntity]
        guard columns[entity.tree].hasHiddenKey else { return node(of: reference.target, entity.tree) }
        return (try? row(of: reference)).flatMap { $0 }.flatMap { node(of: $0.key, $0.tree) }
    }

    // MARK: The store's memory

    private func remember(_ reference: PendingReferences.Reference, at position: Int64) throws {
        let statement = try statements.statement(
            """
            INSERT INTO sync_pending (owner_entity, owner_key, relationship, target_entity, target_key, position)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET position = excluded.position
            """)
        statement.bind(.text(model.entities[reference.ownerEntity].name), at: 1)
        statement.bind(reference.owner.key, at: 2)
        statement.bind(.text(reference.relationship), at: 3)
        statement.bind(.text(model.entities[reference.targetEntity].name), at: 4)
        statement.bind(reference.target, at: 5)
        statement.bind(position, at: 6)
        try statement.execute()
    }

    private func forget(_ reference: PendingReferences.Reference) throws {
        let statement = try statements.statement(
            """
            DELETE FROM sync_pending
            WHERE owner_entity = ? AND owner_key = ? AND relationship = ? AND target_key = ?
            """)
        statement.bind(.text(model.entities[reference.ownerEntity].name), at: 1)
        statement.bind(reference.owner.key, at: 2)
        statement.bind(.text(reference.relationship), at: 3)
        statement.bind(reference.target, at: 4)
        try statement.execute()
    }

    /// Forgets what a deleted row was waiting for.
    func forgetReferences(of row: StoredRow) throws {
        guard pending.hasStored || !pending.noted.isEmpty else { return }
        try DanglingLinks(layout: layout, db: db).forgetReferences(of: row.key.databaseValue, in: row.tree)
    }

    // MARK: Arrival

    private func row(of reference: PendingReferences.Reference) throws -> StoredRow? {
        let entity = model.entities[reference.targetEntity]
        let sql = "SELECT \(columns[entity.tree].keyColumn) FROM \(columns[entity.tree].table)" + keyCondition(entity)
        let statement = try statements.statement(sql)
        statement.bind(reference.target, at: 1)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return statement.key(0).map { StoredRow(tree: entity.tree, key: $0) }
    }

    /// The target, if it and the owner are stored by now.
    private func arrivedRow(_ reference: PendingReferences.Reference) throws -> StoredRow? {
        guard try identity(of: reference.owner) != nil, let relationship = relationship(of: reference),
            let target = try row(of: reference), let found = try identity(of: target),
            model.entity(found.entity, isKindOf: relationship.destination)
        else { return nil }
        return target
    }

    /// Whether a row that came by other means than a sync brought a link of its own, which counts as what it says.
    private func hasOwnLink(
        _ target: StoredRow, _ reference: PendingReferences.Reference, _ linked: Set<StoredRow>
    ) throws -> Bool {
        guard let relationship = relationship(of: reference), !linked.contains(target),
            !model.links[relationship.link].side(relationship.end.other).isToMany
        else { return false }
        return try !storedTargets(of: target, link: relationship.link, from: relationship.end.other).isEmpty
    }

    private mutating func link(
        _ reference: PendingReferences.Reference, to target: StoredRow, at position: Int64
    ) throws {
        guard let relationship = relationship(of: reference) else { return }
        let (first, second) = relationship.end == .first ? (reference.owner, target) : (target, reference.owner)
        switch layout.links[relationship.link] {
        case .foreignKey(let table, let column, let order):
            try setForeignKey(
                relationship, first, second, table: table, column: column, order: order, position: position)
            if model.links[relationship.link].isSymmetric, first != second {
                try setForeignKey(
                    relationship, second, first, table: table, column: column, order: order, position: position)
            }
        case .joinTable(let name, let firstColumn, let secondColumn, let firstOrder, let secondOrder):
            let table = JoinSQL(
                table: name, first: firstColumn, second: secondColumn, firstOrder: firstOrder, secondOrder: secondOrder,
                db: db)
            let isFirst = relationship.end == .first
            try insertLink(
                table, first, second, link: relationship.link, order: isFirst ? firstOrder : secondOrder, position)
            if model.links[relationship.link].isSymmetric, first != second {
                try insertLink(
                    table, second, first, link: relationship.link, order: isFirst ? secondOrder : firstOrder, position)
            }
        }
    }

    private mutating func setForeignKey(
        _ relationship: CompiledRelationship, _ first: StoredRow, _ second: StoredRow, table: String, column: String,
        order: String?, position: Int64
    ) throws {
        let link = relationship.link
        let key = columns[first.tree].keyColumn
        if model.links[link].isOneToOne {
            for holder in try storedTargets(of: second, link: link, from: .second) where holder != first.key {
                try noteRemovedLink(link, of: second, at: .second, to: holder)
                try clearForeignKey(of: StoredRow(tree: first.tree, key: holder), link)
                report.linksRemoved += 1
            }
        }
        let current = try storedTargets(of: first, link: link, from: .first).first
        guard current != second.key else { return }
        if current != nil { report.linksRemoved += 1 }
        try noteRemovedTarget(of: first, link)
        try keepValues(of: first)
        try db.execute(
            sql: "UPDATE \(table.quoted) SET \(column.quoted) = ? WHERE \(key) = ?",
            arguments: [second.key.databaseValue, first.key.databaseValue])
        if let order {
            if position >= 0, relationship.end == .second { try makeRoom(in: second, link, .second, at: position) }
            let place =
                position >= 0 && relationship.end == .second
                ? "?" : "(SELECT coalesce(max(\(order.quoted)) + 1, 0) FROM \(table.quoted) WHERE \(column.quoted) = ?)"
            let argument =
                position >= 0 && relationship.end == .second ? position.databaseValue : second.key.databaseValue
            try db.execute(
                sql: "UPDATE \(table.quoted) SET \(order.quoted) = \(place) WHERE \(key) = ?",
                arguments: [argument, first.key.databaseValue])
        }
        report.linksAdded += 1
        try noteAddedLink(link, first, second)
        if let found = try identity(of: first) {
            noteUpdate(found, first, [model.links[link].first.relationship?.name].compactMap { $0 })
        }
    }

    /// Adds a link that has its place in the list that gave it, and is the last one from the other side.
    private mutating func insertLink(
        _ table: JoinSQL, _ first: StoredRow, _ second: StoredRow, link: Int, order: String?, _ position: Int64
    ) throws {
        try table.add(first.key.databaseValue, second.key.databaseValue)
        let added = db.changesCount
        report.linksAdded += added
        if added > 0 { try noteAddedLink(link, first, second) }
        guard added > 0, let order else { return }
        let isFirst = order == table.firstOrder
        try makeRoom(in: isFirst ? first : second, link, isFirst ? .first : .second, at: position)
        try db.execute(
            sql: """
                UPDATE \(table.table.quoted) SET \(order.quoted) = ?
                WHERE \(table.first.quoted) = ? AND \(table.second.quoted) = ?
                """,
            arguments: [position.databaseValue, first.key.databaseValue, second.key.databaseValue])
    }

    /// Moves rows that were linked beside the list since, and so come after it, away from a place in it.
    private func makeRoom(in owner: StoredRow, _ link: Int, _ end: Link.End, at position: Int64) throws {
        let (table, mine, _, order) = orderColumns(link, end)
        guard let order else { return }
        try db.execute(
            sql: """
                UPDATE \(table) SET \(order) = \(order) + 1 WHERE \(mine) = ?1 AND \(order) >= ?2
                AND EXISTS (SELECT 1 FROM \(table) WHERE \(mine) = ?1 AND \(order) = ?2)
                """,
            arguments: [owner.key.databaseValue, position.databaseValue])
    }
}
