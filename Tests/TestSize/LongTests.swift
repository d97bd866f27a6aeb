import Foundation

/// The tests that take so much, or so many cases, that `make test` leaves most of it to other runs.
package enum LongTests {
    /// How much of them a run takes.
    package enum Extent: Equatable, Sendable {
        /// A few cases: `make test`.
        case few
        /// A part of the cases, one after the other from run to run: `SYNC_TEST_TURN=5`, as `.ci/run` has it.
        case turn(Int)
        /// All cases, and the sizes that take long: `SYNC_LONG_TESTS=1`, as `.ci/day` has it.
        case all
    }

    package static let extent: Extent = {
        let environment = ProcessInfo.processInfo.environment
        if environment["SYNC_LONG_TESTS"] == "1" { return .all }
        return environment["SYNC_TEST_TURN"].flatMap { Int($0) }.map { .turn(max($0, 0)) } ?? .few
    }()

    /// Whether they run to their full length.
    package static var areWanted: Bool { extent == .all }

    /// How many of something a test takes: where that is enough to show what it is to show, and in full length.
    package static func count(_ few: Int, many: Int) -> Int { areWanted ? many : few }

    /// Of many cases every so many-th one, another one each turn; all of them in full length.
    ///
    /// - Parameter argument: The number of a test's argument. Each argument begins with another case, so that all arguments together try more
    ///   of the cases.
    package static func some<Case>(_ all: [Case], every step: Int, of argument: Int = 0) -> [Case] {
        let first: Int
        switch extent {
        case .few: first = argument
        case .turn(let turn): first = turn + argument
        case .all: return all
        }
        return stride(from: first % max(1, min(step, all.count)), to: all.count, by: step).map { all[$0] }
    }

    /// The number of a case among all, for ``some(_:every:of:)``.
    package static func number<Case: CaseIterable & Equatable>(_ value: Case) -> Int {
        Array(Case.allCases).firstIndex(of: value) ?? 0
    }
}
