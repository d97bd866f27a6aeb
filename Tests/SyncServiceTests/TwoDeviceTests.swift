import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Two devices of one user with a service.
@Suite("Two devices")
struct TwoDeviceTests {
    let service = InMemoryService()

    @Test("A sync pulls all rows of the service")
    func pulls() async throws {
        for id in 1...7 {
            await service.set("Task", JSONValue(id), ["title": .string("t\(id)"), "project_id": 1, "tag_ids": [1, 2]])
        }
        await service.set("Project", 1, ["name": "p"])
        for id in 1...2 { await service.set("Tag", JSONValue(id), ["name": .string("g\(id)")]) }
        let device = try Device(service)
        let report = try await device.engine.sync()
        #expect(report.entities["Task"]?.pulledInserts == 7)
        let rows = try await device.rows("SELECT remoteID, title, projectID FROM Task")
        #expect(rows.first == "1 t1 1")
        #expect(rows.count == 7)
        #expect(try await device.rows("SELECT count(*) FROM Tag_tasks") == ["14"])
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test("Rows that plain SQL inserts, updates and deletes are sent")
    func pushes() async throws {
        let device = try Device(service)
        let project = try await device.stack.insert("Project", values: ["name": "p"])
        let tag = try await device.stack.insert("Tag", values: ["name": "g"])
        try await device.stack.insert(
            "Task", values: ["title": "one"], relationships: ["project": [project], "tags": [tag]])
        try await device.stack.insert("Task", values: ["title": "two"], relationships: ["project": [project]])
        let report = try await device.engine.sync()
        #expect(report.total.pushedInserts == 4)
        #expect(try await device.leftovers() == [])
        let tasks = await service.contents(of: "Task")
        #expect(Set(tasks.values.compactMap { $0["title"] }) == ["one", "two"])
        let projects = await service.contents(of: "Project")
        let id = try #require(projects.keys.first)
        #expect(tasks.values.allSatisfy { $0["project_id"] == id })
        let tags = await service.contents(of: "Tag")
        #expect(tasks.values.first { $0["title"] == "one" }?["tag_ids"] == .array(Array(tags.keys)))
        try await device.write("UPDATE Task SET done = 1 WHERE title = 'one'")
        try await device.write("DELETE FROM Task WHERE title = 'two'")
        await service.deleteRequests()
        let second = try await device.engine.sync()
        #expect(second.total.pushedUpdates == 1)
        #expect(second.total.pushedDeletes == 1)
        let pushed = await service.requests.flatMap { request -> [PushOperation] in
            if case .push(let operations) = request { return operations }
            return []
        }
        #expect(pushed.first { $0.kind == .update }?.record == ["done": true])
        #expect(try await device.leftovers() == [])
        #expect(await service.contents(of: "Task").count == 1)
    }

    @Test("Edits of different fields on two devices are both kept")
    func differentFields() async throws {
        await service.set("Task", 1, ["title": "t", "done": false, "points": 1])
        let (one, two) = (try Device(service), try Device(service))
        try await one.engine.sync()
        try await two.engine.sync()
        try await one.write("UPDATE Task SET title = 'new'")
        try await two.write("UPDATE Task SET points = 5")
        try await one.engine.sync()
        try await two.engine.sync()
        try await one.engine.sync()
        for device in [one, two] {
            #expect(try await device.rows("SELECT title, points FROM Task") == ["new 5"])
            #expect(try await device.engine.conflicts().isEmpty)
            let left = try await device.leftovers()
            #expect(left == [])
        }
    }

    @Test("The policy decides if two devices edit the same field", arguments: ConflictPolicy.allCases)
    func sameField(_ policy: ConflictPolicy) async throws {
        await service.set("Task", 1, ["title": "t"], time: Date(timeIntervalSince1970: 1_000_000))
        let entities: [SyncedEntity] = ["Project", SyncedEntity("Task", conflictPolicy: policy), "Tag"]
        let (one, two) = (try Device(service, entities: entities), try Device(service, entities: entities))
        try await one.engine.sync()
        try await two.engine.sync()
        try await one.write("UPDATE Task SET title = 'one'")
        try await one.engine.sync()
        try await two.write("UPDATE Task SET title = 'two'")
        try await two.engine.sync()
        let log = try await two.engine.conflicts()
        #expect(log.count == 1)
        let entry = try #require(log.first)
        #expect(entry.base == "t")
        #expect(entry.local == "two")
        #expect(entry.remote == "one")
        let title = try await two.rows("SELECT title FROM Task")
        switch policy {
        case .clientWins, .lastWriterWins:
            #expect(entry.winner == "local")
            #expect(title == ["two"])
            #expect(await service.contents(of: "Task")[1]?["title"] == "two")
        case .serverWins:
            #expect(entry.winner == "remote")
            #expect(title == ["one"])
        case .manual:
            #expect(entry.winner == "open")
            #expect(title == ["two"])
            #expect(await service.contents(of: "Task")[1]?["title"] == "one")
            #expect(try await two.engine.status().first { $0.entity == "Task" }?.openConflicts == 1)
            try await two.engine.sync()
            #expect(try await two.engine.conflicts().count == 1)
            try await two.engine.resolve("Task", key: 1, keeping: .local)
            try await two.engine.sync()
            #expect(await service.contents(of: "Task")[1]?["title"] == "two")
        }
        #expect(try await two.leftovers() == [])
    }

    @Test(
        "The policy decides if one device deletes a row that the other edits", arguments: DeleteConflictPolicy.allCases)
    func deleteAgainstEdit(_ policy: DeleteConflictPolicy) async throws {
        await service.set("Task", 1, ["title": "t", "points": 3])
        let entities: [SyncedEntity] = ["Project", SyncedEntity("Task", deleteConflictPolicy: policy), "Tag"]
        let (one, two) = (try Device(service, entities: entities), try Device(service, entities: entities))
        try await one.engine.sync()
        try await two.engine.sync()
        try await one.write("DELETE FROM Task")
        try await two.write("UPDATE Task SET title = 'edited'")
        try await one.engine.sync()
        try await two.engine.sync()
        try await one.engine.sync()
        let expected = policy == .deleteWins ? [] : ["edited 3"]
        for device in [one, two] {
            #expect(try await device.rows("SELECT title, points FROM Task") == expected)
            let left = try await device.leftovers()
            #expect(left == [])
        }
        let log = try await two.engine.conflicts()
        #expect(!log.isEmpty)
        if policy == .deleteWins { #expect(log.contains { $0.field == "title" && $0.local == "edited" }) }
    }

    @Test("Links that two devices add and remove are merged")
    func sets() async throws {
        for id in 1...4 { await service.set("Tag", JSONValue(id), ["name": .string("g\(id)")]) }
        await service.set("Task", 1, ["title": "t", "tag_ids": [1, 2]])
        let (one, two) = (try Device(service), try Device(service))
        try await one.engine.sync()
        try await two.engine.sync()
        try await one.write("INSERT INTO Tag_tasks (taskID, tagID) VALUES (1, 3)")
        try await two.write("DELETE FROM Tag_tasks WHERE tagID = 1")
        try await two.write("INSERT INTO Tag_tasks (taskID, tagID) VALUES (1, 4)")
        try await one.engine.sync()
        try await two.engine.sync()
        try await one.engine.sync()
        for device in [one, two] {
            #expect(try await device.rows("SELECT tagID FROM Tag_tasks ORDER BY 1") == ["2", "3", "4"])
            let left = try await device.leftovers()
            #expect(left == [])
        }
    }

    @Test("An edit that is reverted is not sent")
    func revert() async throws {
        await service.set("Task", 1, ["title": "t"])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'x'")
        try await device.write("UPDATE Task SET title = 't'")
        try await device.write("DELETE FROM Task")
        try await device.write("INSERT INTO Task (remoteID, title) VALUES (1, 't')")
        #expect(try await device.engine.push().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test("If the service assigns the key of another new row, both rows are kept")
    func keyOfAnother() async throws {
        let device = try Device(service)
        try await device.write("INSERT INTO Task (remoteID, title) VALUES (1, 'app key'), (-5, 'local key')")
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title FROM Task ORDER BY title") == ["app key", "local key"])
        #expect(await service.contents(of: "Task").count == 2)
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test(
        "A store restored to before a create neither duplicates the row nor loses an edit",
        arguments: [true, false])
    func olderCopy(_ clientAssignsIDs: Bool) async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: clientAssignsIDs ? .client : .server, deletionDetection: .tombstones,
                createIdempotency: clientAssignsIDs ? .clientID : .idempotencyKey, supportsPreconditions: true,
                providesModificationTimes: true, maxBatchSize: 10)
        )
        let schema =
            clientAssignsIDs
            ? Device.schema.replacingOccurrences(
                of: "\"remoteID\": {\"type\": \"integer\"}", with: "\"remoteID\": {\"type\": \"string\"}")
            : Device.schema
        let entities = ["Project", "Task", "Tag"].map { SyncedEntity($0, conflictPolicy: .serverWins) }
        let device = try Device(service, schema: schema, entities: entities)
        let shadow = try await ShadowLog(device)
        try await device.stack.insert("Task", values: ["title": "first"])
        try await shadow.restore()
        try await device.engine.sync()
        try await shadow.restore()
        try await device.write("UPDATE Task SET title = 'second', points = 3")
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title, points FROM Task") == ["first nil"])
        #expect(await service.contents(of: "Task").count == 1)
        #expect(try await device.engine.conflicts().map(\.local) == ["second", 3])
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }
}
