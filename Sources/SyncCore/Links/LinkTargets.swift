/// What a payload makes of a link that a row at its first end has one of at most: which row each of them leads to.
package struct LinkTargets: Sendable {
    /// By node of the first end: where it leads.
    package var nodes: [LinkTarget]
    /// Its place in the list of that one, -1 for none; empty if those are in no order.
    package private(set) var positions: [Int32] = []
    /// When the links of rows at the second end were last spoken for.
    package private(set) var second: SpokenEnd
    /// References by id to rows that are not there.
    package private(set) var awaited: [LinkBatch.Assertion] = []

    /// - Parameter stored: What is stored, as in `nodes`.
    package init(_ statements: LinkStatements, stored: [LinkTarget]) {
        let link = statements.link
        let first = statements.spokenEnd(.first)
        second = statements.spokenEnd(.second)
        if link.isOneToOne, second.isEmpty { second = SpokenEnd(count: statements.count(.second)) }
        var places = link.second.isOrdered ? ListPlaces(count: stored.count) : nil
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
            if link.isOneToOne { second.note(assertion.second, assertion.sequence, deletes: false) }
            let child = assertion.first.index
            if assertion.saidBy == .second, assertion.position >= 0 {
                places?.note(assertion.position, of: child, in: assertion.second, assertion.sequence)
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
