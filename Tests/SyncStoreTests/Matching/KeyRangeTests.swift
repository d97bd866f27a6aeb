import Testing

@testable import SyncStore

@Suite("Key ranges")
struct KeyRangeTests {
    @Test("Keys form a range only if they are close to each other")
    func denseKeysFormRange() {
        #expect(KeyRange([5, 3, 8] as [Int64], factor: 2)?.keys == 3...8)
        #expect(KeyRange([5, 3, 9] as [Int64], factor: 2) == nil)
        #expect(KeyRange([7] as [Int64], factor: 1)?.keys == 7...7)
        #expect(KeyRange([] as [Int64], factor: 6) == nil)
    }

    @Test("Key ranges reach to the limits of Int64")
    func rangesReachToIntegerLimits() {
        #expect(KeyRange([.min, .max] as [Int64], factor: 6) == nil)
        #expect(KeyRange([.max - 1, .max] as [Int64], factor: 6)?.keys == Int64.max - 1...Int64.max)
        #expect(KeyRange([.min, .min + 1] as [Int64], factor: 6)?.keys == Int64.min...Int64.min + 1)
    }
}
