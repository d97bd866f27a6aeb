import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// The service deletes nothing along with a row, and refuses what the engine sends for that.
@Suite("What goes along with a deletion and is refused")
struct RefusedCascadeTests {
    private let service = InMemoryService(
        ServiceCapabilities(
            ids: .server, deletions: .tombstones, createIdempotency: .key, hasPreconditions: true, givesTimes: true,
            batchSize: 10, sendsCascades: true))

    private func device(_ schema: String = Device.schema) async throws -> Device {
        for id in 1...2 { await service.put("Project", JSONValue(id), ["name": "p"]) }
        for id in 1...2 { await service.put("Task", JSONValue(id), ["title": "t", "project_id": JSONValue(id)]) }
        await service.put("Tag", 1, ["name": "g"])
        let device = try Device(service, schema: schema)
        try await device.engine.sync()
        await service.setFault { request, _ in
            if case .push = request { .refuse } else { nil }
        }
        return device
    }

    @Test(
        "comes back if the service turns out to have changed it, however often it was refused",
        arguments: [1, 2, 3], [true, false])
    func givesWay(_ refusals: Int, _ isRetried: Bool) async throws {
        let device = try await device()
        await service.remove("Project", 1)
        for number in 1...refusals {
            try await device.engine.sync()
            #expect(try await device.engine.parkedRows().map(\.reason) == ["refused"])
            // Rows that were refused once are tried again after a deletion.
            if isRetried {
                await service.put("Tag", JSONValue(number + 1), ["name": "g"])
                try await device.engine.sync()
                await service.remove("Tag", JSONValue(number + 1))
            }
        }
        await service.put("Task", 1, ["project_id": 2])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, projectID FROM Task") == ["1 2", "2 2"])
        await service.setFault(nil)
        await service.remove("Tag", 1)
        try await device.engine.sync()
        #expect(await service.contents(of: "Task").count == 2)
        #expect(try await device.leftovers() == [])
    }

    @Test("is deleted there once it is not refused any more, where nothing changed it")
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

    @Test("is no edit: a row that was unlinked goes without a line in the log")
    func unlinked() async throws {
        let schema = Device.schema.replacingOccurrences(of: ", \"deleteRule\": \"cascade\"", with: "")
        let device = try await device(schema)
        await service.remove("Project", 1)
        try await device.engine.sync()
        #expect(try await device.engine.parkedRows().map(\.reason) == ["refused"])
        await service.remove("Task", 1)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID FROM Task") == ["2"])
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test("is an edit once it was edited here")
    func edited() async throws {
        let schema = Device.schema.replacingOccurrences(of: ", \"deleteRule\": \"cascade\"", with: "")
        let device = try await device(schema)
        await service.remove("Project", 1)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'mine' WHERE remoteID = 1")
        await service.remove("Task", 1)
        try await device.engine.sync()
        #expect(try await device.engine.conflicts().first { $0.domain == "title" }?.local == "mine")
        #expect(try await device.leftovers() == [])
    }

    @Test("and whose row another client gives other rows, which point to nothing once it is deleted there")
    func awaited() async throws {
        let device = try await device()
        try await device.write("DELETE FROM Project WHERE remoteID = 1")
        try await device.engine.sync()
        await service.put("Task", 2, ["project_id": 1])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, projectID FROM Task") == ["2 2"])
        await service.remove("Project", 1)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, projectID FROM Task") == ["2 nil"])
        #expect(await service.contents(of: "Task").count == 2)
    }
}
