import Foundation
import SyncTesting
import TestSize
import Testing

/// The corpus of scenarios that is shared with other implementations. The environment gives its folder.
@Suite("Conformance corpus")
struct ConformanceTests {
    /// The folder with `cases`, `models` and `json`. Without the variable the tests are skipped.
    static let corpus = ProcessInfo.processInfo.environment["SYNC_CONFORMANCE"].map { URL(fileURLWithPath: $0) }

    static let groups = [
        "crud", "dates", "export", "filter", "inflections", "keys", "mapping", "operations", "ordered", "parent",
        "primarykey", "relationships", "rules", "store", "sync",
    ]

    @Test("The list of groups matches the corpus", .enabled(if: corpus != nil, "SYNC_CONFORMANCE is not set"))
    func complete() throws {
        let cases = try #require(Self.corpus).appendingPathComponent("cases")
        let groups = try FileManager.default.contentsOfDirectory(atPath: cases.path).filter { $0.hasSuffix(".json") }
        #expect(groups.map { String($0.dropLast(".json".count)) }.sorted() == Self.groups)
    }

    @Test(
        "The scenarios of each group pass, with each sync repeated",
        .enabled(if: corpus != nil, "SYNC_CONFORMANCE is not set"),
        arguments: groups)
    func group(_ group: String) async throws {
        let corpus = try #require(Self.corpus)
        // A missing corpus is a failed path in the report.
        let file = corpus.appendingPathComponent("cases/\(group).json")
        let runner = ScenarioRunner(
            features: CorpusTransformers.features, options: .init(repeatsSyncs: true))
        let report = await runner.run(paths: [file])
        for result in report.results where result.outcome == .failed {
            Issue.record("\(result)")
        }
        #expect(report.isSuccess)
        for result in report.results where result.outcome == .skipped {
            #expect(result.reason == "needs duplicateLocalRows", "\(result)")
        }
    }
}

@Suite("Scenarios in chunks")
struct PieceScenarioTests {
    /// The chunk sizes in bytes. A chunk of one byte is a record, one of a million bytes the whole payload.
    static let sizes = LongTests.areWanted ? [1, 60, 1_000_000] : [60]

    @Test(
        "The scenarios of the corpus pass in chunks",
        .enabled(if: ConformanceTests.corpus != nil, "SYNC_CONFORMANCE is not set"),
        .enabled(if: LongTests.areWanted, "make check runs it"),
        arguments: sizes)
    func corpus(size: Int) async throws {
        let cases = try #require(ConformanceTests.corpus).appendingPathComponent("cases")
        let runner = ScenarioRunner(features: CorpusTransformers.features, options: .init(chunkSize: size))
        let report = await runner.run(paths: [cases])
        for result in report.results where result.outcome == .failed { Issue.record("\(result)") }
        #expect(report.isSuccess)
    }

    @Test("The scenarios of this package pass in chunks", arguments: sizes)
    func own(size: Int) async {
        let runner = ScenarioRunner(options: .init(chunkSize: size))
        let report = await runner.run(paths: [OwnScenarioTests.someScenarios])
        for result in report.results where result.outcome != .passed { Issue.record("\(result)") }
        #expect(report.passed >= 30)
    }
}

@Suite("Scenarios in an app database, each sync in a transaction of the app")
struct GuestScenarioTests {
    @Test(
        "The scenarios of the corpus pass in an app database",
        .enabled(if: ConformanceTests.corpus != nil, "SYNC_CONFORMANCE is not set"),
        .enabled(if: LongTests.areWanted, "make check runs it"))
    func corpus() async throws {
        let cases = try #require(ConformanceTests.corpus).appendingPathComponent("cases")
        let runner = ScenarioRunner(features: CorpusTransformers.features, options: .init(usesAppDatabase: true))
        let report = await runner.run(paths: [cases])
        for result in report.results where result.outcome == .failed { Issue.record("\(result)") }
        #expect(report.isSuccess)
    }

    @Test("The scenarios of this package pass in an app database, with each sync repeated")
    func own() async {
        let runner = ScenarioRunner(options: .init(repeatsSyncs: true, usesAppDatabase: true))
        let report = await runner.run(paths: [OwnScenarioTests.someScenarios])
        for result in report.results where result.outcome != .passed { Issue.record("\(result)") }
        #expect(report.passed >= 30)
    }
}

@Suite("Scenarios in existing tables with other names")
struct AdoptedScenarioTests {
    @Test(
        "The scenarios of the corpus pass in existing tables",
        .enabled(if: ConformanceTests.corpus != nil, "SYNC_CONFORMANCE is not set"),
        .enabled(if: LongTests.areWanted, "make check runs it"), arguments: [false, true])
    func corpus(isGuest: Bool) async throws {
        let cases = try #require(ConformanceTests.corpus).appendingPathComponent("cases")
        let options = ScenarioRunner.Options(repeatsSyncs: !isGuest, usesAppDatabase: isGuest, usesExistingTables: true)
        let runner = ScenarioRunner(features: CorpusTransformers.features, options: options)
        let report = await runner.run(paths: [cases])
        for result in report.results where result.outcome == .failed { Issue.record("\(result)") }
        #expect(report.isSuccess)
    }

    @Test("The scenarios of this package pass in existing tables, with each sync repeated")
    func own() async {
        let runner = ScenarioRunner(options: .init(repeatsSyncs: true, usesExistingTables: true))
        let report = await runner.run(paths: [OwnScenarioTests.someScenarios])
        for result in report.results where result.outcome != .passed { Issue.record("\(result)") }
        #expect(report.passed >= 30)
    }
}

@Suite("Scenarios of this package")
struct OwnScenarioTests {
    /// All scenarios, and a few that represent them.
    static let scenarios = fixtures.appendingPathComponent("Scenarios")
    static let someScenarios = LongTests.areWanted ? scenarios : scenarios.appendingPathComponent("FinalState")

    /// The `Fixtures` folder of the package.
    static let fixtures = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fixtures")

    @Test(
        "The scenarios of this package pass, also with each sync repeated",
        arguments: LongTests.areWanted ? [false, true] : [false])
    func pass(twice: Bool) async {
        let runner = ScenarioRunner(options: .init(repeatsSyncs: twice))
        let report = await runner.run(paths: [Self.scenarios])
        for result in report.results where result.outcome != .passed {
            Issue.record("\(result)")
        }
        #expect(report.passed >= 30)
    }
}
