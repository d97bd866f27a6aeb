import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Merges whose local side references a row that is not stored, such as a row that the service hides from the user.
@Suite("References to rows that are not stored")
struct AbsentReferenceTests {
    private let service = InMemoryService()

    private func pending(_ device: Device) async throws -> [String] {
        try await device.rows(
            "SELECT owner_entity, owner_key, relationship, target_entity, target_key FROM sync_pending")
    }

    @Test(
        "A merge that keeps a reference to a row that is not stored makes it a pending reference",
        arguments: [
            SyncedEntity.mergingWholeRow("Task"), SyncedEntity("Task", fieldGroups: [["title", "project"]]),
        ])
    func kept(_ task: SyncedEntity) async throws {
        await service.set("Project", 8, ["name": "p"])
        await service.set("Task", 1, ["title": "a", "project_id": 7])
        let device = try Device(service, entities: ["Project", task, "Tag"])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'here'")
        await service.set("Task", 1, ["title": "there", "project_id": 8])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title, projectID FROM Task") == ["here nil"])
        #expect(try await pending(device) == ["Task 1 project Project 7"])
        #expect(await service.contents(of: "Task")[1]?["project_id"] == 7)

        await service.set("Project", 7, ["name": "late"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title, projectID FROM Task") == ["here 7"])
        #expect(try await pending(device) == [])
        #expect(try await device.leftovers() == [])
    }

    @Test("A pending reference in an open conflict keeps both values through later pulls")
    func open() async throws {
        await service.set("Project", 8, ["name": "p"])
        await service.set("Task", 1, ["title": "a", "project_id": 7])
        let task = SyncedEntity("Task", conflictPolicy: .manual, mergesWholeRow: true)
        let device = try Device(service, entities: ["Project", task, "Tag"])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'here'")
        await service.set("Task", 1, ["title": "there", "project_id": 8])
        try await device.engine.sync()
        await service.set("Task", 1, ["points": 3])
        try await device.engine.sync()
        let conflicts = try await device.engine.conflicts().filter { $0.isOpen && $0.field == "project" }
        #expect(conflicts.map(\.local) == [7])
        #expect(conflicts.map(\.remote) == [8])
        try await device.engine.resolve("Task", key: 1, keeping: .local)
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")[1]?["project_id"] == 7)
        #expect(try await pending(device) == ["Task 1 project Project 7"])
        #expect(try await device.leftovers() == [])
    }

    @Test("An edit that replaces a pending reference is kept when the service changes another field")
    func replaced() async throws {
        await service.set("Project", 8, ["name": "p"])
        await service.set("Task", 1, ["title": "a", "project_id": 7])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET projectID = 8")
        await service.set("Task", 1, ["title": "there"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title, projectID FROM Task") == ["there 8"])
        #expect(await service.contents(of: "Task")[1]?["project_id"] == 8)
        #expect(try await pending(device) == [])
        #expect(try await device.leftovers() == [])
    }

    @Test("A resolver may return the ID of a row that is not stored")
    func merged() async throws {
        for id in 1...3 { await service.set("Project", JSONValue(id), ["name": "p"]) }
        await service.set("Task", 1, ["title": "a", "project_id": 1])
        var configuration = Device.configuration
        configuration.conflictResolver = { _ in .merged(99) }
        let device = try Device(service, configuration)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET projectID = 2")
        await service.set("Task", 1, ["project_id": 3])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT projectID FROM Task") == ["nil"])
        #expect(try await pending(device) == ["Task 1 project Project 99"])
        #expect(await service.contents(of: "Task")[1]?["project_id"] == 99)
        #expect(try await device.leftovers() == [])
    }

    @Test("A record whose merge leaves a dangling foreign key is quarantined, and the run stores the other records")
    func quarantined() async throws {
        await service.set("Task", 1, ["title": "a"])
        await service.set("Task", 2, ["title": "b"])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'here' WHERE remoteID = 1")
        // The trigger of the app runs when the merge writes the local title again.
        try await device.write(
            """
            CREATE TRIGGER app AFTER UPDATE OF title ON Task WHEN NEW.title = 'here' BEGIN
              UPDATE Task SET projectID = 999 WHERE remoteID = NEW.remoteID; END
            """)
        await service.set("Task", 1, ["points": 5])
        await service.set("Task", 2, ["title": "c"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title FROM Task WHERE remoteID = 2") == ["c"])
        let reasons = try await device.engine.blockedChanges().map(\.reason)
        #expect(reasons.contains { $0.contains("FOREIGN KEY constraint failed") })
    }
}
