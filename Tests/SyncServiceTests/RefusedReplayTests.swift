import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// The answer to a create was lost, and the next attempt is rejected: the first attempt may have created the row.
@Suite("Creates that are rejected after a lost answer")
struct RefusedReplayTests {
    /// Returns a service with a way to identify repeated creates.
    private static func service(_ idempotency: ServiceCapabilities.CreateIdempotency) -> InMemoryService {
        InMemoryService(
            ServiceCapabilities(
                idAssignment: idempotency == .clientID ? .client : .server, deletionDetection: .tombstones,
                createIdempotency: idempotency, supportsPreconditions: true, providesModificationTimes: true,
                maxBatchSize: 10))
    }

    private static let schema = """
        {"entities": {"Task": {"attributes": {"remoteID": {"type": "string"}, "title": {"type": "string"},
          "done": {"type": "boolean"}}}}}
        """

    private func device(_ service: InMemoryService, _ configuration: SyncEngine.Configuration = Device.configuration)
        throws -> Device
    {
        try Device(
            service, schema: service.capabilities.idAssignment == .client ? Self.schema : Device.schema,
            entities: ["Task"],
            configuration)
    }

    /// Sets the faults of the first pushes, and of all further ones.
    private func fault(
        _ service: InMemoryService, _ first: [InMemoryService.Fault], then: InMemoryService.Fault? = .refuse,
        isFetchBusy: Bool = false
    ) async {
        let faults = Faults(first, then)
        await service.setFault { request, _ in
            if isFetchBusy, case .fetch = request { return .busy }
            guard case .push(let operations) = request, operations.contains(where: { $0.kind == .create }) else {
                return nil
            }
            return faults.next()
        }
    }

    private static let ways: [ServiceCapabilities.CreateIdempotency] = [
        .idempotencyKey, .clientID, .matchByContent, .markerField("marker"),
    ]

    @Test("If a repeated create is rejected, the row is looked up and matched", arguments: ways)
    func matched(_ way: ServiceCapabilities.CreateIdempotency) async throws {
        let service = Self.service(way)
        let device = try device(service)
        try await device.engine.sync()
        try await device.stack.insert("Task", values: ["title": "mine"])
        await fault(service, [.failsAfterApply])
        try await device.engine.sync()
        #expect(await service.creations == 1)
        #expect(try await device.rows("SELECT title FROM Task") == ["mine"])
        await service.setFault(nil)
        try await device.write("UPDATE Task SET title = 'edited'")
        try await device.engine.sync()
        #expect(await service.contents(of: "Task").values.map { $0["title"] } == ["edited"])
        #expect(try await device.rows("SELECT title FROM Task") == ["edited"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A rejected repeat of a create keeps its key, even after an edit, so no second row is created")
    func keepsKey() async throws {
        // Other clients change the row, so that it is not found by its values.
        let service = Self.service(.idempotencyKey)
        let device = try device(service)
        try await device.engine.sync()
        try await device.stack.insert("Task", values: ["title": "mine"])
        await fault(service, [.failsAfterApply, .refuse, .refuse], then: nil)
        await service.onRequest { request in
            guard case .push = request, await service.creations == 1 else { return }
            await service.set("Task", 1, ["title": "theirs"])
        }
        let report = try await device.engine.sync()
        #expect(report.total.blockedChanges == 1)
        #expect(try await device.engine.blockedChanges().map(\.reason) == ["refused"])
        try await device.write("UPDATE Task SET title = 'edited' WHERE remoteID < 0")
        await service.onRequest(nil)
        try await device.engine.sync()
        try await device.engine.sync()
        #expect(await service.creations == 1)
        #expect(await service.contents(of: "Task").count == 1)
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["1"])
        #expect(try await device.leftovers() == [])
        let keys = await service.requests.flatMap { request -> [String] in
            guard case .push(let operations) = request else { return [] }
            return operations.filter { $0.kind == .create }.map(\.idempotencyKey)
        }
        #expect(Set(keys).count == 1)
    }

    @Test("Once the first create was certainly rejected, the edited row is sent")
    func edited() async throws {
        let service = Self.service(.idempotencyKey)
        let device = try device(service)
        try await device.engine.sync()
        try await device.stack.insert("Task", values: ["title": "bad"])
        let faults = Faults([.failsBeforeApply], nil)
        await service.setFault { request, _ in
            guard case .push(let operations) = request else { return nil }
            if let fault = faults.next() { return fault }
            return operations.contains { $0.record["title"] == "bad" } ? .refuse : nil
        }
        #expect(try await device.engine.sync().total.blockedChanges == 1)
        try await device.write("UPDATE Task SET title = 'good'")
        try await device.engine.sync()
        #expect(await service.contents(of: "Task").values.map { $0["title"] } == ["good"])
        #expect(try await device.rows("SELECT remoteID, title FROM Task") == ["1 good"])
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A row in an in-doubt create that is deleted locally is deleted on the service", arguments: [ways[0], ways[1]],
        [false, true])
    func deleted(_ way: ServiceCapabilities.CreateIdempotency, _ isBlocked: Bool) async throws {
        let service = Self.service(way)
        let device = try device(service)
        try await device.engine.sync()
        try await device.stack.insert("Task", values: ["title": "mine"])
        await fault(service, isBlocked ? [.failsAfterApply] : [.failsAfterApply, .busy], isFetchBusy: !isBlocked)
        await service.onRequest { request in
            // The row cannot be found by its values.
            guard case .push = request, await service.creations == 1, way == .idempotencyKey else { return }
            await service.set("Task", 1, ["title": "theirs"])
        }
        if isBlocked {
            try await device.engine.sync()
        } else {
            await #expect(throws: SyncError.self) {
                try await Device(device.stack, service, entities: ["Task"], Device.impatient).engine.sync()
            }
            await fault(service, [])
        }
        try await device.write("DELETE FROM Task")
        try await device.engine.sync()
        await service.setFault(nil)
        await service.onRequest(nil)
        for _ in 1...3 { try await device.engine.sync() }
        #expect(await service.contents(of: "Task").isEmpty)
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A first rejection is certain, so a deleted row is forgotten")
    func firstRejection() async throws {
        let service = Self.service(.idempotencyKey)
        let device = try device(service)
        try await device.stack.insert("Task", values: ["title": "mine"])
        await fault(service, [.refuse], then: nil)
        #expect(try await device.engine.sync().total.blockedChanges == 1)
        try await device.write("DELETE FROM Task")
        try await device.engine.sync()
        #expect(try await device.leftovers() == [])
        #expect(await service.creations == 0)
    }
}

/// A sequence of faults.
private final class Faults: @unchecked Sendable {
    private let lock = NSLock()
    private var first: ArraySlice<InMemoryService.Fault>
    private let then: InMemoryService.Fault?

    init(_ first: [InMemoryService.Fault], _ then: InMemoryService.Fault?) {
        (self.first, self.then) = (first[...], then)
    }

    func next() -> InMemoryService.Fault? { lock.withLock { first.popFirst() ?? then } }
}
