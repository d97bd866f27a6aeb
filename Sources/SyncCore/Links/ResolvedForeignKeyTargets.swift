/// What a payload makes of a link that a row at its first end has one of at most: which row each of them leads to.
package struct ResolvedForeignKeyTargets: Sendable {
    /// By node of the first end: where it leads.
    package var nodes: [LinkTarget]
    /// Its place in the list of that one, -1 for none; empty if those are in no order.
    package private(set) var positions: [Int32] = []
    /// When the links of rows at the second end were last spoken for.
    package private(set) var second: ReplacedEnd
    /// References by id to rows that are not there.
    package private(set) var awaited: [LinkBatch.Assertion] = []

    /// - Parameter stored: What is stored, as in `nodes`.
    package init(_ statements: LinkAssertions, stored: [LinkTarget]) {
        let link = statements.link
        let first = statements.replacedEnd(.first)
        second = statements.replacedEnd(.second)
        if link.isOneToOne, second.isEmpty { second = ReplacedEnd(count: statements.count(.second)) }
        var places = link.second.isOrdered ? ListPositions(count: stored.count) : nil
        nodes = Array(repeating: .nowhere, count: stored.count)
        var said = Array(repeating: LinkRule.never, count: stored.count)
        var kept: [Pair: Int64] = [:]
        for assertion in statements.batch.assertions {
            let standing = statements.standing(assertion, awaiting: &awaited)
            if standing == .none { continue }
            let sequence = Int64(assertion.sequence)
            if standing == .keeps {
                kept[Pair(first: assertion.first, second: LinkTarget(assertion.second))] = sequence
                continue
            }
            // To link it speaks for its end, even if a later statement moves the link on.
            if link.isOneToOne { second.record(assertion.second, assertion.sequence, deletes: false) }
            let child = assertion.first.index
            if assertion.saidBy == .second, assertion.position >= 0 {
                places?.record(assertion.position, of: child, in: assertion.second, assertion.sequence)
            }
            if sequence >= said[child] {
                said[child] = sequence
                nodes[child] = LinkTarget(assertion.second)
            }
        }
        for child in nodes.indices {
            let node = NodeID(child)
            let cleared = first.sequence(of: node)
            let isSaid = said[child] >= 0 && said[child] >= cleared
            if !isSaid { nodes[child] = stored[child] }
            let target = nodes[child]
            let stands = LinkRule.stands(
                said: isSaid ? said[child] : LinkRule.never,
                kept: kept.isEmpty ? LinkRule.never : kept[Pair(first: node, second: target)] ?? LinkRule.never,
                first: cleared, second: second.sequence(of: target))
            if !stands { nodes[child] = .nowhere }
        }
        if let places { positions = places.positions(in: nodes, since: second) }
    }

    private struct Pair: Hashable {
        var first: NodeID
        var second: LinkTarget
    }
}

/// Where a row leads that has one link at most: to a node, to a stored row that is no node, or nowhere.
package struct LinkTarget: Hashable, Sendable {
    /// The node as it is stored, negative for none: other modules read it without a call.
    package let number: Int32

    /// Of a row that leads to none.
    package static let nowhere = LinkTarget(number: -1)
    /// Of a row that leads to a stored one of which the payload does not speak.
    package static let unmentioned = LinkTarget(number: -2)

    @inlinable package init(_ node: NodeID) { number = node.number }

    private init(number: Int32) { self.number = number }

    /// The node it leads to, if it is one.
    @inlinable package var node: NodeID? { number < 0 ? nil : NodeID(Int(number)) }

    // Other modules compare these at every row, where a synthesized operator is a call through the conformance.
    @inlinable
    package static func == (left: LinkTarget, right: LinkTarget) -> Bool { left.number == right.number }

    @inlinable
    package static func != (left: LinkTarget, right: LinkTarget) -> Bool { left.number != right.number }
}
