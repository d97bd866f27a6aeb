/// Where rows stand in the ordered lists that name them. What a row itself says of its owner does not move it.
struct ListPlaces {
    private var position: [Int32]
    private var owner: [LinkTarget]
    private var sequence: [Int64]

    init(count: Int) {
        position = Array(repeating: -1, count: count)
        owner = Array(repeating: LinkTarget.nowhere, count: count)
        sequence = Array(repeating: LinkRule.never, count: count)
    }

    /// Of several lists the last one counts, of several places in it the first.
    mutating func note(_ position: Int32, of child: Int, in owner: NodeID, _ sequence: UInt32) {
        guard Int64(sequence) > self.sequence[child] else { return }
        self.sequence[child] = Int64(sequence)
        self.position[child] = position
        self.owner[child] = LinkTarget(owner)
    }

    /// The place of each row in the list of the row it is linked to; -1 for none.
    ///
    /// - Parameter spoken: When lists were given last: a place in an earlier one is none.
    func positions(in targets: [LinkTarget], since spoken: SpokenEnd) -> [Int32] {
        position.indices.map { child in
            let isCurrent = owner[child] == targets[child] && sequence[child] >= spoken.sequence(of: targets[child])
            return isCurrent ? position[child] : -1
        }
    }
}

extension Sequence<LinkBatch.Assertion> {
    /// Of the rows at an end whose lists name rows that are not there, the place after the last of those.
    package func awaitedPlaces(at end: Link.End) -> [NodeID: Int64] {
        var places: [NodeID: Int64] = [:]
        for assertion in self where assertion.saidBy == end && assertion.position >= 0 {
            let owner = end == .first ? assertion.first : assertion.second
            places[owner] = Swift.max(places[owner] ?? 0, Int64(assertion.position) + 1)
        }
        return places
    }
}
