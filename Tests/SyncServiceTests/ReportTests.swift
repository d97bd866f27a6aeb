import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// What a run tells of what it did, and of what it does.
@Suite("A report")
struct ReportTests {
    private func device(_ service: InMemoryService, _ rule: String = "cascade") throws -> Device {
        let schema = Device.schema.replacingOccurrences(of: "\"cascade\"", with: "\"\(rule)\"")
        return try Device(service, schema: schema)
    }

    @Test("has the links of a run that changed nothing else")
    func links() async throws {
        let service = InMemoryService()
        for id in 1...3 { await service.put("Tag", JSONValue(id), ["name": "t"]) }
        await service.put("Task", 1, ["title": "t", "tag_ids": [1]])
        let device = try device(service)
        #expect(try await device.engine.sync().total.linksAdded == 1)
        await service.put("Task", 1, ["tag_ids": [2, 3]])
        let report = try await device.engine.sync()
        #expect(report.entities["Task"]?.linksAdded == 2)
        #expect(report.entities["Task"]?.linksRemoved == 1)
        #expect(report.total.updated == 0 && !report.isEmpty)
        #expect(try await device.engine.sync().isEmpty)
        // What the service answers to an edit has the links again, which is no news.
        try await device.write("UPDATE Task SET title = 'mine'")
        #expect(try await device.engine.sync().total.linksAdded == 0)
    }

    @Test("counts values that were not taken, and says what the first is")
    func unread() async throws {
        let service = InMemoryService()
        await service.put("Task", 1, ["title": "t", "points": "many", "done": "perhaps"])
        await service.put("Task", 2, ["title": ["a": 1]])
        let report = try await device(service).engine.sync()
        #expect(report.entities["Task"]?.unread == 3)
        let first = try #require(report.entities["Task"]?.firstUnreadable)
        #expect(first.hasPrefix("Task 1, points: "))
        #expect(report.entities["Task"]?.inserted == 2)
    }

    @Test("counts rows in conflict beside their values, of a row that was deleted there too")
    func conflicts() async throws {
        let service = InMemoryService()
        await service.put("Project", 1, ["name": "p"])
        for id in 1...3 {
            await service.put("Task", JSONValue(id), ["title": "t", "points": 1, "done": false, "project_id": 1])
        }
        let device = try device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'mine', points = 2")
        await service.put("Task", 1, ["title": "theirs", "points": 3])
        for id in 2...3 { await service.remove("Task", JSONValue(id)) }
        let task = try #require(try await device.engine.sync().entities["Task"])
        #expect(task.conflicts == 3)
        // Two of the first; of the others all four columns, for they can be brought back.
        #expect(task.conflictingValues == 10)
        #expect(try await device.engine.conflicts().count == 10)
    }

    @Test("counts what went along with a row of another entity as rows of their own")
    func alongside() async throws {
        let service = InMemoryService()
        await service.put("Project", 1, ["name": "p"])
        for id in 1...2 { await service.put("Task", JSONValue(id), ["title": "t", "project_id": 1]) }
        let device = try device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'mine'")
        await service.remove("Project", 1)
        let report = try await device.engine.sync()
        #expect(report.entities["Task"]?.conflicts == 2)
        #expect(report.entities["Project"]?.conflicts == 0)
    }

    @Test("has a row that the model's delete rule keeps though the service deleted it", arguments: [true, false])
    func denied(_ tombstones: Bool) async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                ids: .server, deletions: tombstones ? .tombstones : .sweep, createIdempotency: .key,
                hasPreconditions: true, givesTimes: true, batchSize: 10))
        await service.put("Project", 1, ["name": "p"])
        await service.put("Task", 1, ["title": "t", "project_id": 1])
        let device = try device(service, "deny")
        try await device.engine.sync()
        await service.remove("Project", 1)
        let report = try await device.engine.sync()
        #expect(report.entities["Project"]?.parked == 1)
        let parked = try await device.engine.parkedRows()
        #expect(parked.map(\.entity) == ["Project"])
        #expect(parked.first?.reason.contains("denied by Project.tasks, which still has 1") == true)
        #expect(try await device.rows("SELECT count(*) FROM Project") == ["1"])
        await service.put("Task", 1, ["project_id": .null])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Project") == ["0"])
        #expect(try await device.engine.parkedRows() == [])
    }

    @Test("has the records that have no id, and where the first is, across pages")
    func skipped() async throws {
        let transport = Served { request, _ in
            switch request.path {
            case "/tasks?page=1": (200, [:], [["id": 1], ["id": 2]])
            case "/tasks?page=2": (200, [:], [["id": 3], ["name": "x"], ["id": .null]])
            default: (200, [:], [])
            }
        }
        var options = RESTOptions()
        options.paging = .page()
        let url = try #require(URL(string: "https://api.example.com"))
        let device = try Device(
            RESTService(baseURL: url, options: options, transport: transport),
            schema: #"{"entities": {"Task": {"attributes": {"id": "integer", "name": "string"}}}}"#, entities: ["Task"])
        let report = try await device.engine.sync()
        #expect(report.entities["Task"]?.skipped == 2)
        #expect(report.entities["Task"]?.firstSkipped == 3)
        #expect(report.entities["Task"]?.inserted == 3)
    }

    @Test("is preceded by what the run waits for: the service, and an answer that was lost")
    func waiting() async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                ids: .server, deletions: .tombstones, createIdempotency: .probe, hasPreconditions: true,
                givesTimes: true))
        let device = try device(service)
        try await device.engine.sync()
        try await device.stack.insert("Tag", values: ["name": "new"])
        await service.deleteRequests()
        await service.setFault { request, number in
            if number == 1 { return .busy }
            guard case .push = request, number < 6 else { return nil }
            return .dropBefore
        }
        let events = device.engine.events
        let watching = Task {
            var waits: [(Duration, String)] = []
            for await event in events {
                if case .waiting(let time, let reason) = event { waits.append((time, reason)) }
                if case .finished = event { break }
            }
            return waits
        }
        try await device.engine.sync()
        let waits = await watching.value
        #expect(
            waits.map(\.1) == [
                "the service asks to wait: busy", "a request whose answer was lost may still be carried out",
            ])
        #expect(waits.last.map { $0.0 > .zero && $0.0 <= .seconds(30) } == true)
    }
}
