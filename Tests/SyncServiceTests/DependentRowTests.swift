import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// New rows that reference new rows.
@Suite("New rows that await other rows")
struct DependentRowTests {
    private static let schema = """
        {"entities": {
          "Project": {"attributes": {"remoteID": {"type": "integer"}, "name": {"type": "string"}},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "project", "export": false}}},
          "Task": {"attributes": {"remoteID": {"type": "integer"}, "title": {"type": "string"}},
            "relationships": {"project": {"entity": "Project", "inverse": "tasks"},
              "next": {"entity": "Task", "inverse": "before"},
              "before": {"entity": "Task", "many": true, "inverse": "next", "export": false},
              "comments": {"entity": "Comment", "many": true, "inverse": "task", "export": false}}},
          "Comment": {"attributes": {"remoteID": {"type": "integer"}, "text": {"type": "string"}},
            "relationships": {"task": {"entity": "Task", "inverse": "comments"}}}
        }}
        """

    private let service = InMemoryService()

    private func device() throws -> Device {
        try Device(service, schema: Self.schema, entities: ["Project", "Task", "Comment"])
    }

    /// Rejects comments without a task, and rows with the name 'bad'.
    private func refuse() async {
        await service.setFault { request, _ in
            guard case .push(let operations) = request else { return nil }
            let isBad = operations.contains { operation in
                let body = operation.record
                return operation.kind == .create
                    && (body["name"] == "bad" || operation.entity == "Comment" && body["task_id"] ?? .null == .null)
            }
            return isBad ? .refuse : nil
        }
    }

    private func creations() async -> [String] {
        await service.requests.flatMap { request -> [String] in
            guard case .push(let operations) = request else { return [] }
            return operations.filter { $0.kind == .create }.map(\.entity)
        }
    }

    @Test("A new row below a row that awaits a blocked row is not sent")
    func belowBlocked() async throws {
        let device = try device()
        await refuse()
        try await device.write("INSERT INTO Project (remoteID, name) VALUES (-1, 'bad')")
        try await device.write("INSERT INTO Task (remoteID, title, projectID) VALUES (-1, 't', -1)")
        try await device.write("INSERT INTO Comment (remoteID, text, taskID) VALUES (-1, 'c', -1)")
        #expect(try await device.engine.sync().total.blockedChanges == 1)
        #expect(await creations() == ["Project"])
        try await device.write("UPDATE Project SET name = 'good'")
        try await device.engine.sync()
        let task = await service.contents(of: "Task").keys.first
        #expect(task != nil)
        #expect(await service.contents(of: "Comment").values.map { $0["task_id"] } == [task])
        #expect(try await device.leftovers() == [])
    }

    @Test("A new row that references a row of an entity outside of the run is sent by the next run")
    func notInThisRun() async throws {
        let device = try device()
        try await device.write("INSERT INTO Project (remoteID, name) VALUES (-1, 'p')")
        try await device.write("INSERT INTO Task (remoteID, title, projectID) VALUES (-1, 't', -1)")
        try await device.engine.sync(only: ["Task"])
        #expect(await creations() == [])
        try await device.engine.sync()
        #expect(await creations() == ["Project", "Task"])
        #expect(await service.contents(of: "Task").values.map { $0["project_id"] } == [1])
        #expect(try await device.leftovers() == [])
    }

    @Test("A cycle of new rows is sent with one reference left out at first")
    func circle() async throws {
        let device = try device()
        await refuse()
        try await device.write(
            """
            PRAGMA defer_foreign_keys = ON;
            INSERT INTO Task (remoteID, title, nextID) VALUES (-3, 'c', -2), (-2, 'b', -1), (-1, 'a', -2);
            INSERT INTO Comment (remoteID, text, taskID) VALUES (-1, 'c', -1)
            """)
        try await device.engine.sync()
        #expect(await creations() == ["Task", "Task", "Task", "Comment"])
        let tasks = await service.contents(of: "Task")
        let ids = Dictionary(uniqueKeysWithValues: tasks.map { ($0.value["title"] ?? .null, $0.key) })
        #expect(tasks[ids["a"] ?? .null]?["next_id"] == ids["b"])
        #expect(tasks[ids["b"] ?? .null]?["next_id"] == ids["a"])
        #expect(tasks[ids["c"] ?? .null]?["next_id"] == ids["b"])
        let third = await service.accepted.first { $0["title"] == "c" }
        #expect(third?["next_id"] == ids["b"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A row rejected for its deleted parent is sent again when the parent is back")
    func parentIsBack() async throws {
        let device = try device()
        await service.set("Project", 1, ["name": "p"])
        try await device.engine.sync()
        let service = service
        await service.setFault { request, _ in
            guard case .push(let operations) = request else { return nil }
            let isBelow = operations.contains { $0.kind == .create && $0.record["project_id"] == 1 }
            return isBelow ? .refuse : nil
        }
        try await device.write("INSERT INTO Task (remoteID, title, projectID) VALUES (-1, 't', 1)")
        #expect(try await device.engine.sync().total.blockedChanges == 1)
        #expect(try await device.engine.sync().total.blockedChanges == 0)
        // Another device restores the parent.
        await service.remove("Project", 1)
        await service.set("Project", 1, ["name": "back"])
        try await device.write("DELETE FROM sync_known WHERE k = 1")
        await service.setFault(nil)
        try await device.engine.sync()
        #expect(await service.contents(of: "Task").values.map { $0["project_id"] } == [1])
        #expect(try await device.leftovers() == [])
    }

    @Test("A row that the service did not store is sent again when its parent is back")
    func storedOnceParentIsBack() async throws {
        let lists = Lists()
        var options = RESTOptions()
        options.idAssignment = .client
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")), options: options,
            transport: Served { await lists.answer($0, $1) })
        let device = try Device(service, schema: Self.schema, entities: ["Project", "Task"])
        try await device.engine.sync()
        try await device.write("INSERT INTO Task (remoteID, title, projectID) VALUES (5, 't', 1)")
        #expect(try await device.engine.sync().total.blockedChanges == 1)
        #expect(try await device.engine.sync().total.blockedChanges == 0)
        // Another device restores the parent.
        try await device.write("DELETE FROM sync_known WHERE k = 1")
        await lists.open()
        try await device.engine.sync()
        #expect(await lists.task?["project_id"] == 1)
        #expect(try await device.leftovers() == [])
    }

    /// A project, and a list of tasks that answers a create with 409 although it lacks the task.
    private actor Lists {
        private var isOpen = false
        private(set) var task: JSONValue?

        func open() { isOpen = true }

        func answer(_ request: HTTPRequest, _ body: JSONValue?) -> (Int, [String: String], JSONValue) {
            if request.path?.contains("project") == true { return (200, [:], [["id": 1, "name": "p"]]) }
            guard request.method == .put else {
                guard request.path?.hasSuffix("/5") == true else { return (200, [:], .array(task.map { [$0] } ?? [])) }
                return task.map { (200, [:], $0) } ?? (404, [:], ["message": "none"])
            }
            guard isOpen, let body else { return (409, [:], ["message": "its project is gone"]) }
            task = body
            return (201, [:], body)
        }
    }
}
