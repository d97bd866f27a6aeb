import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Columns that are one field together.
@Suite("Groups of columns")
struct FieldGroupTests {
    private static let schema = """
        {"entities": {"Person": {"attributes": {
          "remoteID": "integer", "name": "string", "street": "string", "city": "string"}}}}
        """

    private static func address(_ policy: ConflictPolicy) -> SyncedEntity {
        SyncedEntity("Person", conflictPolicy: policy, fieldGroups: [["street", "city"]])
    }

    @Test(
        "One side wins a whole group, and columns outside of it are merged alone",
        arguments: [ConflictPolicy.clientWins, .serverWins])
    func merged(_ policy: ConflictPolicy) async throws {
        let service = InMemoryService()
        await service.set("Person", 1, ["name": "n", "street": "s", "city": "c"])
        let device = try Device(service, schema: Self.schema, entities: [Self.address(policy)])
        try await device.engine.sync()
        await service.set("Person", 1, ["name": "theirs", "street": "their street"])
        try await device.write("UPDATE Person SET city = 'my city'")
        try await device.engine.sync()
        let isOurs = policy == .clientWins
        #expect(
            try await device.rows("SELECT name, street, city FROM Person")
                == [isOurs ? "theirs s my city" : "theirs their street c"])
        let there = await service.contents(of: "Person")[1]
        #expect(there?["street"] == (isOurs ? "s" : "their street"))
        #expect(there?["city"] == (isOurs ? "my city" : "c"))
        let log = try await device.engine.conflicts()
        #expect(Set(log.map(\.field)) == ["street", "city"])
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A conflict of a column ends when the service has its local value, also while the rest of the group conflicts",
        arguments: [true, false])
    func equalColumn(_ isWhole: Bool) async throws {
        let service = InMemoryService()
        await service.set("Task", 1, ["title": "t", "points": 1])
        let task = SyncedEntity(
            "Task", conflictPolicy: .manual, mergesWholeRow: isWhole, fieldGroups: isWhole ? [] : [["title", "points"]])
        let device = try Device(service, entities: [task])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'here', points = 2")
        await service.set("Task", 1, ["title": "there", "points": 3])
        try await device.engine.sync()
        #expect(try await Set(device.engine.conflicts().filter(\.isOpen).map(\.field)) == ["title", "points"])
        await service.set("Task", 1, ["points": 2])
        try await device.engine.sync()
        #expect(try await device.engine.conflicts().filter(\.isOpen).map(\.field) == ["title"])
        try await device.engine.resolve("Task", key: 1, keeping: .remote)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title, points FROM Task") == ["there 2"])
        #expect(await service.contents(of: "Task")[1]?["points"] == 2)
        #expect(try await device.leftovers() == [])
    }

    @Test("A group is sent as a whole and without other columns")
    func sent() async throws {
        let service = InMemoryService()
        await service.set("Person", 1, ["name": "n", "street": "s", "city": "c"])
        let device = try Device(service, schema: Self.schema, entities: [Self.address(.clientWins)])
        try await device.engine.sync()
        try await device.write("UPDATE Person SET city = 'mine'")
        try await device.engine.sync()
        #expect(await service.accepted.last == ["street": "s", "city": "mine"])
    }

    @Test(
        "A group with an unknown column, or a column in two groups, is rejected",
        arguments: [[["stret"]], [["city"], ["city"]]])
    func invalidGroups(_ groups: [[String]]) throws {
        #expect(throws: SyncError.self) {
            try Device(InMemoryService(), schema: Self.schema, entities: [SyncedEntity("Person", fieldGroups: groups)])
        }
    }

    @Test(
        "A row that is one field wins with its unedited columns; otherwise each column is merged alone",
        arguments: [false, true], [ConflictPolicy.clientWins, .lastWriterWins])
    func uneditedColumns(_ isWhole: Bool, _ policy: ConflictPolicy) async throws {
        for edit in [
            "UPDATE Task SET points = 2",
            "INSERT OR REPLACE INTO Task (remoteID, title, points, done) SELECT remoteID, title, 2, done FROM Task",
        ] {
            let service = InMemoryService()
            func time(_ seconds: Double) -> Date { Date(timeIntervalSince1970: 1_000_000_000 + seconds) }
            await service.set("Task", 1, ["title": "t", "points": 1], time: time(0))
            let task = SyncedEntity("Task", conflictPolicy: policy, mergesWholeRow: isWhole)
            let device = try Device(service, entities: ["Project", task, "Tag"])
            try await device.engine.sync()
            await service.set("Task", 1, ["title": "there"], time: time(1))
            try await device.write(edit)
            try await device.engine.sync()
            let expected = isWhole ? "t" : "there"
            #expect(try await device.rows("SELECT title, points FROM Task") == ["\(expected) 2"], "\(edit)")
            let there = await service.contents(of: "Task")[1]
            #expect(there?["title"] == .string(expected) && there?["points"] == 2, "\(edit)")
            let log = try await device.engine.conflicts().filter { $0.field == "title" }
            #expect(log.map { [$0.local, $0.remote] } == (isWhole ? [["t", "there"]] : []), "\(edit)")
            #expect(try await device.leftovers() == [])
        }
    }

    @Test("A group that references a new row is sent after that row", arguments: [false, true])
    func awaitsReferencedRow(_ isWhole: Bool) async throws {
        let service = InMemoryService()
        await service.set("Task", 1, ["title": "t", "points": 1])
        let task = SyncedEntity("Task", mergesWholeRow: isWhole, fieldGroups: isWhole ? [] : [["title", "project"]])
        let device = try Device(service, entities: ["Project", task, "Tag"])
        try await device.engine.sync()
        try await device.stack.insert("Project", values: ["name": "new"])
        try await device.write("UPDATE Task SET points = 2, projectID = (SELECT remoteID FROM Project)")
        await service.deleteRequests()
        try await device.engine.push(only: ["Task"])
        #expect(await service.contents(of: "Task")[1]?["points"] == (isWhole ? 1 : 2))
        #expect(await service.contents(of: "Task")[1]?["title"] == "t")
        try await device.engine.sync()
        let project = await service.contents(of: "Project").keys.first
        #expect(await service.contents(of: "Task")[1]?["project_id"] == project)
        #expect(try await device.leftovers() == [])
    }
}
