import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Rows that are deleted while their creates are not yet sent or not answered.
@Suite("Creates of deleted rows")
struct CascadedCreateTests {
    private static let capabilities = ServiceCapabilities(
        idAssignment: .client, deletionDetection: .tombstones, createIdempotency: .clientID,
        supportsPreconditions: true, providesModificationTimes: true)

    /// A service that does not accept the ID of a deleted row again.
    private actor ReservingService: InMemoryWrapper {
        nonisolated let memory = InMemoryService(CascadedCreateTests.capabilities)
        private var usedIDs: Set<JSONValue> = []

        func add(_ id: JSONValue, _ record: JSONValue) async {
            usedIDs.insert(id)
            await memory.set("Task", id, record)
        }

        func removeAll() async {
            for id in await memory.contents(of: "Task").keys { await memory.remove("Task", id) }
        }

        func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
            var outcomes: [PushOutcome] = []
            for operation in operations {
                if operation.kind == .create, let id = operation.id, !usedIDs.insert(id).inserted,
                    await memory.contents(of: operation.entity)[id] == nil
                {
                    outcomes.append(.notFound)
                } else {
                    outcomes += try await memory.push([operation])
                }
            }
            return outcomes
        }
    }

    /// A service that rejects creates of tasks whose project does not exist.
    private actor CheckingService: InMemoryWrapper {
        nonisolated let memory = InMemoryService(CascadedCreateTests.capabilities)
        private(set) var rejections = 0

        func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
            var outcomes: [PushOutcome] = []
            for operation in operations {
                if operation.kind == .create, let id = operation.record["project_id"],
                    await memory.contents(of: "Project")[id] == nil
                {
                    rejections += 1
                    outcomes.append(.rejected("the project does not exist"))
                } else {
                    outcomes += try await memory.push([operation])
                }
            }
            return outcomes
        }
    }

    /// Returns two devices that have the task "seven", whose ID is reserved after its deletion.
    private func devices(_ service: ReservingService) async throws -> (one: Device, two: Device) {
        let schema = """
            {"entities": {"Task": {"attributes": {"id": "string", "title": "string", "points": "integer"}}}}
            """
        await service.add("seven", ["title": "t"])
        let task = SyncedEntity("Task", deleteConflictPolicy: .editWins)
        let (one, two) = (
            try Device(service, schema: schema, entities: [task]), try Device(service, schema: schema, entities: [task])
        )
        for device in [one, two] { try await device.engine.sync() }
        return (one, two)
    }

    @Test("If a row is pulled under its further ID and this copy is deleted, the row keeps the values of the service")
    func deletedCopy() async throws {
        let service = ReservingService()
        let (one, two) = try await devices(service)
        for number in 1...2 {
            await service.removeAll()
            try await one.write("UPDATE Task SET title = 'edited \(number)'")
            try await one.engine.sync()
        }
        try await two.write("UPDATE Task SET points = 5")
        try await two.engine.pull()
        #expect(try await two.rows("SELECT title, points FROM Task ORDER BY title") == ["edited 2 nil", "t 5"])
        try await two.write("DELETE FROM Task WHERE id <> 'seven'")
        for device in [two, one, two] { try await device.engine.sync() }
        let tasks = await service.memory.contents(of: "Task").values.map(\.self)
        #expect(tasks.map { $0["title"] } == ["edited 2"])
        #expect(tasks.map { $0["points"] } == [5])
        for device in [one, two] {
            #expect(try await device.rows("SELECT title, points FROM Task") == ["edited 2 5"])
            #expect(
                try await device.engine.conflicts().allSatisfy { $0.field == "" && $0.outcome?.reason == .editWins })
            #expect(try await device.engine.blockedChanges().map(\.reason) == [])
            #expect(try await device.leftovers() == [])
        }
    }

    @Test("A row gets a further ID if the service deleted the copy that another device created again")
    func deletedAgain() async throws {
        let service = ReservingService()
        let (one, two) = try await devices(service)
        await service.removeAll()
        try await one.write("UPDATE Task SET title = 'edited'")
        try await two.write("UPDATE Task SET points = 5")
        try await one.engine.sync()
        try await two.engine.pull()
        #expect(try await two.rows("SELECT title, points FROM Task ORDER BY title") == ["edited nil", "t 5"])
        await service.removeAll()
        for device in [two, one, two] { try await device.engine.sync() }
        let tasks = await service.memory.contents(of: "Task")
        #expect(tasks.values.map { $0["points"] } == [5])
        for device in [one, two] {
            #expect(try await device.rows("SELECT id FROM Task").map { .string($0) } == tasks.keys.map(\.self))
            #expect(try await device.rows("SELECT title, points FROM Task") == ["t 5"])
            #expect(try await device.engine.blockedChanges().map(\.reason) == [])
            #expect(try await device.leftovers() == [])
        }
    }

    @Test("If a cascade deleted a row whose create was not answered, the create is sent once more and not again")
    func rejectedAfterCascade() async throws {
        let service = CheckingService()
        let schema = Device.schema.replacing(
            "\"remoteID\": {\"type\": \"integer\"}", with: "\"remoteID\": {\"type\": \"string\"}")
        let device = try Device(service, schema: schema, Device.impatient)
        await service.memory.set("Project", "p", ["name": "p"])
        try await device.engine.sync()
        try await device.write("INSERT INTO Task (remoteID, title, projectID) VALUES ('t', 'mine', 'p')")
        await service.memory.setFault { request, _ in
            if case .push = request { .failsBeforeApply } else { nil }
        }
        await #expect(throws: SyncError.self) { try await device.engine.push() }
        await service.memory.setFault(nil)
        await service.memory.remove("Project", "p")
        try await device.engine.pull()
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
        for _ in 0..<3 { try await device.engine.sync() }
        #expect(await service.rejections == 1)
        #expect(await service.memory.contents(of: "Task").isEmpty)
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
        let log = try await device.engine.conflicts()
        #expect(log.first { $0.field == "title" }?.local == "mine")
        #expect(log.allSatisfy { $0.outcome?.reason == .deletedRemotely })
        #expect(try await device.engine.blockedChanges().map(\.reason) == [])
        #expect(try await device.leftovers() == [])
    }
}
