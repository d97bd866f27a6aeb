import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Pushes with several requests at the same time.
@Suite("Concurrent requests", .timeLimit(.minutes(60)))
struct ConcurrentRequestTests {
    private static let schema = """
        {"entities": {
          "Project": {"attributes": {"remoteID": {"type": "integer"}, "name": {"type": "string"}},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "project", "export": false}}},
          "Task": {"attributes": {"remoteID": {"type": "integer"}, "title": {"type": "string"}},
            "relationships": {"project": {"entity": "Project", "inverse": "tasks"}}}
        }}
        """

    private func service(_ count: Int) -> InMemoryService {
        InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .idempotencyKey,
                supportsPreconditions: true, providesModificationTimes: true, maxConcurrentRequests: count))
    }

    private func device(_ service: InMemoryService, rows: Int) async throws -> Device {
        let device = try Device(service, schema: Self.schema, entities: ["Project", "Task"])
        for id in 0..<rows {
            try await device.write("INSERT INTO Project (remoteID, name) VALUES (\(Int.min + id), 'p\(id)')")
            try await device.write(
                "INSERT INTO Task (remoteID, title, projectID) VALUES (\(Int.min + id), 't\(id)', \(Int.min + id))")
        }
        return device
    }

    /// Counts the pushes that are in flight. Each push waits until there are `count`.
    private actor Gate {
        private let count: Int
        private var waiting: [CheckedContinuation<Void, Never>] = []
        private(set) var pushes = 0

        init(_ count: Int) { self.count = count }

        func pass() async {
            pushes += 1
            guard waiting.count + 1 < count else {
                for push in waiting { push.resume() }
                return waiting = []
            }
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    @Test("As many requests as the service allows are in flight at the same time")
    func inFlight() async throws {
        let (service, gate) = (service(4), Gate(4))
        let device = try await device(service, rows: 8)
        await service.onRequest { request in
            if case .push = request { await gate.pass() }
        }
        try await device.engine.sync()
        #expect(await gate.pushes == 16)
        #expect(await service.contents(of: "Task").values.allSatisfy { $0["project_id"] != .null })
        #expect(await service.contents(of: "Task").count == 8)
    }

    @Test("Only changes of one entity are in flight, and deletions of children end before those of parents")
    func order() async throws {
        let service = service(3)
        let device = try await device(service, rows: 4)
        try await device.engine.sync()
        try await device.write("DELETE FROM Task; DELETE FROM Project")
        await service.deleteRequests()
        try await device.engine.push()
        let entities = await service.requests.compactMap { request -> String? in
            if case .push(let operations) = request { operations.first?.entity } else { nil }
        }
        #expect(entities == Array(repeating: "Task", count: 4) + Array(repeating: "Project", count: 4))
    }

    @Test("A lost response leaves the other requests of its group completed, and creates no second row")
    func lostResponse() async throws {
        let service = service(4)
        let device = try await device(service, rows: 4)
        await service.setFault { request, number in
            guard case .push = request else { return nil }
            return number % 3 == 0 ? .failsAfterApply : number % 5 == 0 ? .busy : nil
        }
        _ = try? await device.engine.sync()
        await service.setFault(nil)
        try await device.engine.sync()
        #expect(await service.creations == 8)
        #expect(try await device.engine.pendingChangeCount() == 0)
        #expect(await service.contents(of: "Project").count == 4)
        #expect(await service.contents(of: "Task").count == 4)
    }

    @Test("The largest limits of a service are accepted", arguments: [1, Int.max])
    func largestLimits(batchSize: Int) async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .idempotencyKey,
                supportsPreconditions: true, providesModificationTimes: true, maxBatchSize: batchSize,
                maxConcurrentRequests: .max))
        let device = try await device(service, rows: 120)
        try await device.engine.sync()
        #expect(await service.creations == 240)
        #expect(try await device.engine.pendingChangeCount() == 0)
    }

    @Test("A rejected change blocks only itself among requests in flight")
    func rejected() async throws {
        let service = service(4)
        let device = try await device(service, rows: 4)
        await service.setFault { request, _ in
            guard case .push(let operations) = request, operations.first?.record["name"] == "p1" else { return nil }
            return .refuse
        }
        try await device.engine.sync()
        #expect(try await device.engine.blockedChanges().map(\.entity) == ["Project"])
        #expect(await service.contents(of: "Project").count == 3)
        #expect(await service.contents(of: "Task").count == 3)
    }

    @Test("Two responses with the same record do not unite two new rows")
    func sameRecord() async throws {
        let service = AnswersWithOneRow(service(2))
        let device = try Device(service, schema: Self.schema, entities: ["Project", "Task"])
        try await device.write(
            """
            INSERT INTO Project (remoteID, name) VALUES (\(Int.min), 'one');
            INSERT INTO Project (remoteID, name) VALUES (\(Int.min + 1), 'two');
            """)
        _ = try? await device.engine.push()
        #expect(try await device.rows("SELECT name FROM Project ORDER BY name") == ["one", "two"])
    }

    @Test("A limit of the service below that of the client delays the push, and does not end it")
    func rateLimit() async throws {
        let service = service(4)
        let device = try await device(service, rows: 30)
        // One of four requests at the same time is too many.
        await service.setFault { request, number in
            guard case .push = request, number % 4 == 0 else { return nil }
            return .busy
        }
        try await device.engine.sync()
        #expect(try await device.engine.pendingChangeCount() == 0)
        #expect(await service.creations == 60)
    }
}

/// A service that returns the first created record in the response to each create.
private actor AnswersWithOneRow: InMemoryWrapper {
    nonisolated let memory: InMemoryService
    private var first: PushOutcome?

    init(_ memory: InMemoryService) { self.memory = memory }

    func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        let outcomes = try await memory.push(operations)
        guard operations.first?.kind == .create else { return outcomes }
        first = first ?? outcomes.first
        return first.map { [$0] } ?? outcomes
    }
}
