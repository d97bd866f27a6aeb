/// The seeds of a random test, limited by time.
package struct RandomSeeds: Sequence, Sendable {
    let name: String
    package let range: Range<Int>
    /// The number of seeds that it takes regardless of the time.
    let atLeast: Int
    /// The time after which it ends.
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
