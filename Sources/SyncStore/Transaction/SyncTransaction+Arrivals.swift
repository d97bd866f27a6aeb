import SyncCore

// Rows that have arrived are linked to those that waited for them.
extension SyncTransaction {
    /// The target, if it and the owner are stored by now.
    func arrivedRow(_ reference: PendingReference, _ arrived: ArrivedTargets) throws -> StoredRow? {
        guard try identities[reference.owner] != nil, let relationship = relationship(of: reference),
            let target = arrived[reference], let found = try identities[target],
            model.entity(found.entity, isKindOf: relationship.destination),
            model.entity(found.entity, isKindOf: reference.targetEntity)
        else { return nil }
        return target
    }

    /// Whether a row that came by other means than a sync brought a link of its own, which counts as what it says.
    func hasOwnLink(
        _ target: StoredRow, _ reference: PendingReference, _ linked: Set<StoredRow>
    ) throws -> Bool {
        guard let relationship = relationship(of: reference), !linked.contains(target),
            !model[relationship.link].side(relationship.end.other).isToMany
        else { return false }
        return try !links.targets(of: target.key, relationship.link, from: relationship.end.other).isEmpty
    }

    mutating func link(_ reference: PendingReference, to target: StoredRow, at place: Int64) throws {
        guard let relationship = relationship(of: reference) else { return }
        let link = model[relationship.link]
        let (first, second) = relationship.end == .first ? (reference.owner, target) : (target, reference.owner)
        try addResolvedLink(reference, link, first, second)
        try self.link(link, first, second)
        if link.isSymmetric, first != second { try self.link(link, second, first) }
        try links.takePlace(place, of: target.key, in: reference.owner.key, link.id, relationship.end)
    }

    private mutating func link(_ link: CompiledAssociation, _ first: StoredRow, _ second: StoredRow) throws {
        if link.storage == .foreignKey { return try setTarget(link, first, second) }
        let isNew = try links.add(JoinKey(first: first.key, second: second.key), link.id)
        if isNew { try recordAddedLink(link, first, second) }
    }

    /// Points the foreign key of a stored row at another, as the last of those that do.
    mutating func setTarget(_ link: CompiledAssociation, _ first: StoredRow, _ second: StoredRow) throws {
        if link.isOneToOne {
            for holder in try links.targets(of: second.key, link.id, from: .second) where holder != first.key {
                try recordRemovedLink(link, of: second, at: .second, to: holder)
                try clearForeignKey(of: StoredRow(table: first.table, key: holder), link)
            }
        }
        let current = try links.target(of: first.key, link.id)
        guard current != second.key else { return }
        if let current { try recordRemovedLink(link, of: first, at: .first, to: current) }
        try links.setTarget(second.key, of: first.key, link.id)
        // It is not its former owner's any more, whose list had left it out.
        try unlink(first, leaving.keep(link.id, of: first))
        try recordAddedLink(link, first, second)
        if let found = try identities[first] {
            recordUpdate(found, first, [link.first.relationship?.name].compactMap { $0 })
        }
    }
}

/// The rows that late references wait for, as far as they are stored by now.
struct ArrivedTargets {
    private var rows: [PendingReference: StoredRow] = [:]

    init(_ references: [PendingReference], _ store: any StoreSession, _ model: CompiledModel) throws {
        for (id, references) in Dictionary(grouping: references, by: \.targetEntity) {
            let entity = model.entities[id]
            let keys = Array(Set(references.map(\.target)))
            let found = Dictionary(
                zip(keys, try store.rows(withKeys: keys, of: entity)), uniquingKeysWith: { $1 })
            for reference in references {
                guard let key = found[reference.target] ?? nil else { continue }
                rows[reference] = StoredRow(table: entity.table, key: key)
            }
        }
    }

    /// The row with the key, whatever its entity; nil if there is none.
    subscript(reference: PendingReference) -> StoredRow? { rows[reference] }

    var all: some Sequence<StoredRow> { rows.values }
}

// MARK: - Awaited links

// Pages end where one payload would. There an id is of a row that comes later in the payload as well as of one that came
// before, and what a row says of its link is known before any reference of earlier syncs is looked at.
extension SyncTransaction {
    /// The link that a reference speaks for as a whole, if it is of a to-one relationship.
    func oneLink(of reference: PendingReference) -> PagedImportState.OneLink? {
        guard run != nil, let relationship = relationship(of: reference), !relationship.isToMany else { return nil }
        return .init(row: reference.owner, link: relationship.link, end: relationship.end)
    }

    /// A page says of a link that it leads to a row which is not there yet.
    mutating func addUnresolved(_ reference: PositionedReference) {
        if reference.position < 0, let link = oneLink(of: reference.reference) { run?.awaited.insert(link) }
    }

    /// The awaited row is there and has said that it is another's. It was the owner's until then, so that the owner lost
    /// the link it had before, and has none.
    mutating func unlinkIfPending(_ reference: PendingReference, _ arrived: ArrivedTargets) throws {
        guard let one = oneLink(of: reference), run?.awaited.contains(one) == true else { return }
        let target = try arrivedRow(reference, arrived)?.key
        let link = model[one.link]
        for other in try links.targets(of: one.row.key, one.link, from: one.end) where other != target {
            let otherRow = StoredRow(table: link.side(one.end.other).table, key: other)
            try unlink(one.end == .first ? one.row : otherRow, [one.link])
            if link.isSymmetric { try unlink(otherRow, [one.link]) }
        }
    }

    /// Keeps what a foreign key was before a reference that is older than the run set it.
    mutating func addResolvedLink(
        _ reference: PendingReference, _ link: CompiledAssociation, _ first: StoredRow, _ second: StoredRow
    ) throws {
        guard run != nil, link.storage == .foreignKey, !link.isSymmetric,
            oneLink(of: reference).map({ run?.awaited.contains($0) == true }) != true
        else { return }
        let before = try links.target(of: first.key, link.id)
        run?.late[.init(row: first, link: link.id, end: .first)] = .init(target: second.key, before: before)
    }

    /// A page says of a link that it leads to a row which is not there yet, and so not where an earlier page let it lead
    /// for what had been remembered before the run.
    mutating func revertResolvedLink(_ reference: PendingReference) throws {
        guard let one = oneLink(of: reference) else { return }
        let link = model[one.link]
        let holders =
            one.end == .first ? [one.row.key] : try links.targets(of: one.row.key, one.link, from: .second)
        for holder in holders {
            let first = StoredRow(table: link.first.table, key: holder)
            guard let late = run?.late.removeValue(forKey: .init(row: first, link: one.link, end: .first)),
                try links.target(of: first.key, one.link) == late.target
            else { continue }
            if let before = late.before {
                try setTarget(link, first, StoredRow(table: link.second.table, key: before))
            } else {
                try unlink(first, [one.link])
            }
        }
    }
}
