import Foundation
import Sync
import SyncTesting
import TestSize
import Testing

@testable import SyncService

/// Random histories of several devices and one service: afterwards everybody has the same, nothing is there twice, and
/// nothing is left over.
@Suite("Random histories")
struct ConvergenceTests {
    @Test("converge")
    func converge() async throws {
        for seed in RandomTest.history.seeds {
            let history = RandomHistory(seed: UInt64(seed))
            let problems = try await history.run()
            let text = problems.isEmpty ? "" : await history.text
            #expect(problems == [], "seed \(seed): \(text)")
        }
    }
}
