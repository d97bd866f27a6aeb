import Foundation

/// The tests that take so much, or so many cases, that `make test` leaves it to `make check`.
package enum LongTests {
    /// Whether they run to their full length: `SYNC_LONG_TESTS=1`.
    package static let areWanted = ProcessInfo.processInfo.environment["SYNC_LONG_TESTS"] == "1"

    /// How many of something a test takes: in `make test`, where they show what they are to show, and in `make check`.
    package static func count(_ few: Int, many: Int) -> Int { areWanted ? many : few }

    /// Of many cases those that stand for the others, every so many-th one, in `make test`; all of them in `make check`.
    package static func some<Case>(_ all: [Case], every step: Int) -> [Case] {
        areWanted ? all : stride(from: 0, to: all.count, by: step).map { all[$0] }
    }
}
