import Foundation

/// The tests that take so much, or so many cases, that `make test` leaves it to `make check`.
package enum LongTests {
    /// Whether they run to their full length: `SYNC_LONG_TESTS=1`.
    package static let areWanted = ProcessInfo.processInfo.environment["SYNC_LONG_TESTS"] == "1"
}
