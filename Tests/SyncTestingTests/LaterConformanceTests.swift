import Foundation
import SyncTesting
import Testing

/// The groups of the corpus with steps that the library has no call for yet.
@Suite("Conformance, later groups", .enabled(if: ConformanceTests.corpus != nil, "SYNC_CONFORMANCE is not set"))
struct LaterConformanceTests {
    static let groups = ["export"]

    @Test("fail only where a call is missing; each sync made twice", arguments: groups)
    func group(_ group: String) async throws {
        let corpus = try #require(ConformanceTests.corpus)
        let file = corpus.appendingPathComponent("cases/\(group).json")
        let report = await ScenarioRunner(options: .init(repeatsSyncs: true)).run(paths: [file])
        for result in report.results where result.outcome == .failed {
            let isMissing = result.failures.allSatisfy { $0.message.hasPrefix("not supported yet") }
            #expect(isMissing, "\(result)")
        }
        #expect(report.results.count > 1)
    }

    @Test("and the others are all the groups there are")
    func complete() throws {
        let cases = try #require(ConformanceTests.corpus).appendingPathComponent("cases")
        let groups = try FileManager.default.contentsOfDirectory(atPath: cases.path).filter { $0.hasSuffix(".json") }
            .map { String($0.dropLast(".json".count)) }
        #expect(groups.sorted() == (ConformanceTests.groups + Self.groups).sorted())
    }
}
