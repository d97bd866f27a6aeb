/// The link assertions of one association, with the state of the rows at its ends.
///
/// ``ResolvedForeignKeyTargets`` and ``ResolvedJoinRows`` apply the ``LinkRule`` to them.
package struct LinkAssertions: Sendable {
    /// The rows of the nodes at one end.
    package struct Rows: Sendable {
        let states: [RowState]
        /// The entity of each row; empty if the table has only one entity.
        let entities: [Int32]

        package init(states: [RowState], entities: [Int32]) {
            self.states = states
            self.entities = entities
        }

        package var count: Int { states.count }
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

    /// Returns the number of nodes of an end's table.
    package func count(_ end: CompiledAssociation.End) -> Int { end == .first ? first.count : second.count }

    /// Returns the effect of a link assertion.
    ///
    /// An assertion has an effect only if both rows are stored or new, and of the entities that the association and the
    /// assertion state. An effective assertion by ID that fails this test is appended to `pending`, because its row can
    /// still arrive.
    @inline(__always)
    func effect(
        of assertion: LinkBatch.Assertion, pending: inout [LinkBatch.Assertion]
    ) -> EffectiveRecords.Effect {
        let effect = records.effect(of: assertion)
        if effect == .none || isPossible(assertion) { return effect }
        if assertion.isByID { pending.append(assertion) }
        return .none
    }

    @inline(__always)
    private func isPossible(_ assertion: LinkBatch.Assertion) -> Bool {
        first.states[assertion.first.index] != .missing && second.states[assertion.second.index] != .missing
            && (!checksEntities || fits(assertion, .first) && fits(assertion, .second))
    }

    /// Returns whether the row at an end has the entity of the association, and the entity that the assertion states.
    private func fits(_ assertion: LinkBatch.Assertion, _ end: CompiledAssociation.End) -> Bool {
        let (node, rows) = end == .first ? (assertion.first, first) : (assertion.second, second)
        guard !rows.entities.isEmpty else { return true }
        let entity = Int(rows.entities[node.index])
        guard model.entity(entity, isKindOf: link.side(end).entity) else { return false }
        return assertion.kind(at: end).map { model.entity(entity, isKindOf: $0) } ?? true
    }

    /// Returns whether the row at an end is stored or new, but of another entity than the association or the assertion
    /// requires.
    private func namesOtherEntity(_ assertion: LinkBatch.Assertion, _ end: CompiledAssociation.End) -> Bool {
        let (node, rows) = end == .first ? (assertion.first, first) : (assertion.second, second)
        return checksEntities && rows.states[node.index] != .missing && !fits(assertion, end)
    }

    /// The assertions that have an effect. Later statements can remove the asserted links again.
    package var stated: some Sequence<LinkBatch.Assertion> {
        batch.assertions.lazy.filter { records.effect(of: $0) != .none && isPossible($0) }
    }

    // MARK: Ends

    /// Returns the last replacement of each node's links at an end, by effective records.
    package func replacedEnd(_ end: CompiledAssociation.End) -> ReplacedEnd {
        guard batch.replacements.contains(where: { $0.end == end }) else { return ReplacedEnd() }
        var replaced = ReplacedEnd(count: count(end))
        for replacement in batch.replacements
        where replacement.end == end && records.isEffective(replacement.occurrence) {
            replaced.record(replacement.node, replacement.sequence, deletes: replacement.kind == .delete)
        }
        return replaced
    }

    /// Returns the last replacement of each node's links at both ends. At a to-one end, each effective assertion is a
    /// replacement too.
    ///
    /// - Parameter countsPending: Whether assertions that reference a missing row by ID count.
    package func replacedEnds(countsPending: Bool) -> (first: ReplacedEnd, second: ReplacedEnd) {
        var ends = (first: replacedEndWithAssertions(.first), second: replacedEndWithAssertions(.second))
        guard !link.isManyToMany else { return ends }
        for assertion in batch.assertions where records.effect(of: assertion) == .full {
            guard countsPending || isPossible(assertion) else { continue }
            // If the target is missing or of the wrong entity, the assertion replaces only the links of the row that
            // asserts it.
            let saysBoth =
                assertion.isByID ? !namesOtherEntity(assertion, assertion.assertedBy.other) : isPossible(assertion)
            if !link.first.isToMany, saysBoth || assertion.assertedBy == .first {
                ends.first.record(assertion.first, assertion.sequence, deletes: false)
            }
            if !link.second.isToMany, saysBoth || assertion.assertedBy == .second {
                ends.second.record(assertion.second, assertion.sequence, deletes: false)
            }
        }
        return ends
    }

    /// Returns the replacements at an end, with room for those by assertions if the end is to-one.
    private func replacedEndWithAssertions(_ end: CompiledAssociation.End) -> ReplacedEnd {
        let replaced = replacedEnd(end)
        let makesRoom = replaced.isEmpty && !link.side(end).isToMany && !batch.assertions.isEmpty
        return makesRoom ? ReplacedEnd(count: count(end)) : replaced
    }
}

/// The rule that decides which links hold.
///
/// Every statement of a payload has a sequence number in document order. A link assertion applies until a later
/// statement replaces all links of the row at one of its ends. A link therefore
///
/// - **holds** if the payload asserts it and replaces neither end after that;
/// - **stays** as stored if the payload replaces neither end;
/// - is **removed** otherwise.
///
/// If a listed record is not effective, the list preserves a stored link to the row of that record. The list still
/// replaces the other links. Both ends can have such lists.
///
/// At a to-one end, a link assertion also replaces the earlier link.
package enum LinkRule {
    /// The sequence number of a statement that the payload does not make.
    package static let never: Int64 = -1

    /// Returns whether a link holds or stays.
    ///
    /// - Parameters:
    ///   - asserted: The sequence number of the last assertion of the link; ``never`` to test whether a stored link
    ///     stays.
    ///   - preserved: The sequence number of the last list that preserves a stored link; ``never`` if there is none.
    ///   - firstReplaced: The sequence number of the last replacement at the first end; ``never`` if there is none.
    ///   - secondReplaced: The sequence number of the last replacement at the second end; ``never`` if there is none.
    @inline(__always)
    package static func holds(asserted: Int64, preserved: Int64, firstReplaced: Int64, secondReplaced: Int64) -> Bool {
        holds(
            asserted: asserted, preservedByFirst: preserved, preservedBySecond: preserved, firstReplaced: firstReplaced,
            secondReplaced: secondReplaced)
    }

    /// Returns whether a link holds or stays, given the last list at each end that preserves a stored link.
    @inline(__always)
    static func holds(
        asserted: Int64, preservedByFirst: Int64, preservedBySecond: Int64, firstReplaced: Int64, secondReplaced: Int64
    ) -> Bool {
        (firstReplaced <= asserted || firstReplaced == preservedByFirst)
            && (secondReplaced <= asserted || secondReplaced == preservedBySecond)
    }
}

/// The effective records of a payload. If operations are restricted, or the store can reject records, some records may
/// not be effective.
package struct EffectiveRecords: Sendable {
    /// The effect of a link assertion.
    package enum Effect: Sendable {
        case none
        /// A stored link stays, but no link is inserted, because the listed record is not effective.
        case preserves
        case full
    }

    private let occurrences: [PayloadGraph.RecordOccurrence]
    /// Whether each occurrence is effective; empty if all are.
    package var effectiveOccurrences: [Bool] = []

    package init(_ occurrences: [PayloadGraph.RecordOccurrence]) { self.occurrences = occurrences }

    /// Returns whether a record is effective. An occurrence of -1 is not tracked, so it is always effective.
    @inline(__always)
    package func isEffective(_ occurrence: Int32) -> Bool {
        occurrence < 0 || effectiveOccurrences.isEmpty || effectiveOccurrences[Int(occurrence)]
    }

    /// Returns the effect of a link assertion. If its occurrence is a listed record that is not effective, the
    /// enclosing record decides whether a stored link stays.
    @inline(__always)
    package func effect(of assertion: LinkBatch.Assertion) -> Effect {
        if isEffective(assertion.occurrence) { return .full }
        guard assertion.isListed else { return .none }
        return isEffective(occurrences[Int(assertion.occurrence)].parent) ? .preserves : .none
    }
}

/// The state of a node's row in the store.
package enum RowState: UInt8, Sendable {
    /// Not stored. The sync does not insert the row, or has not yet decided to.
    case missing
    case stored
    /// To be inserted.
    case new

    // Other modules compare states for every row. A synthesized operator would be a call through the conformance.
    @inlinable
    package static func == (left: RowState, right: RowState) -> Bool {
        unsafeBitCast(left, to: UInt8.self) == unsafeBitCast(right, to: UInt8.self)
    }

    @inlinable
    package static func != (left: RowState, right: RowState) -> Bool { !(left == right) }
}

/// The last replacement of each node's links at one end of an association, as sequence numbers.
package struct ReplacedEnd: Sendable {
    /// The sequence number of the last replacement plus 1; 0 if there is none.
    private var sequences: [UInt32] = []
    private var deletions: [Bool] = []

    /// Creates an end without replacements, which cannot record any.
    package init() {}

    /// Creates an end that can record replacements.
    ///
    /// - Parameter count: The number of nodes at the end.
    package init(count: Int) {
        sequences = Array(repeating: 0, count: count)
        deletions = Array(repeating: false, count: count)
    }

    /// Whether the end cannot record replacements, so that no links are replaced.
    package var isEmpty: Bool { sequences.isEmpty }

    /// Records a replacement of a node's links. The replacement with the highest sequence number applies.
    package mutating func record(_ node: NodeID, _ sequence: UInt32, deletes: Bool) {
        let index = node.index
        guard sequence &+ 1 >= sequences[index] else { return }
        sequences[index] = sequence &+ 1
        deletions[index] = deletes
    }

    /// Returns the sequence number of the last replacement of a node's links; ``LinkRule/never`` if there is none or if
    /// `node` is nil.
    @inline(__always)
    package func sequence(of node: NodeID?) -> Int64 {
        guard let node, !sequences.isEmpty else { return LinkRule.never }
        return Int64(sequences[node.index]) - 1
    }

    @inline(__always)
    package func sequence(of target: LinkTarget) -> Int64 {
        target.number < 0 || sequences.isEmpty ? LinkRule.never : Int64(sequences[Int(target.number)]) - 1
    }

    /// Returns whether the links of a row were replaced.
    @inline(__always)
    package func isReplaced(_ node: NodeID?) -> Bool { sequence(of: node) >= 0 }

    @inline(__always)
    package func isReplaced(_ target: LinkTarget) -> Bool { sequence(of: target) >= 0 }

    /// Returns whether the last replacement deletes the rows that it omits, instead of unlinking them.
    package func deletes(at node: NodeID?) -> Bool {
        guard let node, !deletions.isEmpty else { return false }
        return deletions[node.index]
    }

    /// The nodes whose links were replaced.
    package var nodes: [NodeID] { sequences.indices.lazy.filter { sequences[$0] > 0 }.map { NodeID($0) } }
}
