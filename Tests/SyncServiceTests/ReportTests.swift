import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Reports and events of runs.
@Suite("Reports")
struct ReportTests {
    private func device(_ service: InMemoryService, _ rule: String = "cascade") throws -> Device {
        let schema = Device.schema.replacingOccurrences(of: "\"cascade\"", with: "\"\(rule)\"")
        return try Device(service, schema: schema)
    }

    @Test("A report counts the links of a run without other changes")
    func links() async throws {
        let service = InMemoryService()
        for id in 1...3 { await service.set("Tag", JSONValue(id), ["name": "t"]) }
        await service.set("Task", 1, ["title": "t", "tag_ids": [1]])
        let device = try device(service)
        #expect(try await device.engine.sync().total.linksAdded == 1)
        await service.set("Task", 1, ["tag_ids": [2, 3]])
        let report = try await device.engine.sync()
        #expect(report.entities["Task"]?.linksAdded == 2)
        #expect(report.entities["Task"]?.linksRemoved == 1)
        #expect(report.total.pulledUpdates == 0 && !report.isEmpty)
        #expect(try await device.engine.sync().isEmpty)
        // The answer to an edit repeats the links, which are not new.
        try await device.write("UPDATE Task SET title = 'mine'")
        #expect(try await device.engine.sync().total.linksAdded == 0)
    }

    @Test("A report counts unreadable values and describes the first")
    func unreadableValues() async throws {
        let service = InMemoryService()
        await service.set("Task", 1, ["title": "t", "points": "many", "done": "perhaps"])
        await service.set("Task", 2, ["title": ["a": 1]])
        let report = try await device(service).engine.sync()
        #expect(report.entities["Task"]?.unreadableValues == 3)
        let first = try #require(report.entities["Task"]?.firstUnreadableValue)
        #expect(first.hasPrefix("Task 1, points: "))
        #expect("\(report)" == "Task: pulled 2 inserted; 3 unreadable values, first \(first)")
        #expect(report.entities["Task"]?.pulledInserts == 2)
    }

    @Test("A report counts each change once that is blocked before it is sent")
    func blockedBeforeSent() async throws {
        let service = InMemoryService()
        let schema = """
            {"entities": {
              "Head": {"attributes": {"remoteID": "integer", "at": "date"},
                "relationships": {"body": {"entity": "Body", "optional": false}}},
              "Body": {"attributes": {"remoteID": "integer", "name": "string"},
                "relationships": {"head": {"entity": "Head", "optional": false}}},
              "Tag": {"attributes": {"remoteID": "integer", "at": "date"}}}}
            """
        let device = try Device(service, schema: schema, entities: ["Head", "Body", "Tag"])
        try await device.write(
            """
            PRAGMA defer_foreign_keys = ON;
            INSERT INTO Head (remoteID, bodyID) VALUES (-1, -2);
            INSERT INTO Body (remoteID, headID) VALUES (-2, -1);
            INSERT INTO Tag (remoteID, at) VALUES (-3, 'no date');
            INSERT INTO Tag (remoteID) VALUES (-4);
            """)
        let report = try await device.engine.sync()
        #expect(report.total.pushedInserts == 1)
        #expect(report.entities.mapValues(\.blockedChanges) == ["Head": 1, "Body": 1, "Tag": 1])
        #expect(try await device.engine.blockedChanges().count == 3)
    }

    @Test("A report counts rows in conflict and their values, including rows deleted on the service")
    func conflicts() async throws {
        let service = InMemoryService()
        await service.set("Project", 1, ["name": "p"])
        for id in 1...3 {
            await service.set("Task", JSONValue(id), ["title": "t", "points": 1, "done": false, "project_id": 1])
        }
        let device = try device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'mine', points = 2")
        await service.set("Task", 1, ["title": "theirs", "points": 3])
        for id in 2...3 { await service.remove("Task", JSONValue(id)) }
        let task = try #require(try await device.engine.sync().entities["Task"])
        #expect(task.conflicts == 3)
        // Two values of the first row, and all four columns of the deleted rows, since these can be restored.
        #expect(task.conflictingValues == 10)
        #expect(try await device.engine.conflicts().count == 10)
    }

    @Test("Conflicts of rows deleted by a cascade are counted for their own entity")
    func cascadedConflicts() async throws {
        let service = InMemoryService()
        await service.set("Project", 1, ["name": "p"])
        for id in 1...2 { await service.set("Task", JSONValue(id), ["title": "t", "project_id": 1]) }
        let device = try device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'mine'")
        await service.remove("Project", 1)
        let report = try await device.engine.sync()
        #expect(report.entities["Task"]?.conflicts == 2)
        #expect(report.entities["Project"]?.conflicts == 0)
    }

    @Test("A report counts a row that a delete rule keeps though the service deleted it", arguments: [true, false])
    func denied(_ tombstones: Bool) async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: tombstones ? .tombstones : .listing,
                createIdempotency: .idempotencyKey,
                supportsPreconditions: true, providesModificationTimes: true, maxBatchSize: 10))
        await service.set("Project", 1, ["name": "p"])
        await service.set("Task", 1, ["title": "t", "project_id": 1])
        let device = try device(service, "deny")
        try await device.engine.sync()
        await service.remove("Project", 1)
        let report = try await device.engine.sync()
        #expect(report.entities["Project"]?.blockedChanges == 1)
        let parked = try await device.engine.blockedChanges()
        #expect(parked.map(\.entity) == ["Project"])
        #expect(parked.first?.reason.contains("denied by Project.tasks, which still has 1") == true)
        #expect(try await device.rows("SELECT count(*) FROM Project") == ["1"])
        await service.set("Task", 1, ["project_id": .null])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Project") == ["0"])
        #expect(try await device.engine.blockedChanges() == [])
    }

    @Test("A report counts records without an ID and has the index of the first across pages")
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
        #expect(report.entities["Task"]?.invalidRecords == 2)
        #expect(report.entities["Task"]?.firstInvalidRecord == 3)
        #expect(report.entities["Task"]?.pulledInserts == 3)
    }

    @Test(
        "A report counts the records of a full pull if none has the configured version",
        arguments: [("rev", nil), ("version", 3)] as [(String, Int?)])
    func unversioned(_ present: String, _ count: Int?) async throws {
        let transport = Served { request, _ in
            switch request.path {
            case "/tasks?page=1": (200, [:], [["id": 1], ["id": 2]])
            case "/tasks?page=2": (200, [:], [.object([.init("id", 3), .init(present, 7)])])
            default: (200, [:], [])
            }
        }
        var options = RESTOptions()
        (options.paging, options.versionField) = (.page(), "rev")
        let url = try #require(URL(string: "https://api.example.com"))
        let device = try Device(
            RESTService(baseURL: url, options: options, transport: transport),
            schema: #"{"entities": {"Task": {"attributes": {"id": "integer"}}}}"#, entities: ["Task"])
        let report = try await device.engine.sync()
        #expect(report.entities["Task"]?.unversionedRecords == count)
        #expect(report.description.contains("3 records without a version") == (count != nil))
        let again = try await device.engine.sync()
        #expect(again.entities["Task"]?.unversionedRecords == count)
        #expect(again.isEmpty)
    }

    @Test("Events report waits for the service and for an in-doubt request")
    func waiting() async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .matchByContent,
                supportsPreconditions: true,
                providesModificationTimes: true))
        let device = try device(service)
        try await device.engine.sync()
        try await device.stack.insert("Tag", values: ["name": "new"])
        await service.deleteRequests()
        await service.setFault { request, number in
            if number == 1 { return .busy }
            guard case .push = request, number < 6 else { return nil }
            return .failsBeforeApply
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
                "the service asks to wait: busy", "an in-doubt request may still be executed",
            ])
        #expect(waits.last.map { $0.0 > .zero && $0.0 <= .seconds(30) } == true)
    }
}
