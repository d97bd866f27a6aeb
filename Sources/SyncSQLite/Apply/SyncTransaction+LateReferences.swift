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
        var listed: ListedOwners = [:]
        for (reference, position) in try rememberedReferences() {
            if let place = wanted.place(of: reference) {
                isStored[place] = true
                noteAwaited(reference, at: position)
                if wanted.references[place].position != position {
                    try remember(reference, at: wanted.references[place].position)
                }
            } else if isOwnerSpokenFor(reference, spoken) {
                try forget(reference)
            } else if try isTargetSpokenFor(reference, spoken) {
                try takePlace(reference, keptPlace(reference, position, &listed))
                try unlinkIfAwaited(reference)
                try forget(reference)
            } else if let target = try arrivedRow(reference) {
                if try !hasOwnLink(target, reference, linked) {
                    try link(reference, to: target, at: keptPlace(reference, position, &listed))
                    linked.insert(target)
                }
                try forget(reference)
            }
        }
        for (place, (reference, position)) in wanted.references.enumerated() where !isStored[place] {
            try advance()
            try remember(reference, at: position)
            noteAwaited(reference, at: position)
        }
        if run?.late.isEmpty == false {
            for (reference, position) in wanted.references where position < 0 { try takeBackLateLink(reference) }
        }
        unresolved = wanted.references.map { reference, _ in
            .init(
                entity: model.entities[reference.ownerEntity].name,
                key: reference.owner.key.recordKey(report.keyType(reference.ownerEntity)),
                relationship: reference.relationship,
                target: reference.target.recordKey(report.keyType(reference.targetEntity)))
        }
    }

    /// When each end was last spoken for in words, by link and end: by the scope of a parent, too.
    private func spokenEnds() -> [[SpokenEnd]] {
        var spoken = model.links.map { link in
            let claimed = statements(of: link.id).claimedEnds()
            return [claimed.first, claimed.second]
        }
        guard let parent = plan.parent, deletesMissing, predicate == nil else { return spoken }
        let end = parent.end.rawValue
        if spoken[parent.link][end].isEmpty {
            spoken[parent.link][end] = SpokenEnd(count: trees[parent.tree].presence.count)
        }
        spoken[parent.link][end].note(Int32(truncatingIfNeeded: parent.node), 0, deletes: false)
        return spoken
    }

    private func wantedReferences(_ spoken: [[SpokenEnd]]) -> PendingReferences.Wanted {
        var wanted = PendingReferences.Wanted(capacity: pending.noted.count)
        for (assertion, link) in pending.noted {
            let end = assertion.saidBy
            let (owner, target) =
                end == .first ? (assertion.first, assertion.second) : (assertion.second, assertion.first)
            let tree = model.links[link].side(end).tree
            let targetTree = model.links[link].side(end.other).tree
            guard isPresent(owner, tree), let relationship = model.links[link].side(end).relationship,
                Int64(assertion.sequence) >= spoken[link][end.rawValue].sequence(of: owner),
                Int64(assertion.sequence) >= spoken[link][end.other.rawValue].sequence(of: target),
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

    private func isOwnerSpokenFor(_ reference: PendingReferences.Reference, _ spoken: [[SpokenEnd]]) -> Bool {
        guard let relationship = relationship(of: reference) else { return true }
        guard let owner = node(of: reference.owner.key, reference.owner.tree) else { return false }
        return spoken[relationship.link][relationship.end.rawValue].speaks(of: owner)
    }

    private func isTargetSpokenFor(
        _ reference: PendingReferences.Reference, _ spoken: [[SpokenEnd]]
    ) throws -> Bool {
        guard let relationship = relationship(of: reference), let target = try targetNode(of: reference) else {
            return false
        }
        return spoken[relationship.link][relationship.end.other.rawValue].speaks(of: target)
    }

    /// The rows that the payload has ordered lists of, by link and end, as far as they were asked for.
    private typealias ListedOwners = [Int: [Link.End: Set<Int32>]]

    /// The place that was kept for an awaited row; -1 if there is none, or if the payload has a list of its owner: that one
    /// is the last, whatever it leaves as it is.
    private func keptPlace(
        _ reference: PendingReferences.Reference, _ position: Int64, _ listed: inout ListedOwners
    ) -> Int64 {
        guard position >= 0, let relationship = relationship(of: reference), relationship.isOrdered,
            let owner = node(of: reference.owner.key, reference.owner.tree)
        else { return position }
        let (link, end) = (relationship.link, relationship.end)
        let known = listed[link]?[end]
        let owners = known ?? listedOwners(link, end)
        if known == nil { listed[link, default: [:]][end] = owners }
        return owners.contains(owner) ? -1 : position
    }

    private func listedOwners(_ link: Int, _ end: Link.End) -> Set<Int32> {
        let listed = statements(of: link).stated.filter { $0.saidBy == end && $0.position >= 0 }
        return Set(listed.map { end == .first ? $0.first : $0.second })
    }

    func relationship(of reference: PendingReferences.Reference) -> CompiledRelationship? {
        model.entities[reference.ownerEntity].relationship(named: reference.relationship)
    }

    private func targetNode(of reference: PendingReferences.Reference) throws -> Int32? {
        let entity = model.entities[reference.targetEntity]
        guard columns[entity.tree].hasHiddenKey else { return node(of: reference.target, entity.tree) }
        return try row(of: reference).flatMap { node(of: $0.key, $0.tree) }
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

    private mutating func forget(_ reference: PendingReferences.Reference) throws {
        if let link = oneLink(of: reference) { run?.awaited.remove(link) }
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
    func arrivedRow(_ reference: PendingReferences.Reference) throws -> StoredRow? {
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
        return try !storedLinks.targets(of: target, relationship.link, from: relationship.end.other).isEmpty
    }

    private mutating func link(
        _ reference: PendingReferences.Reference, to target: StoredRow, at position: Int64
    ) throws {
        guard let relationship = relationship(of: reference) else { return }
        let (first, second) = relationship.end == .first ? (reference.owner, target) : (target, reference.owner)
        try noteLateLink(reference, relationship.link, first, second)
        let isSymmetric = model.links[relationship.link].isSymmetric && first != second
        if model.links[relationship.link].storage == .foreignKey {
            try setTarget(relationship.link, first, second)
            if isSymmetric { try setTarget(relationship.link, second, first) }
        } else {
            try addPair(relationship.link, first, second)
            if isSymmetric { try addPair(relationship.link, second, first) }
        }
        try storedLinks.takePlace(
            position, of: target.key, in: reference.owner.key, relationship.link, relationship.end)
    }

    /// Points the foreign key of a stored row at another, as the last of those that do.
    mutating func setTarget(_ link: Int, _ first: StoredRow, _ second: StoredRow) throws {
        if model.links[link].isOneToOne {
            for holder in try storedLinks.targets(of: second, link, from: .second) where holder != first.key {
                try bookRemoved(link, of: second, at: .second, to: holder)
                try clearForeignKey(of: StoredRow(tree: first.tree, key: holder), link)
            }
        }
        let current = try storedLinks.target(of: first, link)
        guard current != second.key else { return }
        if let current { try bookRemoved(link, of: first, at: .first, to: current) }
        try keepValues(of: first)
        try storedLinks.setTarget(second.key, of: first, link)
        // It is not its former owner's any more, whose list had left it out.
        try unlink(first, leaving.keep(link, of: first))
        try bookAdded(link, first, second)
        if let found = try identity(of: first) {
            noteUpdate(found, first, [model.links[link].first.relationship?.name].compactMap { $0 })
        }
    }

    /// Adds a pair that is the last one of both rows.
    private mutating func addPair(_ link: Int, _ first: StoredRow, _ second: StoredRow) throws {
        if try storedLinks.addPair(first.key, second.key, link) { try bookAdded(link, first, second) }
    }

    /// A listed row that arrives, and itself says that it is linked to the row whose list it is in, has its place there.
    private func takePlace(_ reference: PendingReferences.Reference, _ position: Int64) throws {
        guard position >= 0, let relationship = relationship(of: reference), relationship.isOrdered,
            let target = try row(of: reference)
        else { return }
        try storedLinks.takePlace(
            position, of: target.key, in: reference.owner.key, relationship.link, relationship.end)
    }
}
