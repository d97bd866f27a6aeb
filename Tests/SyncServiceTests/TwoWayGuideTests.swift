import Foundation
import Sync
import SyncTesting
import Testing

// MARK: - Runs

/// Syncs at once, after local changes, and after each interval. Ends when the task is cancelled, and throws permanent
/// errors.
func keepInSync(_ engine: SyncEngine, every interval: Duration) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            for try await count in engine.observePendingChangeCount() where count > 0 { try await syncOnce(engine) }
        }
        group.addTask {
            while true {
                try await syncOnce(engine)
                try await Task.sleep(for: interval)
            }
        }
        _ = try await group.next()
        group.cancelAll()
    }
}

/// Syncs. After a transient error, the engine stores a delay, and the next run waits for it.
func syncOnce(_ engine: SyncEngine) async throws {
    do {
        try await engine.sync()
    } catch let error as SyncError where error.isTransient {
        print(error.localizedDescription)
    }
}

/// Adds a task that the service must accept before it is stored.
func addTask(_ title: String, _ engine: SyncEngine) async throws {
    try await engine.write(
        remoteFirst: PushOperation(entity: "Task", kind: .create, record: ["title": .string(title)]))
}

/// Syncs, and returns the lines to show to the user.
func syncAndReport(_ engine: SyncEngine) async throws -> [String] {
    let report = try await engine.sync()
    let open = try await engine.conflicts().filter(\.isOpen)
    return try await ["\(report)"] + engine.blockedChanges().map { "\($0)" } + open.map { "\($0)" }
}

/// Resolves each open conflict with the value of the service.
func keepRemoteValues(_ engine: SyncEngine) async throws {
    for conflict in try await engine.conflicts() where conflict.isOpen {
        try await engine.resolve(conflict, keeping: .remote)
    }
}

// MARK: - Tests

/// The code, the tables and the rules of `Docs/TwoWaySync.md`, and the options of REST services in `Docs/Services.md`.
@Suite("Guide to two-way sync")
struct TwoWayGuideTests {
    private static let schema = """
        {"entities": {
          "Project": {"attributes": {"id": "integer", "name": "string"},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "project"}}},
          "Task": {"attributes": {"id": "integer", "title": "string"},
            "relationships": {"project": {"entity": "Project", "inverse": "tasks"}}}}}
        """
    private let page: GuidePage
    private let service = InMemoryService()

    init() throws { page = try GuidePage("TwoWaySync.md") }

    private func device(
        _ schema: String = Self.schema, _ entities: [SyncedEntity] = ["Project", "Task"],
        _ service: (any SyncService)? = nil, _ change: (inout SyncEngine.Configuration) -> Void = { _ in }
    ) throws -> Device {
        var configuration = Device.configuration
        change(&configuration)
        return try Device(service ?? self.service, schema: schema, entities: entities, configuration)
    }

    private func rows(of page: GuidePage, after heading: String) throws -> [[String]] {
        let section = try #require(page.text.components(separatedBy: "\n## \(heading)\n").last)
        return section.components(separatedBy: "\n## ")[0].components(separatedBy: "\n").filter { $0.hasPrefix("| `") }
            .map { $0.components(separatedBy: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
    }

    @Test("The page shows code of this file")
    func shown() throws {
        let fences = page.fences.filter { !$0.file.contains("/") }
        #expect(!fences.isEmpty)
        for fence in fences { #expect(try GuidePage.source(fence.file).contains(fence.text), "\(fence.text)") }
    }

    // MARK: Tables

    @Test("The tables list each option, and each member of a configuration for REST")
    func options() throws {
        let rest = try rows(of: GuidePage("Services.md"), after: "REST")
        #expect(
            Mirror(reflecting: RESTOptions()).children.compactMap(\.label).allSatisfy { label in
                rest.contains { $0[1] == "`\(label)`" }
            })
        let engine = try rows(of: page, after: "Options of the engine")
        let all = Mirror(reflecting: SyncEngine.Configuration()).children.compactMap(\.label)
        // The others are not public.
        for label in all where !["isScopeKnown", "handlesRowsTogether", "clock"].contains(label) {
            #expect(engine.contains { $0[1] == "`\(label)`" }, "\(label)")
        }
        for label in Mirror(reflecting: SyncedEntity("Task")).children.compactMap(\.label) where label != "name" {
            #expect(page.text.contains("`\(label)`"), "\(label)")
        }
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Docs/engine-configuration.schema.json")
        let file = try JSONValue(parsing: Data(contentsOf: url))
        guard case .object(let members)? = file["properties"]?["rest"]?["properties"] else {
            Issue.record("the schema has no member rest")
            return
        }
        for member in members { #expect(rest.contains { $0[2] == "`\(member.key)`" }, "\(member.key)") }
    }

    @Test("The engine rejects the features in the table of models")
    func models() async throws {
        func code(
            _ schema: String, _ entities: [SyncedEntity], clientIDs: Bool = false, compositeIDs: Bool = true
        ) throws -> SyncError.Code? {
            let service = InMemoryService(
                ServiceCapabilities(
                    idAssignment: clientIDs ? .client : .server, deletionDetection: .tombstones,
                    createIdempotency: clientIDs ? .clientID : .idempotencyKey, supportsPreconditions: true,
                    providesModificationTimes: false, supportsCompositeIDs: compositeIDs))
            do {
                _ = try device(schema, entities, service)
                return nil
            } catch let error as SyncError {
                return error.code
            }
        }
        let ordered = Self.schema.replacingOccurrences(of: "\"many\": true", with: "\"many\": true, \"ordered\": true")
        #expect(try code(ordered, ["Project", "Task"]) == .invalidOption)
        #expect(try code(ordered, ["Task"]) == nil)
        let local = ordered.replacingOccurrences(of: "\"ordered\"", with: "\"export\": false, \"ordered\"")
        #expect(try code(local, ["Project", "Task"]) == nil)
        let keyless = """
            {"entities": {
              "Task": {"attributes": {"id": "integer"}, "relationships": {"points": {"entity": "Point", "many": true}}},
              "Point": {"attributes": {"x": "integer"}}}}
            """
        #expect(try code(keyless, ["Task", "Point"]) == .keylessEntity)
        #expect(try code(keyless, ["Task"]) == nil)
        let composite = """
            {"entities": {"Task": {"primaryKey": ["owner", "number"], "attributes": {"owner": "string", "number": "integer"}}}}
            """
        #expect(try code(composite, ["Task"], compositeIDs: false) == .invalidOption)
        #expect(try code(composite, ["Task"]) == nil)
        let dated = #"{"entities": {"Task": {"primaryKey": "day", "attributes": {"day": "date"}}}}"#
        #expect(try code(dated, ["Task"], clientIDs: true) == .invalidOption)
        #expect(try code(dated, ["Task"]) == nil)
        let inherited = """
            {"entities": {
              "Event": {"attributes": {"id": "integer"}}, "Party": {"parent": "Event", "attributes": {"host": "string"}}}}
            """
        #expect(try code(inherited, ["Event", "Party"]) == .invalidOption)
        #expect(try code(inherited, ["Event"]) == nil)
        #expect(try code(inherited, ["Party"]) == nil)
        let keys = """
            {"entities": {
              "Event": {"attributes": {"place": "string"}, "abstract": true},
              "Party": {"parent": "Event", "primaryKey": "party", "attributes": {"party": "integer"}},
              "Trip": {"parent": "Event", "primaryKey": "trip", "attributes": {"trip": "integer"}}}}
            """
        #expect(try code(keys, ["Event"]) != nil)
        #expect(try code(keys, ["Party", "Trip"]) == nil)
        #expect(try code(Self.schema, [SyncedEntity("Task", conflictPolicy: .lastWriterWins)]) == .invalidOption)
        let hidden = Self.schema.replacingOccurrences(
            of: #""id": "integer", "title""#, with: #""id": {"type": "integer", "export": false}, "title""#)
        #expect(try code(hidden, ["Task"]) == .keylessEntity)
        #expect(try code(Self.schema, []) == .invalidOption)
        #expect(try code(Self.schema, ["Task", "Task"]) == .invalidOption)
    }

    @Test("Links of a one-to-many relationship without an inverse, and keyless rows, are not sent")
    func unsentLinks() async throws {
        let schema = """
            {"entities": {
              "Project": {"attributes": {"id": "integer"}, "relationships": {"tasks": {"entity": "Task", "many": true}}},
              "Task": {"attributes": {"id": "integer", "title": "string"}}}}
            """
        let device = try device(schema)
        let project = try await device.stack.insert("Project", values: [:])
        let task = try await device.stack.insert("Task", values: ["title": "t"])
        try await Sync.update(
            id: project.key.json, with: ["task_ids": [task.key.json]], inEntity: "Project", stack: device.stack)
        try await device.engine.sync()
        #expect(
            try await device.stack.fetchRelated("tasks", of: #require(device.stack.fetch("Project").first)).count == 1)
        #expect(await service.contents(of: "Task").values.map { $0["project_id"] } == [nil])
    }

    // MARK: Local changes

    @Test("A sync of a payload is a local change, a record that the app applies is none")
    func applied() async throws {
        let device = try device()
        try await Sync.changes([["id": 1, "name": "a"]], inEntity: "Project", stack: device.stack)
        #expect(try await device.engine.pendingChangeCount() == 1)
        let other = try self.device()
        try await other.engine.apply(["id": 1, "name": "a"], inEntity: "Project")
        #expect(try await other.engine.pendingChangeCount() == 0)
        #expect(try await other.stack.count("Project") == 1)
    }

    @Test("A value that is changed back is not sent")
    func changedBack() async throws {
        await service.set("Project", 1, ["name": "a"])
        let device = try device()
        try await device.engine.sync()
        try await device.write("UPDATE Project SET name = 'b'")
        try await device.write("UPDATE Project SET name = 'a'")
        let report = try await device.engine.sync()
        #expect(report.isEmpty, "\(report)")
    }

    // MARK: Runs

    @Test("A loop pushes a local change without a call, and ends when its task is cancelled")
    func loop() async throws {
        let device = try device()
        let loop = Task { try await keepInSync(device.engine, every: .seconds(3600)) }
        try await device.stack.insert("Project", values: ["name": "a"])
        for _ in 0..<500 where await service.contents(of: "Project").isEmpty {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(await service.contents(of: "Project").count == 1)
        loop.cancel()
        _ = await loop.result
    }

    @Test("A permanent error ends the loop, a transient one does not")
    func errors() async throws {
        let service = service
        await service.setFault { _, number in number < 3 ? .failsBeforeApply : nil }
        let device = try device { $0.maxAttempts = 1 }
        try await syncOnce(device.engine)
        await service.setFault(nil)
        try device.stack.close()
        await #expect(throws: SyncError.self) { try await keepInSync(device.engine, every: .seconds(3600)) }
    }

    @Test("The report, a blocked change and an open conflict are one line each, and the page shows them")
    func lines() async throws {
        await service.set("Project", 1, ["name": "Garden"])
        let device = try device { $0.conflictPolicy = .manual }
        try await device.engine.sync()
        try await device.write("UPDATE Project SET name = 'Garden of Ada'")
        await service.set("Project", 1, ["name": "Park"])
        try await device.stack.insert("Task", values: ["title": "Mow"])
        await service.setFault { request, _ in if case .push = request { .refuse } else { nil } }
        let lines = try await syncAndReport(device.engine)
        #expect(
            page.text.contains("```text\n\(lines.joined(separator: "\n"))\n```"), "\(lines.joined(separator: "\n"))")
        await service.setFault(nil)
        try await keepRemoteValues(device.engine)
        #expect(try await device.rows("SELECT name FROM Project") == ["Park"])
        let status = try await device.engine.status()
        #expect(status.map(\.openConflicts) == [0, 0] && status.map(\.blockedChanges) == [0, 1])
    }

    @Test("A task that the service must accept first is stored with the ID of the service, or not at all")
    func remoteFirst() async throws {
        let device = try device { $0.maxAttempts = 1 }
        try await addTask("Mow", device.engine)
        #expect(try await device.rows("SELECT id, title FROM Task") == ["1 Mow"])
        await service.setFault { request, _ in if case .push = request { .refuse } else { nil } }
        await #expect(throws: SyncError.self) { try await addTask("Sow", device.engine) }
        #expect(try await device.rows("SELECT id, title FROM Task") == ["1 Mow"])
    }

    @Test("The defaults of retries are those of the page")
    func defaults() {
        let configuration = SyncEngine.Configuration()
        #expect(configuration.maxAttempts == 4 && configuration.retryTimeout == .seconds(30))
        #expect(configuration.backoffPolicy == .all && configuration.inDoubtTimeout == .seconds(30))
        #expect(configuration.reconciliationInterval == .seconds(3600) && configuration.deletionLimit == .half)
        #expect(configuration.conflictPolicy == .clientWins && configuration.deleteConflictPolicy == .deleteWins)
        let options = RESTOptions()
        #expect(options.overlap == .seconds(60) && options.maxConcurrentRequests == 1 && options.paging == .none)
        #expect(options.updateMethod == .patch && options.idAssignment == .server && options.recordsKeyPath.isEmpty)
    }
}
