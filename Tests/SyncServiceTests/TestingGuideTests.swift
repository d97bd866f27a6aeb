import Foundation
import Sync
import SyncTesting
import Testing

/// Runs the scenario files of an app.
func runScenarios(in folder: URL) async -> ScenarioReport {
    let trimmed = AttributeTransformer("Trimmed") { json in
        guard case .string(let text) = json else { return nil }
        return .string(text.trimmingCharacters(in: .whitespaces))
    }
    return await ScenarioRunner(features: .standard.adding(trimmed)).run(paths: [folder])
}

/// Returns a service whose clients assign the IDs, and that has no tombstones.
func serviceWithoutTombstones() -> InMemoryService {
    InMemoryService(
        ServiceCapabilities(
            idAssignment: .client, deletionDetection: .listing, createIdempotency: .clientID,
            supportsPreconditions: false, providesModificationTimes: true),
        identity: "https://example.com", pageSize: 100)
}

/// Keeps the longer title.
@Sendable func keepLonger(_ conflict: SyncConflict) -> SyncConflict.Resolution {
    guard case .string(let local) = conflict.local, case .string(let remote) = conflict.remote else {
        return .usePolicy
    }
    return local.count > remote.count ? .local : .remote
}

/// The code of `Docs/Testing.md`.
@Suite("Guide to testing")
struct TestingGuideTests {
    private static let schema = #"{"entities": {"Task": {"attributes": {"id": "string", "title": "string"}}}}"#
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("sync-tests-\(UUID().uuidString)")

    @Test("The page shows code of this file, and of the test of two devices")
    func shown() throws {
        let page = try GuidePage("Testing.md")
        let own = page.fences.filter { !$0.file.contains("/") }
        #expect(!own.isEmpty && own.count < page.fences.count)
        for fence in own { #expect(try GuidePage.source(fence.file).contains(fence.text), "\(fence.text)") }
        let other = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Macros/Tests/EntityTests/TwoDevicesTests.swift")
        let source = GuidePage.squeezed(try String(contentsOf: other, encoding: .utf8))
        #expect(page.whole("Tests/Macros/Tests/EntityTests/TwoDevicesTests.swift") == source)
    }

    @Test("Scenario files with an own transformer")
    func scenarios() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = """
            {"format": 1, "group": "titles", "cases": [
              {"name": "titles-are-trimmed", "about": "A title has no spaces around it.", "model": "models/model.json",
               "needs": ["valueTransformer:Trimmed"], "steps": [
                {"sync": [{"id": 1, "title": " a "}], "entity": "Task"},
                {"expect": {"title": "a"}, "entity": "Task"}]}]}
            """
        let model = """
            {"entities": {"Task": {"attributes": {"id": "integer", "title": {"type": "string", "transformer": "Trimmed"}}}}}
            """
        for name in ["cases", "models"] {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
        }
        try Data(file.utf8).write(to: folder.appendingPathComponent("cases/titles.json"))
        try Data(model.utf8).write(to: folder.appendingPathComponent("models/model.json"))
        let report = await runScenarios(in: folder)
        for result in report.results where result.outcome != .passed {
            Issue.record("\(result)")
        }
        #expect(report.summary == "1 passed, 0 failed, 0 skipped")
    }

    // A resolver is a function, so a test needs no engine.
    @Test("The longer title wins")
    func resolver() {
        let conflict = SyncConflict(
            entity: "Task", key: .integer(1), field: "title", base: "Buy", local: "Buy milk", remote: "Buy it")
        #expect(keepLonger(conflict) == .local)
    }

    @Test("A row that another client deleted is deleted here")
    func deletion() async throws {
        let service = serviceWithoutTombstones()
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Self.schema.utf8)))
        var configuration = SyncEngine.Configuration()
        configuration.reconciliationInterval = .zero  // each run lists all IDs
        configuration.maxAttempts = 1  // a failed request ends the run
        let engine = try SyncEngine(
            stack: stack, service: service, entities: ["Task"], configuration: configuration)
        await service.set("Task", "a", ["title": "Buy milk"])
        try await engine.sync()
        await service.remove("Task", "a")
        let report = try await engine.sync()
        #expect(report.total.pulledDeletes == 1)
        #expect(try await stack.count("Task") == 0)
    }

    @Test("A push whose response is lost creates one record")
    func lostResponse() async throws {
        let service = InMemoryService()
        let schema = #"{"entities": {"Task": {"attributes": {"id": "integer", "title": "string"}}}}"#
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
        var configuration = SyncEngine.Configuration()
        configuration.maxAttempts = 1
        let engine = try SyncEngine(stack: stack, service: service, entities: ["Task"], configuration: configuration)
        try await stack.insert("Task", values: ["title": "Buy milk"])
        await service.setFault { request, _ in
            if case .push = request { .failsAfterApply } else { nil }
        }
        await #expect(throws: SyncError.self) { try await engine.sync() }
        await service.setFault(nil)
        try await engine.sync()
        #expect(await service.contents(of: "Task").values.map { $0["title"] } == ["Buy milk"])
    }

    @Test("The service meets the requirements of the engine")
    func conformance() async {
        let failures = await ServiceConformance(
            serviceWithoutTombstones(), entity: "Task", member: "title", other: "note"
        ).run()
        #expect(failures == [])
    }
}
