import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Rows made here that the service turns out to have.
@Suite("Twins")
struct TwinTests {
    @Test("are found by the marker when they are pulled, of whatever try", arguments: ["", "-1"])
    func marker(_ attempt: String) async throws {
        let service = FakeService(
            ServiceCapabilities(
                ids: .server, deletions: .tombstones, createIdempotency: .marker("client_ref"), hasPreconditions: true,
                givesTimes: true))
        let device = try Device(service)
        try await device.stack.insert("Task", values: ["title": "mine"])
        // An older copy of the store sent it.
        let birth = try #require(try await device.rows("SELECT birth FROM sync_change").first)
        await service.put("Task", 9, ["title": "mine", "points": .null, "client_ref": .string(birth + attempt)])
        try await device.write("UPDATE Task SET points = 5")
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, title, points FROM Task") == ["9 mine 5"])
        #expect(await service.creations == 0)
        #expect(await service.contents(of: "Task")[9]?["points"] == 5)
        #expect(try await device.leftovers() == [])
    }

    @Test("are no longer parked for what made them be refused")
    func parked() async throws {
        let service = FakeService()
        let device = try Device(service, entities: ["Project", SyncedEntity("Task", naturalKey: ["title"]), "Tag"])
        try await device.stack.insert("Task", values: ["title": "mine", "points": 5])
        try await device.write("UPDATE sync_change SET state = 'parked', reason = 'there is one', attempts = 2")
        await service.put("Task", 9, ["title": "mine", "points": 4])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, title, points FROM Task") == ["9 mine 5"])
        #expect(await service.contents(of: "Task")[9]?["points"] == 5)
        #expect(try await device.leftovers() == [])
    }
}
