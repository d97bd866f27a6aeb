import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Creates whose answer was lost, and whose row another client deleted or edited afterwards.
@Suite("Creates with lost answers")
struct LostCreateResponseTests {
    private let service = InMemoryService(
        ServiceCapabilities(
            idAssignment: .client, deletionDetection: .tombstones, createIdempotency: .clientID,
            supportsPreconditions: true,
            providesModificationTimes: true,
            maxBatchSize: 10))

    private static let schema = """
        {"entities": {"Task": {"attributes": {"remoteID": {"type": "string"}, "title": {"type": "string"}}}}}
        """

    private func device(_ policy: DeleteConflictPolicy = .deleteWins) async throws -> Device {
        var configuration = Device.configuration
        configuration.deleteConflictPolicy = policy
        let device = try Device(service, schema: Self.schema, entities: ["Task"], configuration)
        await service.set("Task", "other", ["title": "other"])
        try await device.engine.sync()
        await service.setFault { request, _ in
            switch request {
            case .push: .failsAfterApply
            case .fetch: .busy
            default: nil
            }
        }
        try await device.write("INSERT INTO Task (remoteID, title) VALUES ('abc', 'mine')")
        var impatient = Device.impatient
        impatient.deleteConflictPolicy = policy
        await #expect(throws: SyncError.self) {
            try await Device(device.stack, service, entities: ["Task"], impatient).engine.sync()
        }
        await service.setFault(nil)
        #expect(await service.contents(of: "Task")["abc"] != nil)
        return device
    }

    @Test(
        "A row whose create was not answered and that the service deleted is deleted and logged",
        arguments: [false, true])
    func deleted(_ isEdited: Bool) async throws {
        let device = try await device()
        await service.remove("Task", "abc")
        if isEdited { try await device.write("UPDATE Task SET title = 'edited' WHERE remoteID = 'abc'") }
        try await device.engine.sync()
        #expect(await service.creations == 1)
        #expect(await service.contents(of: "Task").keys.map(\.self) == ["other"])
        #expect(try await device.rows("SELECT remoteID FROM Task") == ["other"])
        #expect(
            try await device.engine.conflicts().first { $0.field == "title" }?.local
                == .string(isEdited ? "edited" : "mine"))
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test("With editWins, a row whose create was not answered and that the service deleted is created again")
    func editWins() async throws {
        let device = try await device(.editWins)
        await service.remove("Task", "abc")
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")["abc"]?["title"] == "mine")
        #expect(try await device.engine.conflicts().count == 1)
        #expect(try await device.leftovers() == [])
    }

    /// The row cannot be distinguished from one that another device created with the same ID.
    @Test("A row whose create was not answered and that the service edited is merged without a base")
    func edited() async throws {
        let device = try await device()
        await service.set("Task", "abc", ["title": "theirs"])
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")["abc"]?["title"] == "mine")
        let log = try await device.engine.conflicts()
        #expect(log.map(\.field) == ["title"])
        #expect(log.first?.remote == "theirs" && log.first?.winner == "local")
        #expect(await service.creations == 1)
        #expect(try await device.leftovers() == [])
    }

    @Test("A create that was not answered is repeated only if it was not carried out", arguments: [false, true])
    func createdOnce(_ isThere: Bool) async throws {
        let device = try await device()
        if !isThere { await service.removeWithoutTombstone("Task", "abc") }
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")["abc"]?["title"] == "mine")
        #expect(await service.creations == (isThere ? 1 : 2))
        #expect(try await device.leftovers() == [])
    }

    @Test("A row that a cascade deletes before its create is answered is pulled again, and nothing is left over")
    func cascaded() async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .client, deletionDetection: .tombstones, createIdempotency: .clientID,
                supportsPreconditions: true, providesModificationTimes: true, requiresClientCascades: false))
        let schema = Device.schema.replacingOccurrences(
            of: "\"remoteID\": {\"type\": \"integer\"}", with: "\"remoteID\": {\"type\": \"string\"}")
        let device = try Device(service, schema: schema, Device.impatient)
        await service.set("Project", "p", ["name": "p"])
        try await device.engine.sync()
        try await device.write("INSERT INTO Task (remoteID, title) VALUES ('t', 'mine')")
        await service.setFault { request, _ in
            if case .push = request { .failsBeforeApply } else { nil }
        }
        await #expect(throws: SyncError.self) { try await device.engine.push() }
        try await device.write("UPDATE Task SET projectID = 'p' WHERE remoteID = 't'")
        await service.remove("Project", "p")
        try await device.engine.pull()
        await service.setFault(nil)
        #expect(try await device.rows("SELECT remoteID FROM Task") == [])
        try await device.engine.sync()
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")["t"]?["title"] == "mine")
        #expect(try await device.rows("SELECT remoteID, title, projectID FROM Task") == ["t mine nil"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A row whose natural key is empty is not found in a record that lacks these values")
    func emptyNaturalKey() async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .matchByContent,
                supportsPreconditions: true, providesModificationTimes: true))
        var configuration = Device.configuration
        configuration.inDoubtTimeout = .zero
        let device = try Device(
            service, entities: ["Project", SyncedEntity("Task", naturalKey: ["title"]), "Tag"], configuration)
        try await device.engine.sync()
        try await device.stack.insert("Task", values: ["points": 5])
        let pushes = PushCount()
        await service.setFault { request, _ in
            guard case .push = request, pushes.next() == 0 else { return nil }
            return .failsBeforeApply
        }
        // Another device creates a row meanwhile.
        await service.onRequest { [service] request in
            if case .push = request { await service.set("Task", 50, ["points": 9]) }
        }
        try await device.engine.push()
        await service.onRequest(nil)
        try await device.engine.sync()
        #expect(await service.contents(of: "Task").count == 2)
        #expect(try await device.rows("SELECT points FROM Task ORDER BY 1") == ["5", "9"])
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.leftovers() == [])
    }
}

/// Counts from 0.
private final class PushCount: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0

    func next() -> Int {
        lock.withLock {
            defer { count += 1 }
            return count
        }
    }
}
