/// When the links of rows at one end of a link were last spoken for as a whole, by node.
package struct SpokenEnd: Sendable {
    private var sequences: [Int64] = []
    private var deletions: [Bool] = []

    /// An end of which nobody speaks.
    package init() {}

    /// - Parameter count: How many rows there are at the end.
    package init(count: Int) {
        sequences = Array(repeating: LinkRule.never, count: count)
        deletions = Array(repeating: false, count: count)
    }

    /// Whether it may speak of any row.
    package var isEmpty: Bool { sequences.isEmpty }

    /// Notes a statement; the last one counts.
    package mutating func note(_ node: NodeID, _ sequence: UInt32, deletes: Bool) {
        let index = node.index
        guard Int64(sequence) >= sequences[index] else { return }
        sequences[index] = Int64(sequence)
        deletions[index] = deletes
    }

    /// When the links of a row were last spoken for; ``LinkRule/never`` if they were not, or for no row of the payload.
    @inline(__always)
    package func sequence(of node: NodeID?) -> Int64 {
        guard let node, !sequences.isEmpty else { return LinkRule.never }
        return sequences[node.index]
    }

    @inline(__always)
    package func sequence(of target: LinkTarget) -> Int64 {
        target.number < 0 || sequences.isEmpty ? LinkRule.never : sequences[Int(target.number)]
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
    package var nodes: [NodeID] { sequences.indices.lazy.filter { sequences[$0] >= 0 }.map { NodeID($0) } }
}
