import SyncCore

// Several references of a paged import may set one link to rows that are not stored yet. In one payload, the last one
// whose row comes with the payload applies. A paged import must end with the same links. It therefore keeps a replaced
// reference until its row or that of a later one arrives, or a record sets the link.
extension SyncTransaction {
    /// Returns the references that earlier pages replaced.
    func earlierReplacedReferences() -> ReplacedReferences {
        var replaced = ReplacedReferences()
        for earlier in pagedImport?.replacedReferences ?? [] {
            guard let relationship = model[earlier.link.link].side(earlier.link.end).relationship else { continue }
            let reference = PendingReference(
                owner: earlier.link.row, ownerEntity: earlier.ownerEntity, relationship: relationship.name,
                targetEntity: earlier.targetEntity, target: earlier.target)
            replaced.entries.append(.init(reference: reference, link: earlier.link, links: earlier.links))
        }
        return replaced
    }

    /// Keeps a stored reference that this page replaces, if an earlier page stated it.
    func addReplaced(_ reference: PendingReference, to replaced: inout ReplacedReferences) {
        guard let link = oneLink(of: reference), isOfImport(reference) else { return }
        replaced.entries.append(.init(reference: reference, link: link))
    }

    /// Records that a reference decides the links at both of its ends, because its row has arrived.
    func addDecided(_ reference: PendingReference, to replaced: inout ReplacedReferences) {
        guard !replaced.entries.isEmpty, let link = oneLink(of: reference) else { return }
        replaced.decided.insert(link)
        if let target = referencedRow(reference, link.link, link.end.other) { replaced.taken.insert(target) }
    }

    /// Returns whether the links of the referenced row were replaced. A reference to a row that is not stored does not
    /// replace a reference of the same import to a row that has arrived.
    func isTargetReplaced(
        _ reference: PendingReference, _ target: StoredRow?, _ replacedEnds: ReplacedEnds,
        _ replaced: inout ReplacedReferences
    ) -> Bool {
        guard isTargetReplaced(reference, target, replacedEnds) else { return false }
        guard target != nil, isOfImport(reference) else { return true }
        return isTargetReplaced(reference, target, effectiveEnds(&replaced))
    }

    /// Returns the replacements by statements about rows that are stored.
    private func effectiveEnds(_ replaced: inout ReplacedReferences) -> ReplacedEnds {
        if let known = replaced.effectiveEnds { return known }
        let ends = ReplacedEnds(model.links.map { statements(of: $0.id).replacedEnds(countsPending: false) })
        replaced.effectiveEnds = ends
        return ends
    }

    /// Applies the replaced references whose rows have arrived, and keeps the others for later pages.
    mutating func resolve(
        _ replaced: inout ReplacedReferences, _ requested: RequestedReferences, _ arrived: ArrivedTargets,
        _ linked: inout Set<PagedImportState.ToOneLink>
    ) throws {
        guard !replaced.entries.isEmpty || !requested.replaced.isEmpty else { return }
        let effective = effectiveEnds(&replaced)
        for index in replaced.entries.indices {
            let reference = replaced.entries[index].reference
            if isOwnerReplaced(reference, effective) { replaced.entries[index].isDecided = true }
        }
        addReplaced(requested, effective, to: &replaced)
        let applied = try replaced.take { entry in
            if requested.index(of: entry.reference) != nil { return .repeated }
            return try arrivedRow(entry.reference, arrived) == nil ? .missing : .arrived
        } target: {
            referencedRow($0.reference, $0.link.link, $0.link.end.other)
        }
        pagedImport?.replacedReferences = replaced.entries.map {
            .init(
                link: $0.link, ownerEntity: $0.reference.ownerEntity, target: $0.reference.target,
                targetEntity: $0.reference.targetEntity, links: $0.links)
        }
        for entry in applied { try apply(entry, effective, arrived, &linked) }
    }

    /// Adds the references of this page that later statements of the page replace.
    private func addReplaced(
        _ requested: RequestedReferences, _ effective: ReplacedEnds, to replaced: inout ReplacedReferences
    ) {
        for (id, assertion) in requested.replaced.sorted(by: { $0.assertion.sequence < $1.assertion.sequence }) {
            guard let reference = pendingReference(assertion, model[id]), let link = oneLink(of: reference) else {
                continue
            }
            // In a symmetric association, the end can differ from that of the relationship.
            let owner = assertion.ends(from: assertion.assertedBy).owner
            let isDecided = Int64(assertion.sequence) < effective[id, assertion.assertedBy].sequence(of: owner)
            replaced.entries.append(.init(reference: reference, link: link, isDecided: isDecided))
        }
    }

    private mutating func apply(
        _ entry: ReplacedReferences.Entry, _ effective: ReplacedEnds, _ arrived: ArrivedTargets,
        _ linked: inout Set<PagedImportState.ToOneLink>
    ) throws {
        guard let target = try arrivedRow(entry.reference, arrived) else { return }
        pagedImport?.pendingLinks.insert(entry.link)
        if !entry.links || isTargetReplaced(entry.reference, target, effective) {
            try unlinkIfPending(entry.reference, arrived)
        } else if try !hasOwnLink(target, entry.reference, linked) {
            try link(entry.reference, to: target, at: -1)
            if let made = targetLink(target, entry.reference) { linked.insert(made) }
        }
    }
}

/// The to-one references of a paged import that later references to rows that are not stored replaced, in document
/// order.
struct ReplacedReferences {
    struct Entry {
        let reference: PendingReference
        let link: PagedImportState.ToOneLink
        /// Whether the reference links the rows when its row arrives. Otherwise it only removes the earlier link of its
        /// owner, because another reference took the row, and a record then decided the link of that owner.
        var links = true
        /// Whether a later record decides the link of the owner.
        var isDecided = false
    }

    /// The row that a reference needs.
    enum Row { case missing, arrived, repeated }

    var entries: [Entry] = []
    /// The links that later references decided, because their rows arrived.
    var decided: Set<PagedImportState.ToOneLink> = []
    /// The rows that later references took.
    var taken: Set<PagedImportState.ReferencedRow> = []
    /// The replacements by statements about rows that are stored; nil before they are needed.
    var effectiveEnds: ReplacedEnds?

    /// Removes the entries that no longer matter, and returns those whose rows have arrived.
    mutating func take(
        _ row: (Entry) throws -> Row, target: (Entry) -> PagedImportState.ReferencedRow?
    ) rethrows -> [Entry] {
        var (kept, applied): ([Entry], [Entry]) = ([], [])
        for var entry in entries.reversed() {
            let target = target(entry)
            if let target, taken.contains(target) { entry.links = false }
            let found = try row(entry)
            if found == .repeated { continue }
            let isOver = entry.isDecided || decided.contains(entry.link)
            if !isOver, found == .missing {
                kept.append(entry)
                continue
            }
            if let target { taken.insert(target) }
            guard !isOver else { continue }
            decided.insert(entry.link)
            applied.append(entry)
        }
        entries = kept.reversed()
        return applied.reversed()
    }
}
