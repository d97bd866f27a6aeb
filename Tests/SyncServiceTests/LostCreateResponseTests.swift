import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Creates whose answer was lost or without a row. Another client deleted or edited the row afterwards, or the service
/// lost it.
@Suite("Creates with lost answers")
struct LostCreateResponseTests {
    typealias Idempotency = ServiceCapabilities.CreateIdempotency

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

    @Test(
        "After a reset of the cursors, an accepted create is sent once more if the service lost the row",
        arguments: [.markerField("marker"), .idempotencyKey, .matchByContent] as [Idempotency], [false, true])
    func acceptedAndLost(_ idempotency: Idempotency, _ isLost: Bool) async throws {
        let service = AcceptingService(idempotency)
        var configuration = Device.configuration
        configuration.inDoubtTimeout = .zero
        let device = try Device(service, entities: ["Task"], configuration)
        let backup = await service.memory.copy()
        try await device.stack.insert("Task", values: ["title": "mine"])
        #expect(try await device.engine.sync().total.blockedChanges == 1)
        try await device.engine.sync()
        #expect(await service.memory.creations == 1)
        if isLost { await service.memory.restore(backup) }
        await service.listRows()
        try await device.engine.reset(.cursors)
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await service.memory.creations == (isLost ? 2 : 1))
        #expect(await service.memory.contents(of: "Task").values.map { $0["title"] } == ["mine"])
        #expect(try await device.engine.blockedChanges().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "An accepted create is not sent again if the search for its row fails",
        arguments: [.markerField("marker"), .matchByContent] as [Idempotency])
    func acceptedWithFailedSearch(_ idempotency: Idempotency) async throws {
        let service = AcceptingService(idempotency)
        var configuration = Device.impatient
        configuration.inDoubtTimeout = .zero
        let device = try Device(service, entities: ["Task"], configuration)
        try await device.engine.sync()
        try await device.stack.insert("Task", values: ["title": "mine"])
        await service.failPulls(true)
        _ = try? await device.engine.push()
        #expect(await service.memory.creations == 1)
        await service.failPulls(false)
        try await device.engine.sync()
        #expect(await service.memory.creations == 1)
        await service.listRows()
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await service.memory.creations == 1)
        #expect(try await device.rows("SELECT title FROM Task") == ["mine"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A create of unknown outcome is not sent again without a search if its row is edited meanwhile")
    func editedInDoubt() async throws {
        let service = AcceptingService(.markerField("marker"))
        let device = try Device(service, entities: ["Task"], Device.impatient)
        try await device.engine.sync()
        try await device.stack.insert("Task", values: ["title": "mine"])
        await service.answer { _ in .unknown("the response was lost") }
        await service.failPulls(true)
        await service.onPush { try? await device.write("UPDATE Task SET title = 'edited'") }
        _ = try? await device.engine.push()
        await service.onPush(nil)
        await service.answer(nil)
        await service.failPulls(false)
        #expect(await service.memory.creations == 1)
        await service.listRows()
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await service.memory.creations == 1)
        #expect(await service.memory.contents(of: "Task").values.map { $0["title"] } == ["edited"])
        #expect(try await device.rows("SELECT title FROM Task") == ["edited"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A record without the marker of a repeated create is not taken for its row")
    func otherRowInResponse() async throws {
        let service = AcceptingService(.markerField("marker"))
        var configuration = Device.configuration
        configuration.inDoubtTimeout = .zero
        let device = try Device(service, entities: ["Task"], configuration)
        await service.listRows()
        try await device.engine.sync()
        try await device.stack.insert("Task", values: ["title": "mine"])
        await service.memory.setFault { request, _ in
            if case .push = request { .failsBeforeApply } else { nil }
        }
        _ = try? await Device(device.stack, service, entities: ["Task"], Device.impatient).engine.push()
        await service.memory.setFault(nil)
        await service.memory.set("Task", 70, ["title": "other"])
        try await device.engine.pull()
        let other = RemoteRecord(id: 70, record: ["id": 70, "title": "other"], version: "1")
        await service.answer { _ in .applied(other) }
        _ = try? await device.engine.push()
        await service.answer(nil)
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(Set(await service.memory.contents(of: "Task").values.map { $0["title"] }) == ["mine", "other"])
        #expect(try await device.rows("SELECT title FROM Task ORDER BY title") == ["mine", "other"])
        #expect(try await device.leftovers() == [])
    }
}

/// A service that accepts creates without returning the rows, and that lists the rows only later.
private actor AcceptingService: InMemoryWrapper {
    nonisolated let memory: InMemoryService
    private var isListing = false
    private var failsPulls = false
    private var answer: (@Sendable (PushOutcome) -> PushOutcome)?
    private var meanwhile: (@Sendable () async -> Void)?

    init(_ idempotency: LostCreateResponseTests.Idempotency) {
        memory = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones, createIdempotency: idempotency,
                supportsPreconditions: true, providesModificationTimes: true, maxBatchSize: 10))
    }

    func listRows() { isListing = true }

    /// Whether pulls fail, also those by which the engine searches for a row.
    func failPulls(_ fails: Bool) { failsPulls = fails }

    /// Sets the answer to each change that was carried out; nil for an acceptance without the row.
    func answer(_ answer: (@Sendable (PushOutcome) -> PushOutcome)?) { self.answer = answer }

    /// Sets an action to run before the answer to changes.
    func onPush(_ action: (@Sendable () async -> Void)?) { meanwhile = action }

    func pull(_ request: PullRequest) async throws -> PullPage {
        if failsPulls { throw ServiceError.unreachable("the service does not answer") }
        var page = try await memory.pull(request)
        if !isListing { page.records = [] }
        return page
    }

    func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        let outcomes = try await memory.push(operations)
        await meanwhile?()
        return outcomes.map { outcome in
            guard case .applied = outcome else { return outcome }
            return answer?(outcome) ?? .applied(nil)
        }
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
