import Foundation
import SyncTesting
import TestSize
import Testing

@Suite("Reference store")
struct ReferenceScenarioTests {
    private static let runner = ScenarioRunner(
        features: CorpusTransformers.features, options: .init(checksReference: true))

    @Test("The reference store and the store agree after the scenarios of this package")
    func own() async {
        let report = await Self.runner.run(paths: [OwnScenarioTests.someScenarios])
        for result in report.results where result.outcome == .failed { Issue.record("\(result)") }
        #expect(report.passed >= 30)
    }

    @Test(
        "The reference store and the store agree after the scenarios of the corpus",
        .enabled(if: ConformanceTests.corpus != nil, "SYNC_CONFORMANCE is not set"),
        .enabled(if: LongTests.areWanted, "make check runs it"), arguments: ConformanceTests.groups)
    func corpus(_ group: String) async throws {
        let file = try #require(ConformanceTests.corpus).appendingPathComponent("cases/\(group).json")
        let report = await Self.runner.run(paths: [file])
        for result in report.results where result.outcome == .failed { Issue.record("\(result)") }
        #expect(report.isSuccess)
    }
}
