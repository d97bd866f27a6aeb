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
    package mutating func note(_ node: Int32, _ sequence: UInt32, deletes: Bool) {
        let index = Int(node)
        guard Int64(sequence) >= sequences[index] else { return }
        sequences[index] = Int64(sequence)
        deletions[index] = deletes
    }

    /// When the links of a row were last spoken for; ``LinkRule/never`` if they were not, or for no row of the payload.
    @inline(__always)
    package func sequence(of node: Int32) -> Int64 {
        node < 0 || sequences.isEmpty ? LinkRule.never : sequences[Int(node)]
    }

    /// Whether anything was said of all the links of a row.
    @inline(__always)
    package func speaks(of node: Int32) -> Bool { sequence(of: node) >= 0 }

    /// Whether the rows that the last statement leaves out go, rather than only their links.
    package func deletes(at node: Int32) -> Bool { node >= 0 && !deletions.isEmpty && deletions[Int(node)] }

    /// The rows that are spoken for.
    package var nodes: [Int] { sequences.indices.filter { sequences[$0] >= 0 } }
}
