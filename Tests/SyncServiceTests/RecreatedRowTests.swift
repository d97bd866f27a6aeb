import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// A row whose create was not answered is pulled as another row, until the service identifies it.
@Suite("Created rows that are pulled as another row")
struct RecreatedRowTests {
    private let service = InMemoryService()

    private static let tree = """
        {"entities": {"Task": {"attributes": {"remoteID": "integer", "title": "string"}, "relationships": {
          "parent": {"entity": "Task", "inverse": "children"},
          "children": {"entity": "Task", "many": true, "inverse": "parent", "export": false}}}}}
        """

    /// Loses the answers to creates from now on.
    private func loseCreations() async {
        await service.setFault { request, _ in
            guard case .push(let operations) = request, operations.contains(where: { $0.kind == .create }) else {
                return nil
            }
            return .failsAfterApply
        }
    }

    /// Loses the answers to three creates.
    private func loseAnswers(_ device: Device) async throws {
        await loseCreations()
        try await device.engine.sync()
        try await device.engine.pull()
        await service.setFault(nil)
    }

    @Test("A created row that was pulled as another row keeps its pending changes and sends them")
    func keepsChanges() async throws {
        let device = try Device(service, schema: Self.tree, entities: ["Task"])
        try await device.write("INSERT INTO Task (remoteID, title, parentID) VALUES (-1, 'a', -1)")
        try await loseAnswers(device)
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["2"])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(try await device.rows("SELECT remoteID, title, parentID FROM Task") == ["1 a 1"])
        #expect(await service.contents(of: "Task").values.map { $0["parent_id"] } == [1])
        #expect(try await device.leftovers() == [])
    }

    @Test("A created row whose local copy was deleted stays as the pulled row")
    func deleted() async throws {
        await service.set("Tag", 1, ["name": "g"])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.stack.insert("Task", values: ["title": "mine"])
        try await loseAnswers(device)
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["2"])
        try await device.write("INSERT INTO Tag_tasks (taskID, tagID) VALUES (2, 1)")
        try await device.write("DELETE FROM Task WHERE remoteID <> 2")
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(try await device.rows("SELECT remoteID, title FROM Task") == ["2 mine"])
        #expect(await service.contents(of: "Task").count == 1)
        #expect(await service.contents(of: "Task")[2]?["tag_ids"] == [1])
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A created row deleted before it was pulled is deleted, unless it was edited or got a child since",
        arguments: ["", "edit", "child"])
    func deletedBefore(_ since: String) async throws {
        let device = try Device(service, schema: Self.tree, entities: ["Task"])
        try await device.engine.sync()
        try await device.stack.insert("Task", values: ["title": "mine"])
        await loseCreations()
        try await device.engine.push()
        try await device.write("DELETE FROM Task")
        try await device.engine.pull()
        await service.setFault(nil)
        #expect(try await device.rows("SELECT remoteID FROM Task") == ["1"])
        if since == "edit" { try await device.write("UPDATE Task SET title = 'edited'") }
        if since == "child" {
            try await device.write("INSERT INTO Task (remoteID, title, parentID) VALUES (-1, 'below', 1)")
        }
        for _ in 0..<2 { try await device.engine.sync() }
        let titles = await service.contents(of: "Task").values.compactMap { $0["title"] }
        let expected: Set<JSONValue> = since.isEmpty ? [] : since == "edit" ? ["edited"] : ["mine", "below"]
        #expect(Set(titles) == expected)
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["\(expected.count)"])
        #expect(try await device.leftovers() == [])
    }
}
