import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// The lists of rows that the service deleted.
@Suite("Lists of deleted rows")
struct RestoredListTests {
    @Test(
        "The list of a deleted row is logged and restored with it, without links to deleted rows",
        arguments: ["edited", "made below"], [false, true])
    func restored(_ how: String, _ isOrdered: Bool) async throws {
        let service = InMemoryService()
        for id in 1...4 { await service.set("Tag", JSONValue(id), ["name": "g"]) }
        await service.set("Project", 1, ["name": "p"])
        await service.set("Task", 1, ["title": "t", "project_id": 1, "tag_ids": [1]])
        let many = "\"Tag\", \"many\": true"
        let schema = Device.schema.replacingOccurrences(of: many, with: isOrdered ? "\(many), \"ordered\": true" : many)
        let device = try Device(service, schema: schema)
        try await device.engine.sync()
        let id = how == "edited" ? 1 : 70
        if how == "edited" {
            try await device.write("UPDATE Task SET title = 'mine' WHERE remoteID = 1")
            await service.remove("Task", 1)
        } else {
            try await device.write("INSERT INTO Task (remoteID, title, projectID) VALUES (70, 'mine', 1)")
            await service.remove("Task", 1)
            await service.remove("Project", 1)
        }
        for tag in [3, 2, 4] {
            try await device.write("INSERT INTO Tag_tasks (tagID, taskID) VALUES (\(tag), \(id))")
        }
        if isOrdered {
            try await device.write("UPDATE Tag_tasks SET \(Device.place) = 10 - tagID WHERE taskID = \(id)")
        }
        await service.remove("Tag", 4)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
        let logged = try await device.engine.conflicts().first { $0.field == "tags" }
        guard case .array(let tags)? = logged?.local else {
            Issue.record("no list in the log: \(String(describing: logged))")
            return
        }
        #expect(Set(tags).isSuperset(of: how == "edited" ? [1, 2, 3] : [2, 3]))
        try await device.engine.restoreDeleted("Task", key: JSONValue(id))
        try await device.engine.sync()
        let made = await service.contents(of: "Task").values.first
        #expect(made?["title"] == "mine")
        guard case .array(let sent)? = made?["tag_ids"] else {
            Issue.record("no list is sent")
            return
        }
        #expect(Set(sent) == (how == "edited" ? [1, 2, 3] : [2, 3]))
        if isOrdered { #expect(sent.filter { $0 != 1 } == [3, 2]) }
        #expect(try await device.leftovers() == [])
    }

    @Test("A restored row has the list of the row that was last deleted with its key")
    func sameKey() async throws {
        let service = InMemoryService()
        for id in 1...2 { await service.set("Tag", JSONValue(id), ["name": "g"]) }
        let device = try Device(service)
        for tags: JSONValue in [[1, 2], []] {
            await service.set("Task", 9, ["title": "t", "tag_ids": tags])
            try await device.engine.sync()
            try await device.write("UPDATE Task SET title = 'mine'")
            await service.remove("Task", 9)
            try await device.engine.sync()
        }
        try await device.engine.restoreDeleted("Task", key: 9)
        #expect(try await device.rows("SELECT count(*) FROM Tag_tasks") == ["0"])
        try await device.engine.sync()
        try await device.write("DELETE FROM Task")
        try await device.engine.sync()
        try await device.engine.restoreDeleted("Task", key: 9)
        #expect(try await device.rows("SELECT count(*) FROM Tag_tasks") == ["2"])
    }

    @Test(
        "Links to a row that a device restores are sent again, and reach the other devices",
        arguments: [ServiceCapabilities.IDAssignment.client, .server], [false, true])
    func linksToRestored(_ ids: ServiceCapabilities.IDAssignment, _ isOrdered: Bool) async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: ids, deletionDetection: .tombstones,
                createIdempotency: ids == .client ? .clientID : .idempotencyKey, supportsPreconditions: true,
                providesModificationTimes: true))
        await service.set("Tag", 1, ["name": "red"])
        await service.set("Tag", 2, ["name": "blue"])
        await service.set("Project", 1, ["name": "p"])
        await service.set("Task", 1, ["title": "t", "project_id": 1, "tag_ids": [1]])
        let many = "\"Tag\", \"many\": true"
        let schema = Device.schema.replacingOccurrences(of: many, with: isOrdered ? "\(many), \"ordered\": true" : many)
        var configuration = Device.configuration
        configuration.deleteConflictPolicy = .editWins
        let (first, second) = (
            try Device(service, schema: schema, configuration), try Device(service, schema: schema, configuration)
        )
        for device in [first, second] { try await device.engine.sync() }
        await service.remove("Tag", 1)
        try await second.write("UPDATE Tag SET name = 'crimson' WHERE remoteID = 1")
        for device in [first, second, first] { try await device.engine.sync() }
        let links = """
            SELECT Task.title, Tag.name FROM Tag_tasks JOIN Tag ON tagID = Tag.remoteID
            JOIN Task ON taskID = Task.remoteID
            """
        for device in [first, second] {
            let found = try await device.rows(links)
            #expect(found == ["t crimson"])
        }

        try await first.write("INSERT INTO Tag_tasks (tagID, taskID) VALUES (2, 1)")
        for device in [first, second] { try await device.engine.sync() }
        for device in [first, second] {
            let found = try await device.rows("\(links) ORDER BY 2")
            #expect(found == ["t blue", "t crimson"])
            #expect(try await device.leftovers() == [])
        }
        guard case .array(let tags)? = await service.contents(of: "Task")[1]?["tag_ids"] else {
            Issue.record("the service has no list")
            return
        }
        #expect(tags.count == 2)
    }
}
