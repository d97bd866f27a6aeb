import Foundation
import MemoryStore
import SyncTesting
import TestSize
import Testing

@Suite("Scenarios in a store without SQL")
struct MemoryScenarioTests {
    private static let stores = MemoryStoreFactory()

    /// Runs scenarios, and returns their report. A case may be skipped only for a need that the store does not meet.
    private func run(
        _ path: URL, _ options: ScenarioRunner.Options, features: ScenarioFeatures = .standard
    ) async -> ScenarioReport {
        let report = await ScenarioRunner(features: features, options: options).run(paths: [path])
        for result in report.results where result.outcome == .failed { Issue.record("\(result)") }
        let unmet = Self.stores.unmetNeeds.union(["duplicateLocalRows"])
        for result in report.results where result.outcome == .skipped {
            let needs = (result.reason ?? "").dropFirst("needs ".count).split(separator: ", ").map(String.init)
            #expect(!needs.isEmpty && unmet.isSuperset(of: needs), "\(result)")
        }
        return report
    }

    @Test("The scenarios of this package pass, with each sync repeated and compared with the reference store")
    func own() async {
        let options = ScenarioRunner.Options(repeatsSyncs: true, checksReference: true, stores: Self.stores)
        let report = await run(OwnScenarioTests.scenarios, options)
        #expect(report.passed >= 100)
        #expect(report.results.contains { $0.reason == "needs reopening" })
    }

    @Test(
        "The scenarios of this package pass in chunks, with shuffled answers of the store",
        arguments: [1, 2, 3] as [UInt64])
    func chunks(seed: UInt64) async {
        let conditions = SessionConditions(shuffling: seed)
        let stores = MemoryStoreFactory { CheckedSession($0, conditions) }
        let report = await run(OwnScenarioTests.someScenarios, .init(chunkSize: 60, stores: stores))
        #expect(report.passed >= 30)
    }

    @Test(
        "The scenarios of the corpus pass, with each sync repeated",
        .enabled(if: ConformanceTests.corpus != nil, "SYNC_CONFORMANCE is not set"),
        arguments: ConformanceTests.groups)
    func corpus(_ group: String) async throws {
        let file = try #require(ConformanceTests.corpus).appendingPathComponent("cases/\(group).json")
        let report = await run(
            file, .init(repeatsSyncs: true, stores: Self.stores), features: CorpusTransformers.features)
        #expect(report.isSuccess)
    }
}
