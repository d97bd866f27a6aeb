/// What a payload states about one link, with what is known of the rows at its ends: what ``LinkTargets`` and
/// ``LinkPairs`` apply the ``LinkRule`` to.
package struct LinkStatements: Sendable {
    /// The rows at one end.
    package struct Rows: Sendable {
        let presence: [RowPresence]
        /// The entity of each; empty where the table has one only.
        let entities: [Int32]

        package init(presence: [RowPresence], entities: [Int32]) {
            self.presence = presence
            self.entities = entities
        }

        package var count: Int { presence.count }
    }

    package let link: Link
    package let batch: LinkBatch
    private let model: CompiledModel
    private let records: CountingRecords
    private let first: Rows
    private let second: Rows
    private let checksEntities: Bool

    package init(
        _ batch: LinkBatch, of link: Link, in model: CompiledModel, _ records: CountingRecords, first: Rows,
        second: Rows
    ) {
        self.batch = batch
        self.link = link
        self.model = model
        self.records = records
        self.first = first
        self.second = second
        checksEntities = !first.entities.isEmpty || !second.entities.isEmpty
    }

    /// How many rows the payload has of an end's table.
    package func count(_ end: Link.End) -> Int { end == .first ? first.count : second.count }

    /// How far a statement counts: one about rows that are both there, or will be, and of the entities that the link is
    /// between. One that names by its id a row that is not is awaited.
    @inline(__always)
    func standing(
        _ assertion: LinkBatch.Assertion, awaiting awaited: inout [LinkBatch.Assertion]
    ) -> CountingRecords.Standing {
        let standing = records.standing(assertion)
        if standing == .none || isPossible(assertion) { return standing }
        if assertion.isByID { awaited.append(assertion) }
        return .none
    }

    @inline(__always)
    private func isPossible(_ assertion: LinkBatch.Assertion) -> Bool {
        first.presence[assertion.first.index] != .missing && second.presence[assertion.second.index] != .missing
            && (!checksEntities || fits(assertion, .first) && fits(assertion, .second))
    }

    /// Whether the row at an end is of an entity that the link leads to, and of the kind that the statement names.
    private func fits(_ assertion: LinkBatch.Assertion, _ end: Link.End) -> Bool {
        let (node, rows) = end == .first ? (assertion.first, first) : (assertion.second, second)
        guard !rows.entities.isEmpty else { return true }
        let entity = Int(rows.entities[node.index])
        guard model.entity(entity, isKindOf: link.side(end).entity) else { return false }
        return assertion.kind(at: end).map { model.entity(entity, isKindOf: $0) } ?? true
    }

    /// Whether a reference names a row that is there, but is of another kind than it says.
    private func namesOther(_ assertion: LinkBatch.Assertion, _ end: Link.End) -> Bool {
        let (node, rows) = end == .first ? (assertion.first, first) : (assertion.second, second)
        return checksEntities && rows.presence[node.index] != .missing && !fits(assertion, end)
    }

    /// The pairs of stored or new rows that records which count say are linked, or list, whether or not they hold.
    package var stated: some Sequence<LinkBatch.Assertion> {
        batch.assertions.lazy.filter { records.standing($0) != .none && isPossible($0) }
    }

    // MARK: Ends

    /// When the links at an end were last replaced by records that count.
    package func spokenEnd(_ end: Link.End) -> SpokenEnd {
        guard batch.replacements.contains(where: { $0.end == end }) else { return SpokenEnd() }
        var spoken = SpokenEnd(count: count(end))
        for replacement in batch.replacements where replacement.end == end && records.counts(replacement.mention) {
            spoken.note(replacement.node, replacement.sequence, deletes: replacement.kind == .delete)
        }
        return spoken
    }

    /// When either end was last spoken for in words: also by an id whose row is not there, which will hold once it is.
    package func claimedEnds() -> (first: SpokenEnd, second: SpokenEnd) {
        var claimed = (first: claimedEnd(.first), second: claimedEnd(.second))
        guard !link.first.isToMany || !link.second.isToMany else { return claimed }
        for assertion in batch.assertions where records.standing(assertion) == .full {
            // An object that was refused says nothing about the row it would have been.
            let saysBoth = assertion.isByID ? !namesOther(assertion, assertion.saidBy.other) : isPossible(assertion)
            if !link.first.isToMany, saysBoth || assertion.saidBy == .first {
                claimed.first.note(assertion.first, assertion.sequence, deletes: false)
            }
            if !link.second.isToMany, saysBoth || assertion.saidBy == .second {
                claimed.second.note(assertion.second, assertion.sequence, deletes: false)
            }
        }
        return claimed
    }

    /// With room for what is linked to it, if to be linked is to be spoken for.
    private func claimedEnd(_ end: Link.End) -> SpokenEnd {
        let spoken = spokenEnd(end)
        let makesRoom = spoken.isEmpty && !link.side(end).isToMany && !batch.assertions.isEmpty
        return makesRoom ? SpokenEnd(count: count(end)) : spoken
    }
}
