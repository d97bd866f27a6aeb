/// Where rows stand in the ordered lists that name them. What a row itself says of its owner does not move it.
struct ListPlaces {
    private var position: [Int32]
    private var owner: [Int32]
    private var sequence: [Int64]

    init(count: Int) {
        position = Array(repeating: -1, count: count)
        owner = Array(repeating: LinkTargets.none, count: count)
        sequence = Array(repeating: LinkRule.never, count: count)
    }

    /// Of several lists the last one counts, of several places in it the first.
    mutating func note(_ position: Int32, of child: Int, in owner: Int32, _ sequence: UInt32) {
        guard Int64(sequence) > self.sequence[child] else { return }
        self.sequence[child] = Int64(sequence)
        self.position[child] = position
        self.owner[child] = owner
    }

    /// The place of each row in the list of the row it is linked to; -1 for none.
    ///
    /// - Parameter spoken: When lists were given last: a place in an earlier one is none.
    func positions(in targets: [Int32], since spoken: SpokenEnd) -> [Int32] {
        position.indices.map { child in
            let isCurrent = owner[child] == targets[child] && sequence[child] >= spoken.sequence(of: targets[child])
            return isCurrent ? position[child] : -1
        }
    }
}
