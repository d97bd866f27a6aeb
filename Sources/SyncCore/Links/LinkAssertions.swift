/// What a payload states about one link, with what is known of the rows at its ends: what ``ResolvedForeignKeyTargets`` and
/// ``ResolvedJoinRows`` apply the ``LinkRule`` to.
package struct LinkAssertions: Sendable {
    /// The rows at one end.
    package struct Rows: Sendable {
        let presence: [RowState]
        /// The entity of each; empty where the table has one only.
        let entities: [Int32]

        package init(presence: [RowState], entities: [Int32]) {
            self.presence = presence
            self.entities = entities
        }

        package var count: Int { presence.count }
    }

    package let link: CompiledAssociation
    package let batch: LinkBatch
    private let model: CompiledModel
    private let records: EffectiveRecords
    private let first: Rows
    private let second: Rows
    private let checksEntities: Bool

    package init(
        _ batch: LinkBatch, of link: CompiledAssociation, in model: CompiledModel, _ records: EffectiveRecords,
        first: Rows,
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
    package func count(_ end: CompiledAssociation.End) -> Int { end == .first ? first.count : second.count }

    /// How far a statement counts: one about rows that are both there, or will be, and of the entities that the link is
    /// between. One that names by its id a row that is not is awaited.
    @inline(__always)
    func standing(
        _ assertion: LinkBatch.Assertion, awaiting awaited: inout [LinkBatch.Assertion]
    ) -> EffectiveRecords.Effect {
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
    private func fits(_ assertion: LinkBatch.Assertion, _ end: CompiledAssociation.End) -> Bool {
        let (node, rows) = end == .first ? (assertion.first, first) : (assertion.second, second)
        guard !rows.entities.isEmpty else { return true }
        let entity = Int(rows.entities[node.index])
        guard model.entity(entity, isKindOf: link.side(end).entity) else { return false }
        return assertion.kind(at: end).map { model.entity(entity, isKindOf: $0) } ?? true
    }

    /// Whether a reference names a row that is there, but is of another kind than it says.
    private func namesOther(_ assertion: LinkBatch.Assertion, _ end: CompiledAssociation.End) -> Bool {
        let (node, rows) = end == .first ? (assertion.first, first) : (assertion.second, second)
        return checksEntities && rows.presence[node.index] != .missing && !fits(assertion, end)
    }

    /// The pairs of stored or new rows that records which count say are linked, or list, whether or not they hold.
    package var stated: some Sequence<LinkBatch.Assertion> {
        batch.assertions.lazy.filter { records.standing($0) != .none && isPossible($0) }
    }

    // MARK: Ends

    /// When the links at an end were last replaced by records that count.
    package func replacedEnd(_ end: CompiledAssociation.End) -> ReplacedEnd {
        guard batch.replacements.contains(where: { $0.end == end }) else { return ReplacedEnd() }
        var spoken = ReplacedEnd(count: count(end))
        for replacement in batch.replacements where replacement.end == end && records.counts(replacement.mention) {
            spoken.record(replacement.node, replacement.sequence, deletes: replacement.kind == .delete)
        }
        return spoken
    }

    /// When either end was last spoken for in words: also by an id whose row is not there, which will hold once it is.
    package func replacedEndsWithPending() -> (first: ReplacedEnd, second: ReplacedEnd) {
        var claimed = (first: replacedEndWithPending(.first), second: replacedEndWithPending(.second))
        guard !link.first.isToMany || !link.second.isToMany else { return claimed }
        for assertion in batch.assertions where records.standing(assertion) == .full {
            // An object that was refused says nothing about the row it would have been.
            let saysBoth = assertion.isByID ? !namesOther(assertion, assertion.saidBy.other) : isPossible(assertion)
            if !link.first.isToMany, saysBoth || assertion.saidBy == .first {
                claimed.first.record(assertion.first, assertion.sequence, deletes: false)
            }
            if !link.second.isToMany, saysBoth || assertion.saidBy == .second {
                claimed.second.record(assertion.second, assertion.sequence, deletes: false)
            }
        }
        return claimed
    }

    /// With room for what is linked to it, if to be linked is to be spoken for.
    private func replacedEndWithPending(_ end: CompiledAssociation.End) -> ReplacedEnd {
        let spoken = replacedEnd(end)
        let makesRoom = spoken.isEmpty && !link.side(end).isToMany && !batch.assertions.isEmpty
        return makesRoom ? ReplacedEnd(count: count(end)) : spoken
    }
}

/// The one rule for links.
///
/// Every statement of a payload has its place in document order, its sequence. What is said of a link counts until one of
/// its ends is spoken for later: by a list, an id or null, which says what all the links of a row are. So a pair
///
/// - **holds** if it was said to be linked, and neither end was spoken for after that;
/// - **stays** as it is stored if neither end was spoken for at all;
/// - and is **gone** otherwise.
///
/// A list that may not link one of its rows, because the operations allow neither to insert nor to update it, keeps a pair
/// that is stored: that this very list speaks for its end is no reason against it. Rows at both ends may have such lists.
///
/// At an end that has one link at most, to be linked is to be spoken for.
package enum LinkRule {
    /// The sequence of what was not said.
    package static let never: Int64 = -1

    /// Whether a pair stands against what was said of its ends.
    ///
    /// - Parameters:
    ///   - said: When it was last said to be linked; ``never`` to ask whether a stored pair stays.
    ///   - kept: When a list last had it that may only keep it.
    ///   - first: When its first end was last spoken for, and its second.
    @inline(__always)
    package static func stands(said: Int64, kept: Int64, first: Int64, second: Int64) -> Bool {
        stands(said: said, keptByFirst: kept, keptBySecond: kept, first: first, second: second)
    }

    /// The same where each end may have a list that may only keep the pair.
    @inline(__always)
    static func stands(said: Int64, keptByFirst: Int64, keptBySecond: Int64, first: Int64, second: Int64) -> Bool {
        (first <= said || first == keptByFirst) && (second <= said || second == keptBySecond)
    }
}

/// Which records of a payload count: where operations are restricted or values required, not all of them do.
package struct EffectiveRecords: Sendable {
    /// How far a statement about a link counts.
    package enum Effect: Sendable {
        case none
        /// The link stays if it is stored: the child may be neither inserted nor updated.
        case keeps
        case full
    }

    private let mentions: [PayloadGraph.RecordOccurrence]
    /// By mention; empty where all count.
    package var counts: [Bool] = []

    package init(_ mentions: [PayloadGraph.RecordOccurrence]) { self.mentions = mentions }

    /// Whether what a record says counts; a mention of -1 is of a record that nobody asks about.
    @inline(__always)
    package func counts(_ mention: Int32) -> Bool { mention < 0 || counts.isEmpty || counts[Int(mention)] }

    /// How far a statement counts. That of a listed child is the child's own, but the list is of the record around it.
    @inline(__always)
    package func standing(_ assertion: LinkBatch.Assertion) -> Effect {
        if counts(assertion.mention) { return .full }
        guard assertion.isListed else { return .none }
        return counts(mentions[Int(assertion.mention)].parent) ? .keeps : .none
    }
}

/// How a row that the payload speaks of stands to the store.
package enum RowState: UInt8, Sendable {
    /// Not stored and not (or not yet) to be inserted.
    case missing
    case stored
    /// To be inserted.
    case new

    // Other modules compare these at every row, where a synthesized operator is a call through the conformance.
    @inlinable
    package static func == (left: RowState, right: RowState) -> Bool {
        unsafeBitCast(left, to: UInt8.self) == unsafeBitCast(right, to: UInt8.self)
    }

    @inlinable
    package static func != (left: RowState, right: RowState) -> Bool { !(left == right) }
}

/// When the links of rows at one end of a link were last spoken for as a whole, by node.
package struct ReplacedEnd: Sendable {
    /// The sequence of the last statement and one; 0 for none.
    private var sequences: [UInt32] = []
    private var deletions: [Bool] = []

    /// An end of which nobody speaks.
    package init() {}

    /// - Parameter count: How many rows there are at the end.
    package init(count: Int) {
        sequences = Array(repeating: 0, count: count)
        deletions = Array(repeating: false, count: count)
    }

    /// Whether it may speak of any row.
    package var isEmpty: Bool { sequences.isEmpty }

    /// Records a statement; the last one applies.
    package mutating func record(_ node: NodeID, _ sequence: UInt32, deletes: Bool) {
        let index = node.index
        guard sequence &+ 1 >= sequences[index] else { return }
        sequences[index] = sequence &+ 1
        deletions[index] = deletes
    }

    /// When the links of a row were last spoken for; ``LinkRule/never`` if they were not, or for no row of the payload.
    @inline(__always)
    package func sequence(of node: NodeID?) -> Int64 {
        guard let node, !sequences.isEmpty else { return LinkRule.never }
        return Int64(sequences[node.index]) - 1
    }

    @inline(__always)
    package func sequence(of target: LinkTarget) -> Int64 {
        target.number < 0 || sequences.isEmpty ? LinkRule.never : Int64(sequences[Int(target.number)]) - 1
    }

    /// Whether anything was said of all the links of a row.
    @inline(__always)
    package func speaks(of node: NodeID?) -> Bool { sequence(of: node) >= 0 }

    @inline(__always)
    package func speaks(of target: LinkTarget) -> Bool { sequence(of: target) >= 0 }

    /// Whether the rows that the last statement leaves out go, rather than only their links.
    package func deletes(at node: NodeID?) -> Bool {
        guard let node, !deletions.isEmpty else { return false }
        return deletions[node.index]
    }

    /// The rows that are spoken for.
    package var nodes: [NodeID] { sequences.indices.lazy.filter { sequences[$0] > 0 }.map { NodeID($0) } }
}
