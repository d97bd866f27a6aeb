import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Records that the app fetched itself and passed to the engine.
@Suite("Applied records")
struct AppliedRecordTests {
    private let service = InMemoryService()

    private func device(_ configure: (inout SyncEngine.Configuration) -> Void = { _ in }) async throws -> Device {
        await service.set("Task", 1, ["title": "t", "points": 1])
        var configuration = Device.configuration
        configure(&configuration)
        let device = try Device(service, configuration)
        try await device.engine.sync()
        return device
    }

    private func log(_ device: Device) async throws -> [String] {
        try await device.engine.conflicts().map { "\($0.field) \($0.local) \($0.remote) \($0.winner)" }
    }

    @Test("An edit of a row that the app applied is merged with the edit of another device", arguments: [true, false])
    func edited(_ isNewer: Bool) async throws {
        let device = try await device { $0.conflictPolicy = .serverWins }
        if isNewer { await service.set("Task", 1, ["points": 2]) }
        try await device.engine.apply(["id": 1, "title": "t", "points": isNewer ? 2 : 1], inEntity: "Task")
        await service.set("Task", 1, ["title": "theirs"])
        try await device.write("UPDATE Task SET title = 'mine'")
        try await device.engine.push()
        #expect(await service.contents(of: "Task")[1]?["title"] == "theirs")
        #expect(try await device.rows("SELECT title, points FROM Task") == ["theirs \(isNewer ? 2 : 1)"])
        #expect(try await log(device) == ["title \"mine\" \"theirs\" remote"])
        #expect(try await device.engine.sync().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A value that is not a record is an error with its location, and no record is applied",
        arguments: [(5, "$"), (.null, "$"), ([["id": 7, "title": "new"], 5], "[1]")] as [(JSONValue, String)])
    func noRecord(_ json: JSONValue, _ path: String) async throws {
        let device = try await device()
        let error = await #expect(throws: SyncError.self) { try await device.engine.apply(json, inEntity: "Task") }
        #expect(error?.code == .recordExpected)
        #expect(error?.path == path)
        #expect(try await device.rows("SELECT remoteID FROM Task") == ["1"])
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "The deletion of a row that the app applied conflicts with the edit of another device",
        arguments: [true, false]
    )
    func deleted(_ deletesFirst: Bool) async throws {
        let device = try await device { $0.deleteConflictPolicy = .editWins }
        if deletesFirst { try await device.write("DELETE FROM Task") }
        try await device.engine.apply(["id": 1, "title": "t", "points": 1], inEntity: "Task")
        if !deletesFirst { try await device.write("DELETE FROM Task") }
        #expect(try await log(device) == [])
        await service.set("Task", 1, ["title": "theirs"])
        try await device.engine.push()
        #expect(await service.contents(of: "Task")[1]?["title"] == "theirs")
        #expect(try await device.rows("SELECT title FROM Task") == ["theirs"])
        #expect(try await device.engine.sync().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test("An applied record replaces the values of its version, and the next pull of the version applies again")
    func outdated() async throws {
        let device = try await device()
        try await device.engine.apply(["id": 1, "title": "old", "points": 0], inEntity: "Task")
        #expect(try await device.rows("SELECT title, points FROM Task") == ["old 0"])
        try await device.engine.reset(.cursors)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title, points FROM Task") == ["t 1"])
    }
}
