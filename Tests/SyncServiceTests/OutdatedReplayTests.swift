import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Requests without a response whose row another device changes before the next run. A repetition must not overwrite or
/// delete that row.
@Suite("Repeated requests for changed rows")
struct OutdatedReplayTests {
    private static func service(
        _ idempotency: ServiceCapabilities.CreateIdempotency = .idempotencyKey,
        _ detection: ServiceCapabilities.DeletionDetection = .listing
    ) -> InMemoryService {
        InMemoryService(
            ServiceCapabilities(
                idAssignment: idempotency == .clientID ? .client : .server, deletionDetection: detection,
                createIdempotency: idempotency, supportsPreconditions: false, providesModificationTimes: true,
                maxBatchSize: 10))
    }

    private static let schema = """
        {"entities": {"Task": {"attributes": {"remoteID": {"type": "string"}, "title": {"type": "string"}}}}}
        """

    private static func device(_ service: InMemoryService, _ policy: DeleteConflictPolicy = .deleteWins) async throws
        -> Device
    {
        await service.set("Task", "a", ["title": "first"])
        let device = try Device(service, schema: schema, entities: [SyncedEntity("Task", deleteConflictPolicy: policy)])
        try await device.engine.sync()
        return device
    }

    /// Writes a row, and runs an engine whose push has no response.
    private static func lose(
        _ sql: String, _ device: Device, _ service: InMemoryService, _ fault: InMemoryService.Fault,
        _ policy: DeleteConflictPolicy = .deleteWins
    ) async throws {
        try await device.write(sql)
        await service.setFault { request, _ in
            switch request {
            case .push: fault
            // The run cannot determine the outcome.
            case .fetch: .busy
            default: nil
            }
        }
        await #expect(throws: (any Error).self) {
            try await Device(
                device.stack, service, entities: [SyncedEntity("Task", deleteConflictPolicy: policy)], Device.impatient
            ).engine.sync()
        }
        await service.setFault(nil)
    }

    // MARK: Deletions

    @Test(
        "A remote edit after a deletion without a response is a conflict", arguments: DeleteConflictPolicy.allCases,
        [ServiceCapabilities.DeletionDetection.listing, .tombstones])
    func edited(_ policy: DeleteConflictPolicy, _ detection: ServiceCapabilities.DeletionDetection) async throws {
        let service = Self.service(.idempotencyKey, detection)
        let device = try await Self.device(service, policy)
        try await Self.lose("DELETE FROM Task", device, service, .failsBeforeApply, policy)
        await service.set("Task", "a", ["title": "theirs"])
        try await device.engine.sync()
        let conflicts = try await device.engine.conflicts()
        #expect(conflicts.count == 1 && conflicts.first?.remote["title"] == "theirs", "\(conflicts)")
        let titles = policy == .editWins ? ["theirs"] : []
        #expect(try await device.rows("SELECT title FROM Task") == titles)
        #expect(await service.contents(of: "Task").values.compactMap { $0["title"]?.string } == titles)
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A deletion without a response is completed if the service still has the version that was deleted, or no row",
        arguments: [InMemoryService.Fault.failsBeforeApply, .failsAfterApply])
    func unchanged(_ fault: InMemoryService.Fault) async throws {
        let service = Self.service()
        let device = try await Self.device(service)
        try await Self.lose("DELETE FROM Task", device, service, fault)
        try await device.engine.sync()
        #expect(await service.contents(of: "Task").isEmpty)
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test("A row that is inserted again after a deletion without a response is sent")
    func insertedAgain() async throws {
        for fault in [InMemoryService.Fault.failsBeforeApply, .failsAfterApply] {
            let service = Self.service(.clientID)
            let device = try await Self.device(service)
            try await Self.lose("DELETE FROM Task", device, service, fault)
            try await device.write("INSERT INTO Task (remoteID, title) VALUES ('a', 'again')")
            try await device.engine.sync()
            #expect(await service.contents(of: "Task")["a"]?["title"] == "again")
            #expect(try await device.rows("SELECT title FROM Task") == ["again"])
            #expect(try await device.leftovers() == [])
        }
    }

    @Test("A new row that reuses the ID of a row whose deletion had no response is a conflict")
    func reusedID() async throws {
        let service = Self.service()
        let device = try await Self.device(service, .editWins)
        try await Self.lose("DELETE FROM Task", device, service, .failsAfterApply, .editWins)
        await service.set("Task", "a", ["title": "another row"])
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")["a"]?["title"] == "another row")
        #expect(try await device.rows("SELECT title FROM Task") == ["another row"])
        #expect(try await device.engine.conflicts().count == 1)
    }

    // MARK: Creates

    @Test("A remote edit after a create with a client ID without a response is merged, and the losing value logged")
    func createdThenEdited() async throws {
        let service = Self.service(.clientID)
        let device = try await Self.device(service)
        try await Self.lose(
            "INSERT INTO Task (remoteID, title) VALUES ('b', 'mine')", device, service, .failsAfterApply)
        await service.set("Task", "b", ["title": "theirs"])
        try await device.engine.sync()
        let title = await service.contents(of: "Task")["b"]?["title"]
        let conflict = try #require(try await device.engine.conflicts().first { $0.field == "title" })
        #expect(Set([conflict.local, conflict.remote]) == ["mine", "theirs"])
        #expect(try await device.rows("SELECT title FROM Task WHERE remoteID = 'b'") == [title?.string])
        #expect(await service.creations == 1)
        #expect(try await device.leftovers() == [])
    }

    // MARK: Rows that the service never accepts

    /// A REST service that responds to the creation of tasks with the title `bad` with an error.
    private actor List {
        private(set) var tasks: [JSONValue] = []
        private(set) var attempts = 0

        func add(_ title: String) {
            tasks.append(["id": JSONValue(tasks.count + 1), "title": .string(title)])
        }

        func answer(_ request: HTTPRequest, _ body: JSONValue?) -> (Int, [String: String], JSONValue) {
            guard request.method == .post else { return (200, [:], .array(tasks)) }
            guard let title = body?["title"]?.string, title != "bad" else {
                attempts += 1
                return (500, [:], ["error": "out of memory"])
            }
            add(title)
            return (201, [:], tasks[tasks.count - 1])
        }
    }

    @Test("A row whose creation always fails stops neither pulls nor other changes", arguments: [5.0, 30, 120])
    func failingCreate(_ retrySeconds: Double) async throws {
        let list = List()
        var configuration = Device.configuration
        configuration.maxAttempts = 4
        configuration.retryTimeout = .seconds(retrySeconds)
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")), options: RESTOptions(),
            transport: Served { await list.answer($0, $1) })
        let device = try Device(service, entities: ["Task"], configuration)
        for number in 1...3 { try await device.write("INSERT INTO Task (title, points) VALUES ('bad', \(number))") }
        for number in 1...6 {
            await list.add("theirs \(number)")
            try await device.write("INSERT INTO Task (title) VALUES ('mine \(number)')")
            _ = try? await device.engine.sync()
            // A minute passes.
            try await device.write(
                "UPDATE sync_request SET prepared_at = prepared_at - 60000; UPDATE sync_engine SET not_before = not_before - 60000"
            )
        }
        let titles = Set(await list.tasks.compactMap { $0["title"]?.string })
        #expect(titles.count == 12, "\(titles.sorted())")
        #expect(try await device.rows("SELECT count(*) FROM Task WHERE title LIKE 'theirs%'") == ["6"])
        #expect(try await device.rows("SELECT count(*) FROM Task WHERE title LIKE 'mine%'") == ["6"])
        #expect(await list.attempts > 3)
        #expect(try await device.rows("SELECT count(*) FROM Task WHERE title = 'bad'") == ["3"])
    }
}
