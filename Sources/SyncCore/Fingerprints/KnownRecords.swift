/// The records of an earlier payload that need not be read again, met by walking through a new one once.
///
/// They are likely to come in the order they came in: the next record is guessed to be the next known one, so that its
/// end need not be looked for.
package final class KnownRecords {
    package let hasher: RecordHasher
    private let hashes: [RecordHash]
    private let lengths: [UInt32]
    /// Those that must be read nevertheless.
    package private(set) var isStaged: [Bool]
    /// How often each was met in this walk.
    package private(set) var uses: [Int32]
    /// How many different ones were met in this walk.
    package private(set) var usedCount = 0
    private var next = 0
    /// Index + 1 by hash, 0 where free; made when a guess first fails.
    private var places: [Int32] = []

    package init(_ hashes: [RecordHash], lengths: [UInt32], hasher: RecordHasher) {
        self.hasher = hasher
        self.hashes = hashes
        self.lengths = lengths
        isStaged = Array(repeating: false, count: hashes.count)
        uses = Array(repeating: 0, count: hashes.count)
    }

    package var count: Int { hashes.count }

    /// Has a record read from now on.
    package func stage(_ index: Int) { isStaged[index] = true }

    // MARK: Meeting

    /// The length of the record that begins here, if it is known; it counts as met.
    func length(of bytes: UnsafeBufferPointer<UInt8>, at position: Int) -> Int? {
        guard !hashes.isEmpty, position < bytes.count, bytes[position] == .openBrace else { return nil }
        guard let index = guess(bytes, position) ?? find(bytes, position) else {
            next += 1
            return nil
        }
        next = index + 1
        guard !isStaged[index] else { return nil }
        if uses[index] == 0 { usedCount += 1 }
        uses[index] += 1
        return Int(lengths[index])
    }

    private func guess(_ bytes: UnsafeBufferPointer<UInt8>, _ position: Int) -> Int? {
        if isKnown(next, bytes, position) { return next }
        if isKnown(next + 1, bytes, position) { return next + 1 }
        return isKnown(next - 1, bytes, position) ? next - 1 : nil
    }

    private func isKnown(_ index: Int, _ bytes: UnsafeBufferPointer<UInt8>, _ position: Int) -> Bool {
        guard index >= 0, index < hashes.count else { return false }
        let end = position + Int(lengths[index])
        return end <= bytes.count && bytes[end - 1] == .closeBrace && hash(bytes, position, end) == hashes[index]
    }

    private func find(_ bytes: UnsafeBufferPointer<UInt8>, _ position: Int) -> Int? {
        guard let end = RecordBoundary.end(of: bytes, from: position) else { return nil }
        let hash = hash(bytes, position, end)
        if places.isEmpty { indexHashes() }
        var place = Int(truncatingIfNeeded: hash.low) & (places.count - 1)
        while places[place] != 0 {
            let index = Int(places[place]) - 1
            if hashes[index] == hash, Int(lengths[index]) == end - position { return index }
            place = (place + 1) & (places.count - 1)
        }
        return nil
    }

    private func indexHashes() {
        var capacity = 16
        while capacity < hashes.count * 2 { capacity *= 2 }
        places = Array(repeating: 0, count: capacity)
        for index in hashes.indices {
            var place = Int(truncatingIfNeeded: hashes[index].low) & (capacity - 1)
            while places[place] != 0 { place = (place + 1) & (capacity - 1) }
            places[place] = Int32(truncatingIfNeeded: index + 1)
        }
    }

    func hash(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> RecordHash {
        hasher.hash(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[start..<end])))
    }
}
