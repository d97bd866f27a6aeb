import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Edits of references to rows that are not stored.
@Suite("Edits of pending references")
struct PendingReferenceEditTests {
    private let service = InMemoryService()

    private func value(_ member: String, ofTask id: JSONValue = 1) async -> JSONValue? {
        await service.contents(of: "Task")[id]?[member]
    }

    private func device(_ configuration: SyncEngine.Configuration = Device.configuration) async throws -> Device {
        await service.set("Project", 6, ["name": "p"])
        await service.set("Project", 8, ["name": "q"])
        for id in 1...2 { await service.set("Tag", JSONValue(id), ["name": "g"]) }
        await service.set("Task", 1, ["title": "a", "project_id": 6, "tag_ids": [1]])
        let device = try Device(service, configuration)
        try await device.engine.sync()
        await service.deleteRequests()
        return device
    }

    private func update(
        _ device: Device, _ record: JSONValue, inEntity entity: String = "Task", id: JSONValue = 1
    ) async throws {
        try await Sync.update(id: id, with: record, inEntity: entity, stack: device.stack)
    }

    private func sent() async -> [String] {
        await service.requests.flatMap { request -> [String] in
            guard case .push(let operations) = request else { return [] }
            return operations.map { "\($0.kind) \($0.id ?? .null) \($0.record)" }
        }
    }

    private func tags() async -> Set<JSONValue> {
        guard case .array(let list)? = await value("tag_ids") else { return [] }
        return Set(list)
    }

    // MARK: References

    @Test("A written reference to a row that is not stored is sent", arguments: [false, true])
    func reference(_ editsTitle: Bool) async throws {
        let device = try await device()
        let record: JSONValue = editsTitle ? ["title": "b", "project_id": 7] : ["project_id": 7]
        try await update(device, record)
        #expect(try await device.engine.pendingChangeCount() == 1)
        try await device.engine.sync()
        #expect(await value("project_id") == 7)
        #expect(try await device.leftovers() == [])
        try await update(device, record)
        #expect(try await device.engine.pendingChangeCount() == 0)

        await service.set("Project", 7, ["name": "late"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT projectID FROM Task") == ["7"])
        #expect(try await device.engine.sync().isEmpty)
        #expect(await value("project_id") == 7)
    }

    @Test("Deltas, snapshots and new rows send their references to rows that are not stored")
    func payloads() async throws {
        let device = try await device()
        let record: JSONValue = ["id": 1, "title": "a", "project_id": 7, "tag_ids": [1]]
        try await Sync.changes(
            JSONValue.array([record]), inEntity: "Task", stack: device.stack,
            options: SyncOptions(payloadKind: .delta))
        let new: JSONValue = ["id": 50, "title": "new", "project_id": 9]
        try await Sync.insertOrUpdate(new, inEntity: "Task", stack: device.stack)
        try await device.engine.sync()
        #expect(await value("project_id") == 7)
        let made = await service.contents(of: "Task").values.first { $0["title"] == "new" }
        #expect(made?["project_id"] == 9)
        #expect(try await device.leftovers() == [])
    }

    @Test("The log of a row that the service deleted has its pending references")
    func deletedRow() async throws {
        let device = try await device()
        try await update(device, ["project_id": 7, "tag_ids": [1, 9]])
        await service.remove("Task", 1)
        try await device.engine.sync()
        let log = try await device.engine.conflicts()
        let reference = log.first { $0.field == "project" }
        #expect(reference?.base == 6 && reference?.local == 7)
        #expect(log.first { $0.field == "tags" }?.local == [1, 9])
        #expect(try await device.rows("SELECT * FROM sync_pending") == [])
        #expect(try await device.leftovers() == [])
    }

    @Test("A written reference is kept and sent if its row arrives before the push")
    func arrivesFirst() async throws {
        let device = try await device()
        try await update(device, ["project_id": 7])
        await service.set("Project", 7, ["name": "late"])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await value("project_id") == 7)
        #expect(try await device.rows("SELECT projectID FROM Task") == ["7"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A written reference is kept if its row arrives with a list that lacks the referencing row")
    func arrivesWithoutInList() async throws {
        let device = try await device()
        try await update(device, ["project_id": 7])
        await service.set("Project", 7, ["name": "late", "tasks": []])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await value("project_id") == 7)
        #expect(try await device.rows("SELECT projectID FROM Task") == ["7"])
    }

    @Test("A written reference is merged with a remote change", arguments: ["title", "project_id"])
    func merged(_ member: String) async throws {
        let device = try await device()
        try await update(device, ["project_id": 7])
        await service.set("Task", 1, .object([JSONValue.Member(member, member == "title" ? "there" : 8)]))
        try await device.engine.sync()
        #expect(await value("project_id") == 7)
        #expect(try await device.engine.conflicts().map(\.local) == (member == "title" ? [] : [7]))
        #expect(try await device.leftovers() == [])
    }

    @Test("A remote reference that wins over a written one is logged")
    func remoteWins() async throws {
        var configuration = Device.configuration
        configuration.conflictPolicy = .serverWins
        let device = try await device(configuration)
        try await update(device, ["project_id": 7])
        await service.set("Task", 1, ["project_id": 8])
        try await device.engine.sync()
        #expect(await value("project_id") == 8)
        #expect(try await device.engine.conflicts().map(\.local) == [7])
        await service.set("Project", 7, ["name": "late"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT projectID FROM Task") == ["8"])
        #expect(try await device.leftovers() == [])
    }

    @Test("An open conflict of a written reference can be resolved to either side", arguments: [false, true])
    func open(_ keepsLocal: Bool) async throws {
        var configuration = Device.configuration
        configuration.conflictPolicy = .manual
        let device = try await device(configuration)
        try await update(device, ["project_id": 7])
        await service.set("Task", 1, ["project_id": 8])
        try await device.engine.sync()
        try await device.engine.resolve("Task", key: 1, keeping: keepsLocal ? .local : .remote)
        await service.set("Project", 7, ["name": "late"])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await value("project_id") == (keepsLocal ? 7 : 8))
        #expect(try await device.rows("SELECT projectID FROM Task") == [keepsLocal ? "7" : "8"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A written reference to a row that the service deletes is logged")
    func deletedThere() async throws {
        let device = try await device()
        await service.set("Project", 7, ["name": "late"])
        await service.remove("Project", 7)
        try await update(device, ["project_id": 7])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await value("project_id") == 6)
        #expect(try await device.engine.conflicts().map(\.local) == [7])
        #expect(try await device.rows("SELECT projectID FROM Task") == ["6"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A written reference that is changed back is not sent")
    func changedBack() async throws {
        let device = try await device()
        try await update(device, ["project_id": 7])
        try await update(device, ["project_id": 6])
        try await device.engine.sync()
        #expect(await sent() == [])
        #expect(try await device.leftovers() == [])
    }

    @Test("A pending reference of the service that is removed is sent as null")
    func removed() async throws {
        await service.set("Task", 2, ["title": "b", "project_id": 7])
        let device = try await device()
        #expect(try await device.engine.pendingChangeCount() == 0)
        try await update(device, ["project_id": nil], id: 2)
        try await device.engine.sync()
        #expect(await value("project_id", ofTask: 2) == .null)
        #expect(try await device.leftovers() == [])
    }

    // MARK: Lists

    @Test("A list with a row that is not stored is sent", arguments: [String?.none, "title", "tag_ids"])
    func list(_ remote: String?) async throws {
        let device = try await device()
        try await update(device, ["tag_ids": [1, 5]])
        #expect(try await device.engine.pendingChangeCount() == 1)
        if let remote {
            await service.set("Task", 1, .object([JSONValue.Member(remote, remote == "title" ? "there" : [1, 2])]))
        }
        try await device.engine.sync()
        #expect(await tags() == (remote == "tag_ids" ? [1, 2, 5] : [1, 5]))
        #expect(try await device.leftovers() == [])
        await service.set("Tag", 5, ["name": "late"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT tagID FROM Tag_tasks WHERE tagID = 5") == ["5"])
        #expect(try await device.engine.sync().isEmpty)
        #expect(await tags().contains(5))
    }

    @Test("A pending reference that is removed from a list is sent", arguments: [false, true])
    func removedFromList(_ isChangedThere: Bool) async throws {
        let device = try await device()
        await service.set("Task", 1, ["tag_ids": [1, 5]])
        try await device.engine.sync()
        try await update(device, ["tag_ids": [1]])
        if isChangedThere { await service.set("Task", 1, ["title": "there"]) }
        try await device.engine.sync()
        #expect(await tags() == [1])
        #expect(try await device.leftovers() == [])
    }

    @Test("A row in a list that is sent from the other end is linked when it arrives", arguments: ["Project", "Tag"])
    func sentFromOtherEnd(_ entity: String) async throws {
        let device = try await device()
        try await update(device, ["task_ids": [1, 9]], inEntity: entity, id: entity == "Project" ? 6 : 1)
        #expect(try await device.engine.pendingChangeCount() == 0)
        await service.set("Task", 9, ["title": "late"])
        for _ in 0..<2 { try await device.engine.sync() }
        let sql =
            entity == "Project" ? "remoteID FROM Task WHERE projectID = 6" : "taskID FROM Tag_tasks WHERE tagID = 1"
        #expect(try await device.rows("SELECT \(sql) ORDER BY 1") == ["1", "9"])
        #expect(await sent() == [])
        #expect(try await device.leftovers() == [])
    }

    // MARK: SQL

    /// - Parameter sql: The SQL that replaces the row 1.
    @Test(
        "A reference that REPLACE writes overrides an older pending reference",
        arguments: [
            "INSERT OR REPLACE INTO Task (remoteID, title, projectID) VALUES (1, 'a', 8)",
            "INSERT OR REPLACE INTO Task (remoteID, title, projectID) VALUES (1, 'new', 8)",
            "UPDATE OR REPLACE Task SET remoteID = 1, projectID = 8 WHERE remoteID = 2",
        ], [false, true])
    func replaced(_ sql: String, _ syncsBefore: Bool) async throws {
        await service.set("Project", 8, [:])
        await service.set("Task", 1, ["title": "a", "project_id": 7])
        await service.set("Task", 2, ["title": "b"])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write(sql)
        if syncsBefore { try await device.engine.sync() }
        await service.set("Project", 7, [:])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await value("project_id") == 8)
        #expect(try await device.rows("SELECT projectID FROM Task WHERE remoteID = 1") == ["8"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A row that takes a replaced row's key without a reference gets no reference of that row")
    func replacedWithout() async throws {
        await service.set("Task", 1, ["title": "a", "project_id": 7])
        await service.set("Task", 2, ["title": "b"])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("UPDATE OR REPLACE Task SET remoteID = 1 WHERE remoteID = 2")
        try await device.engine.sync()
        await service.set("Project", 7, [:])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await value("project_id") == .null)
        #expect(try await device.rows("SELECT projectID FROM Task WHERE remoteID = 1") == ["nil"])
        #expect(try await device.leftovers() == [])
    }
}
