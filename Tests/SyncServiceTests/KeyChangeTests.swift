import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Rows that are deleted or change their key during a request.
@Suite("Deleted rows and changed keys")
struct KeyChangeTests {
    private func service(
        _ idempotency: ServiceCapabilities.CreateIdempotency = .idempotencyKey,
        _ ids: ServiceCapabilities.IDAssignment = .server
    ) -> InMemoryService {
        InMemoryService(
            ServiceCapabilities(
                idAssignment: ids, deletionDetection: .tombstones, createIdempotency: idempotency,
                supportsPreconditions: true,
                providesModificationTimes: true, maxBatchSize: 10))
    }

    private actor Once {
        private var isDone = false
        func isFirst() -> Bool {
            defer { isDone = true }
            return !isDone
        }
    }

    private func duringCreation(_ service: InMemoryService, _ device: Device, _ sql: String) async {
        let once = Once()
        await service.onRequest { [stack = device.stack] request in
            guard case .push = request, await once.isFirst() else { return }
            try? await stack.write { db in try db.execute(sql: sql) }
        }
    }

    private static var configuration: SyncEngine.Configuration {
        var configuration = Device.configuration
        configuration.inDoubtTimeout = .zero
        return configuration
    }

    @Test(
        "A row that is deleted during its create is deleted on the service too",
        arguments: [.idempotencyKey, .markerField("m"), .matchByContent] as [ServiceCapabilities.CreateIdempotency],
        [false, true])
    func deletedInFlight(_ idempotency: ServiceCapabilities.CreateIdempotency, isLost: Bool) async throws {
        let service = service(idempotency)
        let device = try Device(service, Self.configuration)
        try await device.stack.insert("Task", values: ["title": "short"])
        await duringCreation(service, device, "DELETE FROM Task")
        if isLost { await service.setFault { _, number in number == 4 ? .failsAfterApply : nil } }
        try await device.engine.sync()
        try await device.engine.sync()
        #expect(await service.creations == 1)
        #expect(await service.contents(of: "Task").isEmpty)
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
        #expect(try await device.leftovers() == [])
        #expect(try await device.rows("SELECT count(*) FROM sync_known") == ["0"])
    }

    @Test("A row whose key changes during its create is one row on the service")
    func rekeyedInFlight() async throws {
        let service = service()
        let device = try Device(service, Self.configuration)
        try await device.write("INSERT INTO Task (remoteID, title) VALUES (900, 't')")
        await duringCreation(service, device, "UPDATE Task SET remoteID = 901")
        try await device.engine.sync()
        try await device.engine.sync()
        #expect(await service.contents(of: "Task").count == 1)
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["1"])
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A synced row whose key changes is deleted on the service and created again with its links")
    func rekeyed() async throws {
        let service = service()
        for id in 1...2 { await service.set("Tag", JSONValue(id), ["name": .string("g\(id)")]) }
        await service.set("Project", 7, ["name": "p"])
        await service.set("Task", 105, ["title": "t", "project_id": 7, "tag_ids": [1, 2]])
        await service.set("Task", 106, ["title": "u", "project_id": 7, "tag_ids": [2]])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET remoteID = 5000 WHERE remoteID = 105")
        try await device.write("UPDATE Tag SET remoteID = 6000 WHERE remoteID = 2")
        try await device.write("UPDATE Project SET remoteID = 7000 WHERE remoteID = 7")
        try await device.engine.sync()
        let tasks = await service.contents(of: "Task")
        let tags = await service.contents(of: "Tag")
        let project = try #require(await service.contents(of: "Project").keys.first)
        #expect(await service.contents(of: "Project").count == 1 && project != 7)
        #expect(Set(tasks.values.compactMap { $0["title"] }) == ["t", "u"])
        #expect(tasks[105] == nil && tasks[106]?["title"] == "u" && tags[2] == nil)
        #expect(Set(tags.values.compactMap { $0["name"] }) == ["g1", "g2"])
        let second = try #require(tags.first { $0.value["name"] == "g2" }?.key)
        for task in tasks.values {
            #expect(task["project_id"] == project)
            guard case .array(let ids)? = task["tag_ids"] else {
                Issue.record("no tags")
                continue
            }
            #expect(Set(ids) == (task["title"] == "t" ? [1, second] : [second]))
        }
        #expect(try await device.rows("SELECT title FROM Task ORDER BY 1") == ["t", "u"])
        #expect(try await device.rows("SELECT count(*) FROM Tag_tasks") == ["3"])
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    /// A service without versions, which returns all rows in each pull.
    private actor UnversionedService: InMemoryWrapper {
        nonisolated let memory = InMemoryService(
            ServiceCapabilities(
                idAssignment: .client, deletionDetection: .listing, createIdempotency: .clientID,
                supportsPreconditions: false, providesModificationTimes: false, maxBatchSize: 10))

        func pull(_ request: PullRequest) async throws -> PullPage {
            var page = try await memory.pull(PullRequest(entity: request.entity, cursor: nil, page: request.page))
            page.records = page.records.map { RemoteRecord(id: $0.id, record: $0.record) }
            return page
        }

        func list(of entity: String, page: String?) async throws -> ListPage {
            ListPage(ids: try await memory.list(of: entity, page: page).ids, versions: [:])
        }

        func push(_ operations: [PushOperation]) async throws -> [PushOutcome] { try await memory.push(operations) }
    }

    @Test(
        "A row with a pending reference whose key changes is deleted on a service without versions, without a conflict",
        arguments: DeleteConflictPolicy.allCases)
    func rekeyedWithPendingReference(_ policy: DeleteConflictPolicy) async throws {
        let service = UnversionedService()
        await service.memory.set("Task", "a", ["title": "t", "project_id": "p"])
        var configuration = Device.configuration
        configuration.deleteConflictPolicy = policy
        let schema = Device.schema.replacingOccurrences(
            of: "\"remoteID\": {\"type\": \"integer\"}", with: "\"remoteID\": {\"type\": \"string\"}")
        let device = try Device(service, schema: schema, configuration)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET remoteID = 'b'")
        for _ in 0..<2 { try await device.engine.sync() }
        let tasks = await service.memory.contents(of: "Task")
        #expect(tasks.keys.map(\.self) == ["b"])
        #expect(tasks["b"]?["project_id"] == "p")
        #expect(try await device.rows("SELECT remoteID, title, projectID FROM Task") == ["b t nil"])
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.leftovers() == [])
    }
}
