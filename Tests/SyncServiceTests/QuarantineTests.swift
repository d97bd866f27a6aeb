import Foundation
import GRDB
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Quarantined records, open conflicts, and changes whose rows were not found.
@Suite("Quarantined records and open conflicts")
struct QuarantineTests {
    private func service(_ deletions: ServiceCapabilities.DeletionDetection = .tombstones) -> InMemoryService {
        InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: deletions, createIdempotency: .idempotencyKey,
                supportsPreconditions: true, providesModificationTimes: true,
                maxBatchSize: 10), pageSize: 1)
    }

    /// Returns a device on which titles are unique, unlike on the service.
    private func device(_ service: InMemoryService, _ entities: [SyncedEntity] = ["Project", "Task", "Tag"])
        async throws
        -> Device
    {
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Device.schema.utf8)))
        try await stack.write { db in try db.execute(sql: "CREATE UNIQUE INDEX mine ON Task (title)") }
        return try Device(stack, service, entities: entities)
    }

    // MARK: IDs that are not keys

    /// A list with a row whose ID is not a valid key in one answer, or in all.
    private actor Listing {
        var rows: [JSONValue] = [["id": 1, "title": "t", "at": "2026-01-01T00:00:00Z"]]
        private var faulty = 0
        private(set) var wholePulls = 0
        private static let ghost: JSONValue = ["id": ["no": "id"], "title": "ghost", "at": "2026-01-02T00:00:00Z"]

        func add(_ row: JSONValue) { rows.append(row) }
        func spoil(_ count: Int) { faulty = count }

        func answer(_ request: HTTPRequest) -> JSONValue {
            let isDelta = request.path?.contains("since=") ?? false
            if !isDelta { wholePulls += 1 }
            faulty -= 1
            if faulty >= 0 { return .array((isDelta ? [] : rows) + [Self.ghost]) }
            return .array(isDelta ? [] : rows)
        }
    }

    private func device(_ listing: Listing, isDelta: Bool) throws -> Device {
        var options = RESTOptions()
        options.versionField = "at"
        if isDelta { (options.sinceParameter, options.deletedField) = ("since", "deleted_at") }
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")), options: options,
            transport: Served { request, _ in
                (200, ["Date": "Sat, 03 Jan 2026 00:00:00 GMT"], await listing.answer(request))
            })
        return try Device(service, entities: ["Task"])
    }

    @Test(
        "A record whose ID was invalid in one answer is quarantined until a complete list lacks it",
        arguments: [true, false])
    func ghost(_ isDelta: Bool) async throws {
        let listing = Listing()
        let device = try device(listing, isDelta: isDelta)
        try await device.engine.sync()
        await listing.spoil(1)
        // The record with a valid ID.
        await listing.add(["id": 2, "title": "real", "at": "2026-01-02T00:00:00Z"])
        try await device.engine.sync()
        #expect(
            try await device.engine.blockedChanges().map(\.reason) == [
                "the ID of the record is not a valid key of Task"
            ])
        try await device.engine.sync()
        #expect(try await device.engine.blockedChanges().isEmpty)
        #expect(try await device.rows("SELECT title FROM Task ORDER BY 1") == ["real", "t"])
        #expect(try await device.leftovers() == [])
        // The device pulls changes again.
        let count = await listing.wholePulls
        try await device.engine.sync()
        if isDelta { #expect(await listing.wholePulls == count) }
    }

    @Test(
        "A record whose ID is invalid in each answer is quarantined, and causes one complete pull",
        arguments: [true, false])
    func lasting(_ isDelta: Bool) async throws {
        let listing = Listing()
        let device = try device(listing, isDelta: isDelta)
        try await device.engine.sync()
        await listing.spoil(100)
        for _ in 0..<4 { try await device.engine.sync() }
        #expect(try await device.engine.blockedChanges().count == 1)
        if isDelta { #expect(await listing.wholePulls == 2) }
    }

    // MARK: Constraints

    @Test("A quarantined version is not stored after a newer one")
    func newer() async throws {
        let service = service()
        let device = try await device(service)
        await service.set("Task", 1, ["title": "a"])
        await service.set("Task", 2, ["title": "a"])
        try await device.engine.sync()
        #expect(try await device.engine.blockedChanges().count == 1)
        await service.set("Task", 2, ["title": "b"])
        await service.set("Task", 1, ["title": "c"])
        try await device.engine.sync()
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, title FROM Task ORDER BY 1") == ["1 c", "2 b"])
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A quarantined record is not stored once it is deleted",
        arguments: [.tombstones, .listing] as [ServiceCapabilities.DeletionDetection])
    func deleted(_ deletions: ServiceCapabilities.DeletionDetection) async throws {
        let service = service(deletions)
        let device = try await device(service)
        await service.set("Task", 1, ["title": "a"])
        await service.set("Task", 2, ["title": "a"])
        try await device.engine.sync()
        await service.remove("Task", 2)
        await service.set("Task", 1, ["title": "c"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, title FROM Task ORDER BY 1") == ["1 c"])
        #expect(try await device.leftovers() == [])
    }

    @Test("Rows that swap unique values are written together")
    func swappedValues() async throws {
        let service = service()
        let device = try await device(service)
        for (id, title) in [(1, "a"), (2, "b"), (3, "c")] {
            await service.set("Task", JSONValue(id), ["title": .string(title), "points": 1])
        }
        try await device.engine.sync()
        for (id, title) in [(1, "b"), (2, "c"), (3, "a")] {
            await service.set("Task", JSONValue(id), ["title": .string(title)])
        }
        let report = try await device.engine.sync()
        #expect(
            try await device.rows("SELECT remoteID, title, points FROM Task ORDER BY 1") == ["1 b 1", "2 c 1", "3 a 1"])
        #expect(report.total.blockedChanges == 0)
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test("If a unique index prevents a rebase, all edits of the row stay pending")
    func preventedRebase() async throws {
        let service = service()
        let device = try await device(service)
        await service.set("Task", 1, ["title": "a", "points": 0])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'mine', points = 5 WHERE remoteID = 1")
        try await device.write("INSERT INTO Task (remoteID, title) VALUES (77, 'a')")
        try await device.engine.apply([["id": 1, "done": true]], inEntity: "Task")
        try await device.engine.sync()
        let task = await service.contents(of: "Task")[1]
        #expect(task?["title"] == "mine")
        #expect(task?["points"] == 5)
        #expect(try await device.leftovers() == [])
    }

    // MARK: Open conflicts

    private func conflicted(_ service: InMemoryService) async throws -> Device {
        await service.set("Task", 1, ["title": "t"])
        let device = try Device(service, entities: [SyncedEntity("Task", conflictPolicy: .manual)])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'here'")
        await service.set("Task", 1, ["title": "there"])
        try await device.engine.sync()
        #expect(try await device.engine.status().first?.openConflicts == 1)
        return device
    }

    @Test(
        "An open conflict ends once its row is deleted or has the service's value",
        arguments: ["DELETE FROM Task", "UPDATE Task SET title = 'there'", nil])
    func closed(_ sql: String?) async throws {
        let service = service()
        let device = try await conflicted(service)
        if let sql { try await device.write(sql) } else { await service.remove("Task", 1) }
        try await device.engine.sync()
        #expect(try await device.engine.status().map(\.openConflicts) == [0])
        #expect(try await device.leftovers() == [])
        let log = try await device.engine.conflicts().map { "\($0.winner) \($0.why)" }
        #expect(log.first?.contains("the row was") == true)
        let isKept = sql?.hasPrefix("UPDATE") == true
        #expect(await service.contents(of: "Task").count == (isKept ? 1 : 0))
    }

    @Test("A remote reset ends open conflicts")
    func reset() async throws {
        let device = try await conflicted(service())
        try await device.engine.reset(.remoteState)
        #expect(try await device.engine.status().map(\.openConflicts) == [0])
    }

    @Test(
        "A to-one changed on both sides is a conflict, even before the new referenced row is stored",
        arguments: [.clientWins, .serverWins, .manual] as [ConflictPolicy])
    func pendingTarget(_ policy: ConflictPolicy) async throws {
        let service = service()
        for id in 1...2 { await service.set("Project", JSONValue(id), ["name": "p"]) }
        await service.set("Task", 1, ["title": "t", "project_id": 1])
        let entities: [SyncedEntity] = [SyncedEntity("Task", conflictPolicy: policy), "Project"]
        let device = try Device(service, entities: entities)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET projectID = 2")
        await service.set("Project", 99, ["name": "new"])
        await service.set("Task", 1, ["project_id": 99])
        try await device.engine.sync()
        try await device.engine.sync()
        let log = try await device.engine.conflicts().map { "\($0.local) \($0.remote) \($0.winner)" }
        switch policy {
        case .serverWins:
            #expect(log == ["2 99 remote"])
            #expect(try await device.rows("SELECT projectID FROM Task") == ["99"])
        case .manual:
            #expect(log == ["2 99 open"])
            #expect(try await device.rows("SELECT projectID FROM Task") == ["2"])
            try await device.engine.resolve("Task", key: 1, keeping: .remote)
            #expect(try await device.rows("SELECT projectID FROM Task") == ["99"])
        default:
            #expect(log == ["2 99 local"])
            #expect(await service.contents(of: "Task")[1]?["project_id"] == 2)
            #expect(try await device.rows("SELECT projectID FROM Task") == ["2"])
        }
        if policy != .manual { #expect(try await device.leftovers() == []) }
    }

    // MARK: Rows that a request did not find

    @Test(
        "A row that a push did not find is deleted or created again in the next sync",
        arguments: DeleteConflictPolicy.allCases, [.tombstones, .listing] as [ServiceCapabilities.DeletionDetection])
    func gone(_ policy: DeleteConflictPolicy, _ deletions: ServiceCapabilities.DeletionDetection) async throws {
        let service = service(deletions)
        for id in 1...8 { await service.set("Task", JSONValue(id), ["title": .string("t\(id)")]) }
        let device = try Device(service, entities: [SyncedEntity("Task", deleteConflictPolicy: policy)])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'edited' WHERE remoteID = 1")
        await service.remove("Task", 1)
        try await device.engine.push()
        #expect(try await device.engine.status().first?.blockedChanges == 1)
        try await device.engine.sync()
        let titles = await service.contents(of: "Task").values.compactMap { $0["title"] }
        #expect(titles.contains("edited") == (policy == .editWins))
        #expect(try await device.rows("SELECT count(*) FROM Task") == [policy == .editWins ? "8" : "7"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A change whose row a push did not find is sent if the service has the row again")
    func thereAfterAll() async throws {
        let service = service(.listing)
        for id in 1...2 { await service.set("Task", JSONValue(id), ["title": "t"]) }
        let device = try Device(service, entities: ["Task"])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'edited' WHERE remoteID = 1")
        await service.remove("Task", 1)
        try await device.engine.push()
        await service.set("Task", 1, ["title": "t"])
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")[1]?["title"] == "edited")
        #expect(try await device.leftovers() == [])
    }

    @Test("New rows do not raise the deletion limit")
    func unsent() async throws {
        let service = service(.listing)
        for id in 1...30 { await service.set("Task", JSONValue(id), ["title": "t"]) }
        let device = try Device(service, entities: ["Task"])
        try await device.engine.sync()
        for id in 1...40 { try await device.write("INSERT INTO Task (remoteID, title) VALUES (\(1000 + id), 'new')") }
        for id in 1...30 { await service.remove("Task", JSONValue(id)) }
        await #expect {
            try await device.engine.sync()
        } throws: {
            ($0 as? SyncError)?.code == .deletionLimitExceeded
        }
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["70"])
    }
}
