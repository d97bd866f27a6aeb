import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Deleted rows with composite keys. SQLite may give their surrogate keys to other rows.
@Suite("Deleted rows with composite keys")
struct DeletedKeyTests {
    private static let schema = """
        {"entities": {
          "Project": {"primaryKey": ["area", "code"], "attributes": {"area": "integer", "code": "string", "name": "string"},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "project"}}},
          "Task": {"attributes": {"remoteID": "integer", "title": "string"},
            "relationships": {"project": {"entity": "Project", "inverse": "tasks"},
              "tags": {"entity": "Tag", "many": true, "inverse": "tasks"}}},
          "Tag": {"primaryKey": ["area", "code"], "attributes": {"area": "integer", "code": "string"},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "tags"}}}
        }}
        """

    private func service(
        _ idempotency: ServiceCapabilities.CreateIdempotency = .idempotencyKey, cascades: Bool = false
    ) -> InMemoryService {
        InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones, createIdempotency: idempotency,
                supportsPreconditions: false, providesModificationTimes: true, maxBatchSize: 10,
                requiresClientCascades: cascades, supportsCompositeIDs: true))
    }

    private func device(_ service: InMemoryService) throws -> Device {
        var configuration = Device.configuration
        configuration.inDoubtTimeout = .zero
        return try Device(service, schema: Self.schema, configuration)
    }

    private static let tasks =
        "SELECT t.title, p.code FROM Task t LEFT JOIN Project p ON p.sync_id = t.projectID"
    private static let tags = "SELECT g.code FROM Tag_tasks j JOIN Tag g ON g.sync_id = j.tagID ORDER BY 1"

    @Test("After a pulled deletion, a new row with the same composite key stays", arguments: [true, false])
    func createdAgain(_ isCreatedHere: Bool) async throws {
        let service = service(cascades: true)
        await service.set("Project", [1, "z"], ["area": 1, "code": "z", "name": "old"])
        let device = try device(service)
        try await device.engine.sync()
        await service.remove("Project", [1, "z"])
        try await device.engine.pull()
        #expect(try await device.leftovers() == [])
        if isCreatedHere {
            try await device.write("INSERT INTO Project (area, code, name) VALUES (1, 'z', 'new')")
        } else {
            await service.set("Project", [1, "z"], ["area": 1, "code": "z", "name": "new"])
            try await device.engine.push()
        }
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await service.contents(of: "Project") == [[1, "z"]: ["area": 1, "code": "z", "name": "new"]])
        #expect(try await device.rows("SELECT area, code, name FROM Project") == ["1 z new"])
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A row with a composite key that is deleted during its create is deleted on the service too",
        arguments: [.idempotencyKey, .markerField("marker"), .matchByContent, .clientID]
            as [ServiceCapabilities.CreateIdempotency])
    func deletedInFlight(_ idempotency: ServiceCapabilities.CreateIdempotency) async throws {
        let service = service(idempotency)
        let device = try device(service)
        try await device.engine.sync()
        try await device.write("INSERT INTO Project (area, code, name) VALUES (7, 'a', 'new')")
        await service.onRequest { request in
            guard case .push(let operations) = request, operations.contains(where: { $0.kind == .create }) else {
                return
            }
            try? await device.write("DELETE FROM Project")
        }
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await service.creations == 1)
        #expect(await service.contents(of: "Project").isEmpty)
        #expect(try await device.rows("SELECT count(*) FROM Project") == ["0"])
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test("A reference to a new row is sent if the row has the surrogate key of the row referenced before")
    func reusedSurrogateKey() async throws {
        let service = service(cascades: true)
        await service.set("Project", [1, "z"], ["area": 1, "code": "z"])
        await service.set("Task", 1, ["title": "t", "project_id": [1, "z"]])
        let device = try device(service)
        try await device.engine.sync()
        await service.remove("Project", [1, "z"])
        try await device.engine.pull()
        try await device.write(
            """
            INSERT INTO Project (area, code) VALUES (1, 'q');
            UPDATE Task SET projectID = (SELECT sync_id FROM Project);
            """)
        #expect(try await device.rows("SELECT projectID FROM Task") == ["1"])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await service.contents(of: "Project").keys.map(\.self) == [[1, "q"]])
        #expect(await service.contents(of: "Task")[1]?["project_id"] == [1, "q"])
        #expect(try await device.rows(Self.tasks) == ["t q"])
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    /// Returns a device whose task was edited and deleted by the service. The task had references to stored rows and
    /// pending references.
    private func deviceWithDeletedTask(_ service: InMemoryService) async throws -> Device {
        await service.set("Project", [1, "a"], ["area": 1, "code": "a"])
        await service.set("Tag", [1, "x"], ["area": 1, "code": "x"])
        await service.set("Task", 1, ["title": "t", "project_id": [1, "a"], "tag_ids": [[1, "x"]]])
        let device = try device(service)
        try await device.engine.sync()
        let record: JSONValue = ["project_id": [1, "z"], "tag_ids": [[1, "x"], [1, "y"]]]
        try await Sync.update(id: 1, with: record, inEntity: "Task", stack: device.stack)
        await service.remove("Task", 1)
        return device
    }

    @Test("A restored row gets its pending references to rows with composite keys that were pulled since its deletion")
    func restored() async throws {
        let service = service()
        let device = try await deviceWithDeletedTask(service)
        try await device.engine.sync()
        await service.set("Project", [1, "z"], ["area": 1, "code": "z"])
        await service.set("Tag", [1, "y"], ["area": 1, "code": "y"])
        try await device.engine.sync()
        try await device.engine.restoreDeleted("Task", key: 1)
        #expect(try await device.rows(Self.tasks) == ["t z"])
        #expect(try await device.rows(Self.tags) == ["x", "y"])
        for _ in 0..<2 { try await device.engine.sync() }
        let tasks = await service.contents(of: "Task").values.map(\.self)
        #expect(tasks.map { $0["project_id"] } == [[1, "z"]])
        #expect(tasks.map { $0["tag_ids"] } == [[[1, "x"], [1, "y"]]])
        #expect(try await device.rows(Self.tasks) == ["t z"])
        #expect(try await device.rows(Self.tags) == ["x", "y"])
        let log = try await device.engine.conflicts()
        #expect(log.first { $0.field == "tags" }?.local == [[1, "x"], [1, "y"]])
        #expect(log.allSatisfy { $0.outcome?.reason == .deletedRemotely })
        #expect(try await device.leftovers() == [])
    }

    @Test("A restored row gets no references to rows that have the surrogate keys of deleted rows")
    func restoredAfterReuse() async throws {
        let service = service()
        let device = try await deviceWithDeletedTask(service)
        await service.remove("Project", [1, "a"])
        await service.remove("Tag", [1, "x"])
        try await device.engine.sync()
        await service.set("Project", [1, "q"], ["area": 1, "code": "q"])
        await service.set("Tag", [1, "r"], ["area": 1, "code": "r"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT sync_id FROM Project UNION ALL SELECT sync_id FROM Tag") == ["1", "1"])
        let log = try await device.engine.conflicts()
        #expect(log.first { $0.field == "project" }?.base == [1, "a"])
        #expect(log.first { $0.field == "tags" }?.local == [[1, "x"], [1, "y"]])
        try await device.engine.restoreDeleted("Task", key: 1)
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await service.contents(of: "Task").values.map { $0["tag_ids"] } == [[]])
        #expect(try await device.rows(Self.tasks) == ["t nil"])
        #expect(try await device.rows(Self.tags) == [])
        #expect(try await device.leftovers() == [])
    }
}
