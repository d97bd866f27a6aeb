import Testing

@testable import SyncCore

@Suite("Hashes of records")
struct RecordHasherTests {
    private let hasher = RecordHasher(seed: RecordHash(low: 1, high: 2))

    private func hash(_ bytes: [UInt8], _ hasher: RecordHasher) -> RecordHash {
        bytes.withUnsafeBytes { hasher.hash($0) }
    }

    @Test("Every bit counts, in both halves", arguments: [1, 7, 8, 15, 16, 17, 31, 32, 33, 100])
    func bits(_ count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        var low: Set<UInt64> = [hash(bytes, hasher).low]
        var high: Set<UInt64> = [hash(bytes, hasher).high]
        for bit in 0..<(count * 8) {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            low.insert(hash(changed, hasher).low)
            high.insert(hash(changed, hasher).high)
        }
        #expect(low.count == count * 8 + 1)
        #expect(high.count == count * 8 + 1)
    }

    @Test("Zeros at the end count")
    func length() {
        let hashes = Set((0..<64).map { hash(Array(repeating: 0, count: $0), hasher) })
        #expect(hashes.count == 64)
    }

    @Test("Another seed gives other hashes, the same seed the same")
    func seeds() {
        let other = RecordHasher(seed: RecordHash(low: 1, high: 3))
        #expect(hash([1, 2, 3], hasher) != hash([1, 2, 3], other))
        #expect(hash([1, 2, 3], hasher) == hash([1, 2, 3], RecordHasher(seed: hasher.seed)))
        #expect(hasher.hash(5, at: 1) != hasher.hash(5, at: 2))
        #expect(hasher.hash(RowKey.text("5"), at: 1) != hasher.hash(RowKey.text("6"), at: 1))
    }
}
