/// The seeds of a random test, as many as its time allows.
package struct RandomSeeds: Sequence, Sendable {
    let name: String
    package let range: Range<Int>
    /// How many it takes, however long that is.
    let atLeast: Int
    /// When it takes no more.
    let end: ContinuousClock.Instant?

    package struct Iterator: IteratorProtocol {
        let seeds: RandomSeeds
        private var upcoming: Int

        init(_ seeds: RandomSeeds) { (self.seeds, upcoming) = (seeds, seeds.range.lowerBound) }

        package mutating func next() -> Int? {
            let range = seeds.range
            guard upcoming < range.upperBound else { return nil }
            if let end = seeds.end, upcoming - range.lowerBound >= seeds.atLeast, ContinuousClock.now > end {
                print("\(seeds.name): time is over after the seeds \(range.lowerBound)..<\(upcoming) of \(range)")
                return nil
            }
            defer { upcoming += 1 }
            return upcoming
        }
    }

    package func makeIterator() -> Iterator { Iterator(self) }
}
