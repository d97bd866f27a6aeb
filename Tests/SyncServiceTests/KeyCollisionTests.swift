import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// New rows whose keys are the IDs of other rows at the service. SQLite gives such keys to rows that are inserted without
/// a key.
@Suite("New rows with IDs of other rows")
struct KeyCollisionTests {
    private static func service(clientAssignsIDs: Bool = false) -> InMemoryService {
        InMemoryService(
            ServiceCapabilities(
                idAssignment: clientAssignsIDs ? .client : .server, deletionDetection: .tombstones,
                createIdempotency: clientAssignsIDs ? .clientID : .idempotencyKey, supportsPreconditions: true,
                providesModificationTimes: true, maxBatchSize: 10), pageSize: 1)
    }

    private static let insertion =
        "INSERT INTO Project (name) VALUES ('mine'); INSERT INTO Tag (name) VALUES ('mine')"

    /// Returns the names of the project and of the tags of each task.
    private func links(_ device: Device) async throws -> [String] {
        try await device.rows(
            """
            SELECT t.remoteID, (SELECT name FROM Project AS p WHERE p.remoteID = t.projectID),
              (SELECT group_concat(name) FROM Tag_tasks AS j JOIN Tag AS g ON g.remoteID = j.tagID
                WHERE j.taskID = t.remoteID)
            FROM Task AS t ORDER BY 1
            """)
    }

    private func expectSeparateRows(_ device: Device, _ service: InMemoryService) async throws {
        for entity in ["Project", "Tag"] {
            let names = await service.contents(of: entity).mapValues { $0["name"] }
            #expect(names.count == 2)
            #expect(names[1] == "remote")
            let stored = try await device.rows("SELECT name FROM \(entity) ORDER BY remoteID")
            #expect(stored == ["remote", "mine"])
        }
        #expect(try await device.leftovers() == [])
        #expect(try await device.rows("SELECT * FROM sync_pending") == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test("A pulled reference does not link to a new row", arguments: [["Task"], []])
    func pulled(_ first: [String]) async throws {
        let service = Self.service()
        await service.set("Task", 1, ["title": "t", "project_id": 1, "tag_ids": [1]])
        for entity in ["Project", "Tag"] { await service.set(entity, 1, ["name": "remote"]) }
        let device = try Device(service, entities: ["Task", "Project", "Tag"])
        try await device.write(Self.insertion)
        if !first.isEmpty {
            try await device.engine.sync(only: first)
            #expect(try await links(device) == ["1 nil nil"])
        }
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(try await links(device) == ["1 remote remote"])
        #expect(await service.contents(of: "Task")[1]?["project_id"] == 1)
        #expect(await service.contents(of: "Task")[1]?["tag_ids"] == [1])
        try await expectSeparateRows(device, service)
    }

    @Test("A row does not become the child of a new row")
    func parent() async throws {
        let schema = """
            {"entities": {"Folder": {"attributes": {"remoteID": {"type": "integer"}, "name": {"type": "string"}},
              "relationships": {"parent": {"entity": "Folder", "inverse": "children"},
                "children": {"entity": "Folder", "many": true, "inverse": "parent"}}}}}
            """
        let service = Self.service()
        await service.set("Folder", 2, ["name": "child", "parent_id": 1])
        await service.set("Folder", 1, ["name": "remote", "parent_id": .null])
        let device = try Device(service, schema: schema, entities: ["Folder"])
        try await device.write("INSERT INTO Folder (name) VALUES ('mine'), ('mine too')")
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(
            try await device.rows("SELECT name, parentID FROM Folder ORDER BY name")
                == ["child 1", "mine nil", "mine too nil", "remote nil"])
        #expect(await service.contents(of: "Folder")[2]?["parent_id"] == 1)
        #expect(await service.contents(of: "Folder").count == 4)
        #expect(try await device.leftovers() == [])
    }

    @Test("A local link to a new row is kept if the service links the same row to the row with this ID")
    func edited() async throws {
        let service = Self.service()
        await service.set("Task", 1, ["title": "t"])
        let device = try Device(service, entities: ["Task", "Project", "Tag"])
        try await device.engine.sync()
        try await device.write("\(Self.insertion); UPDATE Task SET projectID = 1")
        for entity in ["Project", "Tag"] { await service.set(entity, 1, ["name": "remote"]) }
        await service.set("Task", 1, ["project_id": 1])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(try await links(device) == ["1 mine nil"])
        let mine = await service.contents(of: "Project").first { $0.value["name"] == "mine" }?.key
        #expect(await service.contents(of: "Task")[1]?["project_id"] == mine)
        #expect(try await device.engine.conflicts().map(\.remote) == [1])
        try await expectSeparateRows(device, service)
    }

    /// A call of the app beside a pending reference of the service.
    enum Call: CaseIterable {
        case none
        case changesOfOtherRow
        case updateOfOwner
        case updateOfNewRow
    }

    private func call(_ call: Call, _ stack: DataStack) async throws {
        switch call {
        case .none: break
        case .changesOfOtherRow:
            for entity in ["Project", "Tag"] {
                let record: JSONValue = ["id": 1000, "name": "other"]
                try await Sync.changes(
                    JSONValue.array([record]), inEntity: entity, stack: stack,
                    options: SyncOptions(payloadKind: .delta))
                try await Sync.delete(id: 1000, inEntity: entity, stack: stack)
            }
        case .updateOfOwner: try await Sync.update(id: 1, with: ["title": "b"], inEntity: "Task", stack: stack)
        case .updateOfNewRow:
            for entity in ["Project", "Tag"] {
                try await Sync.update(id: 1, with: ["name": "mine"], inEntity: entity, stack: stack)
            }
        }
    }

    @Test("A pending reference of the service does not link to a new row", arguments: Call.allCases)
    func pending(_ call: Call) async throws {
        let service = Self.service()
        await service.set("Task", 1, ["title": "t", "project_id": 1, "tag_ids": [1]])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write(Self.insertion)
        try await self.call(call, device.stack)
        #expect(try await links(device) == ["1 nil nil"])
        // A pull of another row.
        await service.set("Task", 2, ["title": "other"])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(try await links(device) == ["1 nil nil", "2 nil nil"])
        #expect(await service.contents(of: "Task")[1]?["project_id"] == 1)
        #expect(await service.contents(of: "Task")[1]?["tag_ids"] == [1])
        for entity in ["Project", "Tag"] { await service.set(entity, 1, ["name": "remote"]) }
        try await device.engine.sync()
        #expect(try await links(device) == ["1 remote remote", "2 nil nil"])
        try await expectSeparateRows(device, service)
    }

    @Test("A pending reference that the app wrote links to a new row")
    func writtenByApp() async throws {
        let service = Self.service()
        await service.set("Task", 1, ["title": "t"])
        let device = try Device(service)
        try await device.engine.sync()
        try await Sync.update(id: 1, with: ["project_id": 1, "tag_ids": [1]], inEntity: "Task", stack: device.stack)
        try await device.write(Self.insertion)
        try await call(.updateOfNewRow, device.stack)
        #expect(try await links(device) == ["1 mine mine"])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(try await links(device) == ["1 mine mine"])
        #expect(try await device.leftovers() == [])
    }

    @Test("If the client assigns IDs, the new row is the referenced row", arguments: Call.allCases)
    func clientIDs(_ call: Call) async throws {
        let service = Self.service(clientAssignsIDs: true)
        await service.set("Task", 1, ["title": "t", "project_id": 1, "tag_ids": [1]])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write(Self.insertion)
        try await self.call(call, device.stack)
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(try await links(device) == ["1 mine mine"])
        #expect(await service.contents(of: "Task")[1]?["project_id"] == 1)
        #expect(await service.contents(of: "Project").count == 1)
        #expect(try await device.leftovers() == [])
    }
}
