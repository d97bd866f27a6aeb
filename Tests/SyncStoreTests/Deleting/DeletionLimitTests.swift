import SyncCore
import Testing

@testable import SyncStore

@Suite("Numbers of rows that a deletion limit allows")
struct DeletionLimitTests {
    private static let counts = [
        0, 1, 2, 3, 7, 10, 11, 20, 50, 99, 100, 101, 250, 1000, 1234, 10_000, 999_999, 12_345_678,
    ]

    @Test(
        "A fraction with two to four decimals allows the whole rows of exactly that part",
        arguments: [100, 1000, 10_000])
    func decimalFractionIsExact(scale: Int) {
        for part in 0...scale {
            let limit = DeletionLimit.fraction(Double(part) / Double(scale))
            for count in Self.counts where limit.allowed(of: count) != part * count / scale {
                Issue.record("\(part)/\(scale) of \(count): \(limit.allowed(of: count))")
            }
        }
    }

    @Test("A percentage with decimals allows the whole rows of exactly that part")
    func percentageIsExact() {
        for part in 0...10_000 {
            let limit = DeletionLimit.fraction(Double(part) / 100 / 100)
            for count in Self.counts where limit.allowed(of: count) != part * count / 10_000 {
                Issue.record("\(part)/100 % of \(count): \(limit.allowed(of: count))")
            }
        }
    }

    @Test("A fraction that is clearly below a whole number of rows allows the next smaller number")
    func smallerFractionAllowsFewerRows() {
        #expect(DeletionLimit.fraction(0.289999999).allowed(of: 100) == 28)
        #expect(DeletionLimit.fraction(1.0 / 3).allowed(of: 300) == 100)
        #expect(DeletionLimit.fraction(0.3333).allowed(of: 300) == 99)
        #expect(DeletionLimit.fraction(0.999999).allowed(of: 100) == 99)
    }

    @Test("Rows up to 'above' have no limit")
    func fewRowsHaveNoLimit() {
        #expect(DeletionLimit.half.allowed(of: 10) == 10 && DeletionLimit.half.allowed(of: 11) == 5)
        #expect(DeletionLimit.fraction(1, above: Int.max - 1).allowed(of: .max) == .max)
        #expect(DeletionLimit.fraction(0, above: .max).allowed(of: .max) == .max)
    }
}
