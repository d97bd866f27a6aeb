import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Pending changes that a user discards.
@Suite("Discarded changes")
struct DiscardedChangeTests {
    private static let edits = [
        "UPDATE Task SET title = 'mine', points = NULL WHERE remoteID = 1",
        "UPDATE Task SET projectID = 2 WHERE remoteID = 1",
        "UPDATE Task SET projectID = NULL WHERE remoteID = 1",
        "INSERT INTO Tag_tasks (tagID, taskID) VALUES (3, 1)",
        "DELETE FROM Tag_tasks WHERE taskID = 1 AND tagID = 2",
        "INSERT INTO Task (remoteID, title, projectID) VALUES (70, 'new', 1)",
        "INSERT INTO Task (remoteID, title) VALUES (70, 'new'); INSERT INTO Tag_tasks (tagID, taskID) VALUES (3, 70)",
        "DELETE FROM Task WHERE remoteID = 1",
        "UPDATE Task SET title = 'mine' WHERE remoteID = 1; DELETE FROM Task WHERE remoteID = 1",
        "DELETE FROM Task WHERE remoteID = 1; INSERT INTO Task (remoteID, title) VALUES (1, 'again')",
    ]

    private static func service() async -> InMemoryService {
        let service = InMemoryService()
        for id in 1...3 { await service.set("Tag", JSONValue(id), ["name": .string("g\(id)")]) }
        for id in 1...2 { await service.set("Project", JSONValue(id), ["name": "p"]) }
        await service.set("Task", 1, ["title": "t", "points": 5, "project_id": 1, "tag_ids": [2, 1]])
        return service
    }

    private static func contents(_ device: Device) async throws -> [String] {
        let task = "SELECT remoteID, title, points, projectID FROM Task ORDER BY 1"
        let links = "SELECT taskID, tagID FROM Tag_tasks ORDER BY 1, 2"
        return try await device.rows(task) + device.rows(links)
    }

    /// Syncs, and returns the changes that the service received.
    private func sentChanges(_ device: Device, _ service: InMemoryService) async throws -> [PushOperation] {
        await service.deleteRequests()
        try await device.engine.sync()
        return await service.requests.flatMap { request -> [PushOperation] in
            if case .push(let changes) = request { changes } else { [] }
        }
    }

    @Test("After a rejected change is discarded, the row is as the service has it", arguments: edits)
    func rejected(_ edit: String) async throws {
        let service = await Self.service()
        let device = try Device(service)
        try await device.engine.sync()
        let before = try await Self.contents(device)
        try await device.write(edit)
        await service.setFault { request, _ in if case .push = request { .refuse } else { nil } }
        try await device.engine.sync()
        let blocked = try await device.engine.blockedChanges()
        #expect(blocked.count == 1)
        for change in blocked { try await device.engine.discard(change) }
        await service.setFault(nil)

        #expect(try await Self.contents(device) == before)
        #expect(try await device.engine.status().allSatisfy { $0.pendingChanges == 0 && $0.blockedChanges == 0 })
        #expect(try await sentChanges(device, service) == [])
        #expect(try await Self.contents(device) == before)
        #expect(try await device.leftovers() == [])
    }

    @Test("A change that was not sent yet can be discarded", arguments: edits)
    func pending(_ edit: String) async throws {
        let service = await Self.service()
        let device = try Device(service)
        try await device.engine.sync()
        let before = try await Self.contents(device)
        try await device.write(edit)
        try await device.engine.discardChange(of: "Task", key: edit.contains("70") ? 70 : 1)
        #expect(try await Self.contents(device) == before)
        #expect(try await device.engine.pendingChangeCount() == 0)
        #expect(try await sentChanges(device, service) == [])
        #expect(try await device.leftovers() == [])
    }

    @Test("If the service applied a change without a response, discarding it sends the former value")
    func uncertain() async throws {
        let service = await Self.service()
        let device = try Device(service, Device.impatient)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'mine' WHERE remoteID = 1")
        await service.setFault { request, _ in
            if case .push = request { .failsAfterApply } else { .failsBeforeApply }
        }
        await #expect(throws: SyncError.self) { try await device.engine.push() }
        await service.setFault(nil)
        #expect(await service.contents(of: "Task")[1]?["title"] == "mine")
        try await device.engine.discardChange(of: "Task", key: 1)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title FROM Task") == ["t"])
        #expect(await service.contents(of: "Task")[1]?["title"] == "t")
        #expect(try await device.leftovers() == [])
    }

    @Test("Discarding a change with an open conflict keeps the remote value")
    func openConflict() async throws {
        var configuration = Device.configuration
        configuration.conflictPolicy = .manual
        let service = await Self.service()
        let device = try Device(service, configuration)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'mine', points = 8 WHERE remoteID = 1")
        await service.set("Task", 1, ["title": "theirs", "points": 5, "project_id": 1, "tag_ids": [2, 1]])
        try await device.engine.sync()
        #expect(try await device.engine.conflicts().filter(\.isOpen).count == 1)
        try await device.engine.discardChange(of: "Task", key: 1)
        #expect(try await device.rows("SELECT title, points FROM Task") == ["theirs 5"])
        #expect(try await device.engine.conflicts().filter(\.isOpen).isEmpty)
        #expect(try await sentChanges(device, service) == [])
        #expect(try await device.leftovers() == [])
    }

    @Test("A deleted row is restored with a reference to a row that is still deleted")
    func deletedReference() async throws {
        let service = await Self.service()
        let schema = Device.schema.replacingOccurrences(of: ", \"deleteRule\": \"cascade\"", with: "")
        let device = try Device(service, schema: schema)
        try await device.engine.sync()
        let before = try await Self.contents(device)
        try await device.write("DELETE FROM Task; DELETE FROM Project WHERE remoteID = 1")
        try await device.engine.discardChange(of: "Task", key: 1)
        #expect(try await device.rows("SELECT title, projectID FROM Task") == ["t nil"])
        try await device.engine.discardChange(of: "Project", key: 1)
        #expect(try await sentChanges(device, service) == [])
        #expect(try await Self.contents(device) == before)
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "Discarding the change of a list restores its order, also after the row is deleted", arguments: [false, true])
    func order(isDeleted: Bool) async throws {
        let many = "\"Tag\", \"many\": true"
        let service = await Self.service()
        await service.set("Task", 1, ["title": "t", "tag_ids": [2, 1, 3]])
        let schema = Device.schema.replacingOccurrences(of: many, with: "\(many), \"ordered\": true")
        let device = try Device(service, schema: schema)
        try await device.engine.sync()
        let order = "SELECT tagID FROM Tag_tasks WHERE taskID = 1 ORDER BY \(Device.place)"
        #expect(try await device.rows(order) == ["2", "1", "3"])
        try await device.write("UPDATE Tag_tasks SET \(Device.place) = 10 - tagID WHERE taskID = 1")
        if isDeleted { try await device.write("DELETE FROM Task") }
        try await device.engine.discardChange(of: "Task", key: 1)
        #expect(try await device.rows(order) == ["2", "1", "3"])
        #expect(try await sentChanges(device, service) == [])
        #expect(try await device.leftovers() == [])
    }

    @Test("A deleted row with a composite key is restored with its references")
    func compositeKey() async throws {
        let schema = """
            {"entities": {
              "Mark": {"primaryKey": ["project", "colour"],
                "attributes": {"project": "integer", "colour": "string", "note": "string"},
                "relationships": {"lines": {"entity": "Line", "many": true, "inverse": "mark"}}},
              "Line": {"attributes": {"id": "integer"}, "relationships": {"mark": {"entity": "Mark", "inverse": "lines"}}}
            }}
            """
        let service = InMemoryService()
        await service.set("Mark", [7, "red"], ["project": 7, "colour": "red", "note": "n"])
        await service.set("Line", 1, ["mark_id": [7, "red"]])
        let device = try Device(service, schema: schema, entities: ["Mark", "Line"])
        try await device.engine.sync()
        let joined = """
            SELECT l.id, m.project, m.colour, m.note FROM Line AS l LEFT JOIN Mark AS m ON m.rowid = l.markID
            """
        let before = try await device.rows(joined)
        #expect(before == ["1 7 red n"])
        try await device.write("UPDATE Mark SET note = 'mine'; DELETE FROM Mark")
        #expect(try await device.rows(joined) == ["1 nil nil nil"])
        try await device.engine.discardChange(of: "Mark", key: [7, "red"])
        try await device.engine.discardChange(of: "Line", key: 1)
        #expect(try await device.rows(joined) == before)
        #expect(try await sentChanges(device, service) == [])
        #expect(try await device.leftovers() == [])
    }

    @Test("A row without a pending change is an error that names the row")
    func none() async throws {
        let device = try Device(await Self.service())
        try await device.engine.sync()
        for key: JSONValue in [1, 99] {
            let error = await #expect(throws: SyncError.self) {
                try await device.engine.discardChange(of: "Task", key: key)
            }
            #expect(error?.code == .rowNotFound)
            #expect(error?.message == "Task \(key) has no pending change")
        }
    }
}
