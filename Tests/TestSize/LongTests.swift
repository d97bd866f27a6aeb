import Foundation

/// The extent of tests that are too slow, or have too many cases, for `make test`.
package enum LongTests {
    /// How many of the cases a run takes.
    package enum Extent: Equatable, Sendable {
        /// A few cases, as in `make test`.
        case few
        /// A part of the cases, which rotates from run to run: `SYNC_TEST_TURN=5`, as in `.ci/run`.
        case turn(Int)
        /// All cases, and the large sizes: `SYNC_LONG_TESTS=1`, as in `.ci/day`.
        case all
    }

    package static let extent: Extent = {
        let environment = ProcessInfo.processInfo.environment
        if environment["SYNC_LONG_TESTS"] == "1" { return .all }
        return environment["SYNC_TEST_TURN"].flatMap { Int($0) }.map { .turn(max($0, 0)) } ?? .few
    }()

    /// Whether tests run to their full extent.
    package static var areWanted: Bool { extent == .all }

    /// Returns the size of a test: the smallest meaningful one, or the full one.
    package static func count(_ few: Int, many: Int) -> Int { areWanted ? many : few }

    /// Returns every `step`-th case, beginning with another one each turn; all cases in a full run.
    ///
    /// - Parameter argument: The index of the test's argument. Each argument begins with another case, so that all
    ///   arguments together cover more cases.
    package static func some<Case>(_ all: [Case], every step: Int, of argument: Int = 0) -> [Case] {
        let first: Int
        switch extent {
        case .few: first = argument
        case .turn(let turn): first = turn + argument
        case .all: return all
        }
        return stride(from: first % max(1, min(step, all.count)), to: all.count, by: step).map { all[$0] }
    }

    /// Returns the index of a case, for ``some(_:every:of:)``.
    package static func number<Case: CaseIterable & Equatable>(_ value: Case) -> Int {
        Array(Case.allCases).firstIndex(of: value) ?? 0
    }
}
