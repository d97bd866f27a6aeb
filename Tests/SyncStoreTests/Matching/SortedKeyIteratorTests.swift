import Testing

@testable import SyncStore

@Suite("Nodes in the order of their keys")
struct SortedKeyIteratorTests {
    private static let lists: [[Int64]] = [
        [], [4], [1, 2, 3], [3, 1, 2], [.max, .min, 0], (0..<5_000).map { $0 * 7_919 % 5_003 },
        (0..<64).map { Int64(bitPattern: 1 << UInt64($0)) },
    ]

    @Test("Stored rows in key order find their nodes, and other rows find none", arguments: lists)
    func findsNodesInKeyOrder(_ keys: [Int64]) {
        var cursor = SortedKeyIterator(keys)
        let rows = Set(keys.flatMap { [$0, $0 == .max ? $0 : $0 + 1] }).sorted()
        for row in rows {
            let node = cursor.node(for: row)
            #expect(node == keys.firstIndex(of: row))
        }
    }

    @Test("The next nodes in key order are known if the nodes have another order")
    func looksAhead() {
        var cursor = SortedKeyIterator([30, 10, 20])
        #expect((0..<4).map { cursor.node(ahead: $0) } == [1, 2, 0, nil])
        #expect(cursor.node(for: 20) == 2 && cursor.node(ahead: 0) == 2 && cursor.node(ahead: 1) == 0)
        #expect(SortedKeyIterator([1, 2]).node(ahead: 0) == nil)
    }
}
