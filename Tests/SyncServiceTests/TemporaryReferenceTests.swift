import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// References to rows with temporary keys whose entity the engine does not sync.
@Suite("References to rows with temporary keys")
struct TemporaryReferenceTests {
    private let service = InMemoryService()

    /// Returns the number of sent changes, and whether a record contains a temporary key.
    private func sent() async -> (count: Int, hasTemporaryKey: Bool) {
        let records = await service.requests.flatMap { request -> [String] in
            guard case .push(let operations) = request else { return [] }
            return operations.map { "\($0.record)" }
        }
        return (records.count, records.contains { $0.contains("-92233720368547758") })
    }

    private func insertTargets(_ device: Device) async throws -> (project: SyncRow, tag: SyncRow) {
        let project = try await device.stack.insert("Project", values: ["name": "local"])
        return (project, try await device.stack.insert("Tag", values: ["name": "local"]))
    }

    /// Syncs all entities, and checks that the service has the references of the only task with the title 'b'.
    private func expectReferences(_ device: Device) async throws {
        let all = try Device(device.stack, service)
        for _ in 0..<2 { try await all.engine.sync() }
        let task = await service.contents(of: "Task").values.first { $0["title"] == "b" }
        #expect(await service.contents(of: "Project").keys.first == task?["project_id"])
        #expect(await JSONValue.array(Array(service.contents(of: "Tag").keys)) == task?["tag_ids"])
        #expect(await !sent().hasTemporaryKey)
        #expect(try await all.leftovers() == [])
    }

    @Test("A changed row is sent without a reference to a row of an entity that is not synced")
    func changed() async throws {
        await service.set("Task", 1, ["title": "a"])
        let device = try Device(service, entities: ["Task"])
        try await device.engine.sync()
        _ = try await insertTargets(device)
        try await device.write(
            """
            UPDATE Task SET title = 'b', projectID = (SELECT remoteID FROM Project);
            INSERT INTO Tag_tasks (tagID, taskID) SELECT remoteID, 1 FROM Tag
            """)
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await sent().count == 1)
        #expect(await service.contents(of: "Task")[1]?["title"] == "b")
        #expect(await service.contents(of: "Task")[1]?["project_id"] == nil)
        #expect(try await device.engine.pendingChangeCount() == 1)
        try await expectReferences(device)
    }

    @Test("A new row is sent without a reference to a row of an entity that is not synced")
    func new() async throws {
        let device = try Device(service, entities: ["Task"])
        let (project, tag) = try await insertTargets(device)
        try await device.stack.insert(
            "Task", values: ["title": "b"], relationships: ["project": [project], "tags": [tag]])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await sent().count == 1)
        #expect(await service.contents(of: "Task").count == 1)
        #expect(try await device.engine.pendingChangeCount() == 1)
        try await expectReferences(device)
    }

    @Test("A row that is merged as a whole waits until the referenced row has a key of the service")
    func whole() async throws {
        await service.set("Task", 1, ["title": "a"])
        let device = try Device(service, entities: [.mergingWholeRow("Task")])
        try await device.engine.sync()
        _ = try await insertTargets(device)
        try await device.write(
            """
            UPDATE Task SET title = 'b', projectID = (SELECT remoteID FROM Project);
            INSERT INTO Tag_tasks (tagID, taskID) SELECT remoteID, 1 FROM Tag
            """)
        try await device.engine.sync()
        #expect(await sent().count == 0)
        try await expectReferences(device)
    }
}
