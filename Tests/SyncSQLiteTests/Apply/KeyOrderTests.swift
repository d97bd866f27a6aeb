import Testing

@testable import SyncSQLite

@Suite("Nodes in the order of their keys")
struct KeyOrderTests {
    private static let lists: [[Int64]] = [
        [], [4], [1, 2, 3], [3, 1, 2], [5, 5, 1, 5], [.max, .min, 0], [-1, -3, 7, -3],
        (0..<5_000).map { $0 * 7_919 % 5_003 }, (0..<300).map { Int64.max - $0 * $0 },
        (0..<64).map { Int64(bitPattern: 1 << UInt64($0)) },
    ]

    @Test("is ascending, and leaves equal keys as they come", arguments: lists)
    func ascending(_ keys: [Int64]) {
        let expected = keys.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }
        let places = KeyOrder.ascending(keys).map(Int.init)
        #expect(places == (expected == Array(keys.indices) ? [] : expected))
    }

    @Test(
        "meets the rows that are there, and passes over the others",
        arguments: lists.filter { Set($0).count == $0.count })
    func met(_ keys: [Int64]) {
        var order = KeyOrder(keys)
        let rows = Set(keys.flatMap { [$0, $0 == .max ? $0 : $0 + 1] }).sorted()
        for row in rows {
            let node = order.node(for: row)
            #expect(node == keys.firstIndex(of: row))
        }
    }

    @Test("tells which nodes come next, where that is not their own order")
    func ahead() {
        let order = KeyOrder([30, 10, 20])
        #expect((0..<4).map { order.node(ahead: $0) } == [1, 2, 0, nil])
        #expect(KeyOrder([1, 2]).node(ahead: 0) == nil)
    }
}
