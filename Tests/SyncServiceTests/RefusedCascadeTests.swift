import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Deletions of a cascade that the service leaves to the engine, and rejects.
@Suite("Rejected deletions of a cascade")
struct RefusedCascadeTests {
    private let service = InMemoryService(
        ServiceCapabilities(
            idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .idempotencyKey,
            supportsPreconditions: true, providesModificationTimes: true,
            maxBatchSize: 10, requiresClientCascades: true))

    private func device(_ schema: String = Device.schema) async throws -> Device {
        for id in 1...2 { await service.set("Project", JSONValue(id), ["name": "p"]) }
        for id in 1...2 { await service.set("Task", JSONValue(id), ["title": "t", "project_id": JSONValue(id)]) }
        await service.set("Tag", 1, ["name": "g"])
        let device = try Device(service, schema: schema)
        try await device.engine.sync()
        await service.setFault { request, _ in
            if case .push = request { .refuse } else { nil }
        }
        return device
    }

    @Test(
        "A row whose cascaded deletion is rejected comes back if the service had changed it",
        arguments: [1, 2, 3], [true, false])
    func givesWay(_ refusals: Int, _ isRetried: Bool) async throws {
        let device = try await device()
        await service.remove("Project", 1)
        for number in 1...refusals {
            try await device.engine.sync()
            #expect(try await device.engine.blockedChanges().map(\.reason) == ["refused"])
            // Changes that were rejected once are tried again after a deletion.
            if isRetried {
                await service.set("Tag", JSONValue(number + 1), ["name": "g"])
                try await device.engine.sync()
                await service.remove("Tag", JSONValue(number + 1))
            }
        }
        await service.set("Task", 1, ["project_id": 2])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, projectID FROM Task") == ["1 2", "2 2"])
        await service.setFault(nil)
        await service.remove("Tag", 1)
        try await device.engine.sync()
        #expect(await service.contents(of: "Task").count == 2)
        #expect(try await device.leftovers() == [])
    }

    @Test("A rejected deletion of a cascade is sent again after another deletion")
    func isDeleted() async throws {
        let device = try await device()
        await service.remove("Project", 1)
        try await device.engine.sync()
        await service.setFault(nil)
        await service.remove("Tag", 1)
        try await device.engine.sync()
        #expect(await service.contents(of: "Task").keys.map(\.self) == [2])
        #expect(try await device.leftovers() == [])
    }

    @Test("A rejected unlinking is no edit, so a later remote deletion of the row is not logged")
    func unlinked() async throws {
        let schema = Device.schema.replacingOccurrences(of: ", \"deleteRule\": \"cascade\"", with: "")
        let device = try await device(schema)
        await service.remove("Project", 1)
        try await device.engine.sync()
        #expect(try await device.engine.blockedChanges().map(\.reason) == ["refused"])
        await service.remove("Task", 1)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID FROM Task") == ["2"])
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test("An edit of a row with a rejected unlinking is logged if the service deletes the row")
    func edited() async throws {
        let schema = Device.schema.replacingOccurrences(of: ", \"deleteRule\": \"cascade\"", with: "")
        let device = try await device(schema)
        await service.remove("Project", 1)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'mine' WHERE remoteID = 1")
        await service.remove("Task", 1)
        try await device.engine.sync()
        #expect(try await device.engine.conflicts().first { $0.field == "title" }?.local == "mine")
        #expect(try await device.leftovers() == [])
    }

    @Test("Rows moved below a row with a rejected deletion reference nothing after its remote deletion")
    func awaited() async throws {
        let device = try await device()
        try await device.write("DELETE FROM Project WHERE remoteID = 1")
        try await device.engine.sync()
        await service.set("Task", 2, ["project_id": 1])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, projectID FROM Task") == ["2 2"])
        await service.remove("Project", 1)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, projectID FROM Task") == ["2 nil"])
        #expect(await service.contents(of: "Task").count == 2)
    }
}
