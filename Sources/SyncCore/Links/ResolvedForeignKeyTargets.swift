/// The referenced row of each node at the first end of an association that is stored as a foreign key.
package struct ResolvedForeignKeyTargets: Sendable {
    /// The target of each node at the first end.
    package var nodes: [LinkTarget]
    /// The index of each node in its target's list in the payload, or -1; empty if the lists are not ordered.
    package private(set) var positions: [Int32] = []
    /// The last replacements at the second end.
    package private(set) var second: ReplacedEnd
    /// The effective references by ID to rows that are missing or of another entity.
    package private(set) var pending: [LinkBatch.Assertion] = []

    /// Applies the ``LinkRule`` to the assertions of an association.
    ///
    /// - Parameter stored: The stored targets, in the order of `nodes`.
    package init(_ statements: LinkAssertions, stored: [LinkTarget]) {
        let link = statements.link
        let first = statements.replacedEnd(.first)
        second = statements.replacedEnd(.second)
        if link.isOneToOne, second.isEmpty { second = ReplacedEnd(count: statements.count(.second)) }
        var listed = link.second.isOrdered ? ListPositions(count: stored.count) : nil
        nodes = Array(repeating: .nowhere, count: stored.count)
        var sequences = Array(repeating: LinkRule.never, count: stored.count)
        var preserved: [RowAndTarget: Int64] = [:]
        for assertion in statements.batch.assertions {
            let effect = statements.effect(of: assertion, pending: &pending)
            if effect == .none { continue }
            let sequence = Int64(assertion.sequence)
            if effect == .preserves {
                preserved[RowAndTarget(first: assertion.first, second: LinkTarget(assertion.second))] = sequence
                continue
            }
            // The assertion replaces the link of the referenced row, even if a later statement moves the link.
            if link.isOneToOne { second.record(assertion.second, assertion.sequence, deletes: false) }
            let child = assertion.first.index
            if assertion.assertedBy == .second, assertion.position >= 0 {
                listed?.record(assertion.position, of: child, in: assertion.second, assertion.sequence)
            }
            if sequence >= sequences[child] {
                sequences[child] = sequence
                nodes[child] = LinkTarget(assertion.second)
            }
        }
        for child in nodes.indices {
            let node = NodeID(child)
            let cleared = first.sequence(of: node)
            let isAsserted = sequences[child] >= 0 && sequences[child] >= cleared
            if !isAsserted { nodes[child] = stored[child] }
            let target = nodes[child]
            let holds = LinkRule.holds(
                asserted: isAsserted ? sequences[child] : LinkRule.never,
                preserved: preserved.isEmpty
                    ? LinkRule.never : preserved[RowAndTarget(first: node, second: target)] ?? LinkRule.never,
                firstReplaced: cleared, secondReplaced: second.sequence(of: target))
            if !holds { nodes[child] = .nowhere }
        }
        if let listed { positions = listed.positions(in: nodes, since: second) }
    }

    private struct RowAndTarget: Hashable {
        var first: NodeID
        var second: LinkTarget
    }
}

/// The target of a foreign key: a node, a row without a node, or none.
package struct LinkTarget: Hashable, Sendable {
    /// The number of the node; negative if the target is not a node. Other modules read this stored property without a
    /// call.
    package let number: Int32

    /// The target of a row without a link.
    package static let nowhere = LinkTarget(number: -1)
    /// A row without a node. In a dangling link, the row does not exist.
    package static let unmatched = LinkTarget(number: -2)

    @inlinable package init(_ node: NodeID) { number = node.number }

    private init(number: Int32) { self.number = number }

    /// The node of the target; nil if the target is not a node.
    @inlinable package var node: NodeID? { number < 0 ? nil : NodeID(Int(number)) }

    // Other modules compare targets for every row. A synthesized operator would be a call through the conformance.
    @inlinable
    package static func == (left: LinkTarget, right: LinkTarget) -> Bool { left.number == right.number }

    @inlinable
    package static func != (left: LinkTarget, right: LinkTarget) -> Bool { left.number != right.number }
}
