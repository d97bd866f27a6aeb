import Testing

@testable import SyncStore

@Suite("Sorting of keys")
struct KeySorterTests {
    private static let lists: [[Int64]] = [
        [], [4], [1, 2, 3], [3, 1, 2], [5, 5, 1, 5], [.max, .min, 0], [-1, -3, 7, -3],
        (0..<5_000).map { $0 * 7_919 % 5_003 }, (0..<300).map { Int64.max - $0 * $0 },
        (0..<64).map { Int64(bitPattern: 1 << UInt64($0)) },
    ]

    @Test("Keys are sorted in ascending order, and equal keys keep their order", arguments: lists)
    func sortsStably(_ keys: [Int64]) {
        let expected = keys.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }
        let places = KeySorter.ascending(keys).map(Int.init)
        #expect(places == (expected == Array(keys.indices) ? [] : expected))
    }
}
