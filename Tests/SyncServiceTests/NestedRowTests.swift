import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Records with nested records.
@Suite("Nested rows")
struct NestedRowTests {
    let service = InMemoryService(pageSize: 50)

    private func requests(_ kind: PushOperation.Kind) async -> [PushOperation] {
        await service.requests.flatMap { request -> [PushOperation] in
            if case .push(let operations) = request { return operations.filter { $0.kind == kind } }
            return []
        }
    }

    @Test("Nested rows of a list are written and linked as in any sync", arguments: [true, false])
    func lists(_ isListed: Bool) async throws {
        await service.set("Task", 1, ["title": "t", "tags": [["id": 80, "name": "inl"], ["id": 81, "name": "x"]]])
        await service.set("Project", 5, ["name": "p", "tasks": [["id": 1], ["id": 2, "title": "second"]]])
        if isListed { await service.set("Tag", 80, ["name": "inl"]) }
        let device = try Device(service)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, name FROM Tag ORDER BY 1") == ["80 inl", "81 x"])
        #expect(
            try await device.rows("SELECT remoteID, title, projectID FROM Task ORDER BY 1") == ["1 t 5", "2 second 5"])
        #expect(try await device.rows("SELECT count(*) FROM Tag_tasks") == ["2"])
        #expect(try await device.leftovers() == [])
        await service.set("Task", 1, ["tags": [["id": 81]]])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Tag_tasks") == ["1"])
        #expect(try await device.rows("SELECT count(*) FROM Tag") == ["2"])
        #expect(try await device.leftovers() == [])
    }

    @Test("Rows that a nested list omits are unlinked and not deleted")
    func leftOut() async throws {
        for id in 1...3 { await service.set("Task", JSONValue(id), ["title": "t", "project_id": 5]) }
        await service.set("Project", 5, ["name": "p"])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET points = 7 WHERE remoteID = 2")
        try await device.write("INSERT INTO Task (title, projectID) VALUES ('new', 5)")
        await service.set("Project", 5, ["tasks": [["id": 1, "title": "inline"]]])
        try await device.engine.pull()
        let rows = try await device.rows(
            "SELECT title, points, projectID FROM Task ORDER BY remoteID > 0 DESC, remoteID")
        #expect(rows == ["inline nil 5", "t 7 nil", "t nil nil", "new nil 5"])
    }

    @Test("Edits of nested rows are merged by the policy and sent", arguments: ConflictPolicy.allCases)
    func edited(_ policy: ConflictPolicy) async throws {
        await service.set("Task", 1, ["title": "t", "project": ["id": 70, "name": "inline"]])
        let device = try Device(
            service, entities: [SyncedEntity("Project", conflictPolicy: policy), "Task", "Tag"])
        try await device.engine.pull()
        #expect(try await device.rows("SELECT remoteID, name FROM Project") == ["70 inline"])
        try await device.write("UPDATE Project SET name = 'EDITED'")
        #expect(try await device.engine.pendingChangeCount() == 1)
        await service.set("Task", 1, ["title": "u"])
        try await device.engine.pull()
        #expect(try await device.rows("SELECT name FROM Project") == ["EDITED"])
        #expect(try await device.engine.conflicts().isEmpty)
        await service.set("Task", 1, ["project": ["id": 70, "name": "there"]])
        try await device.engine.pull()
        let isTaken = policy == .serverWins || policy == .lastWriterWins
        #expect(try await device.rows("SELECT name FROM Project") == [isTaken ? "there" : "EDITED"])
        #expect(try await device.engine.conflicts().count == 1)
        guard policy == .clientWins else { return }
        await service.set("Project", 70, ["name": "there"])
        try await device.engine.sync()
        #expect(await requests(.update).map(\.record) == [["name": "EDITED"]])
        #expect(await service.contents(of: "Project")[70]?["name"] == "EDITED")
        #expect(try await device.leftovers() == [])
    }

    @Test("Nested rows that were deleted locally stay deleted, and rows that reference them stay")
    func deleted() async throws {
        await service.set("Project", 70, ["name": "p"])
        await service.set("Tag", 80, ["name": "g"])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("DELETE FROM Project")
        try await device.write("DELETE FROM Tag")
        await service.set(
            "Task", 1, ["title": "t", "project": ["id": 70, "name": "p"], "tags": [["id": 80, "name": "g"]]])
        try await device.engine.pull()
        #expect(try await device.rows("SELECT count(*) FROM Project UNION ALL SELECT count(*) FROM Tag") == ["0", "0"])
        #expect(try await device.rows("SELECT remoteID, title FROM Task") == ["1 t"])
        try await device.engine.sync()
        #expect(await requests(.delete).count == 2)
        #expect(try await device.leftovers() == [])
    }

    @Test("Pending changes of links survive a pull of the other end", arguments: [true, false])
    func links(_ isNested: Bool) async throws {
        for id in 1...3 { await service.set("Tag", JSONValue(id), ["name": "g"]) }
        await service.set("Task", 1, ["title": "t", "tag_ids": [1, 2]])
        let device = try Device(service)
        try await device.engine.sync()
        let columns = try await device.rows(
            "SELECT name FROM pragma_table_info('Tag_tasks') ORDER BY name LIKE '%tag%'")
        let (task, tag) = (columns[0], columns[1])
        try await device.write("DELETE FROM Tag_tasks WHERE \"\(tag)\" = 1")
        try await device.write("INSERT INTO Tag_tasks (\"\(task)\", \"\(tag)\") VALUES (1, 3)")
        await service.set("Tag", 1, ["tasks": isNested ? [["id": 1, "title": "t"]] : [1]])
        await service.set("Tag", 3, ["name": "h", "task_ids": []])
        try await device.engine.pull()
        #expect(try await device.rows("SELECT \"\(tag)\" FROM Tag_tasks ORDER BY 1") == ["2", "3"])
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")[1]?["tag_ids"] == [2, 3])
        #expect(try await device.leftovers() == [])
    }

    @Test("Nested rows that no listing has are deleted once the service lacks them")
    func swept() async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .listing, createIdempotency: .idempotencyKey,
                supportsPreconditions: true, providesModificationTimes: true))
        await service.set("Task", 1, ["title": "t", "project": ["id": 70, "name": "inline"]])
        await service.set("Project", 71, ["name": "listed"])
        let device = try Device(service)
        try await device.engine.sync()
        await service.set("Task", 1, ["project": .null])
        try await device.engine.sync()
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID FROM Project") == ["71"])
        #expect(await service.requests.contains(.fetch([70], "Project")))
        #expect(try await device.leftovers() == [])
    }

    // MARK: Rows in no list

    private static let sweeping = ServiceCapabilities(
        idAssignment: .server, deletionDetection: .listing, createIdempotency: .idempotencyKey,
        supportsPreconditions: true, providesModificationTimes: true)

    /// The event between two runs.
    enum Between: CaseIterable { case nothing, wholePull, relink, audit }

    private func pass(_ between: Between, _ device: Device) async throws {
        switch between {
        case .nothing: break
        case .wholePull: try await device.write("UPDATE sync_cursor SET cursor = NULL")
        case .relink: try await device.engine.reset(.cursors)
        case .audit: try await device.removeTriggers()
        }
    }

    @Test(
        "Nested rows in no list stay as long as a row is linked to them",
        arguments: Between.allCases, [["Project", "Task", "Tag"], ["Tag", "Task", "Project"]])
    func unlisted(_ between: Between, _ names: [String]) async throws {
        let service = InMemoryService(Self.sweeping)
        for id in 1...3 {
            await service.set(
                "Task", JSONValue(id),
                [
                    "title": "t", "project": ["id": JSONValue(70 + id), "name": "inside"],
                    "tags": [["id": 80, "name": "g"]],
                ])
        }
        await service.set("Project", 9, ["name": "listed"])
        let entities = names.map { SyncedEntity($0) }
        var device = try Device(service, entities: entities)
        try await device.engine.sync()
        for _ in 0..<3 {
            try await pass(between, device)
            device = try Device(device.stack, service, entities: entities)
            try await device.engine.sync()
            #expect(try await device.rows("SELECT remoteID FROM Project ORDER BY 1") == ["9", "71", "72", "73"])
            #expect(try await device.rows("SELECT projectID FROM Task ORDER BY remoteID") == ["71", "72", "73"])
            #expect(try await device.rows("SELECT count(*) FROM Tag_tasks") == ["3"])
        }
        // A record no longer has its nested row.
        await service.set("Task", 1, ["project": .null])
        for id in 1...3 { await service.set("Task", JSONValue(id), ["tags": []]) }
        try await pass(between, device)
        device = try Device(device.stack, service, entities: entities)
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(try await device.rows("SELECT remoteID FROM Project ORDER BY 1") == ["9", "72", "73"])
        #expect(try await device.rows("SELECT count(*) FROM Tag") == ["0"])
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["3"])
        #expect(try await device.leftovers() == [])
    }

    @Test("Nested rows inside other unlisted rows stay and are deleted with them")
    func unlistedBelow() async throws {
        let service = InMemoryService(Self.sweeping)
        await service.set(
            "Project", 5, ["name": "p", "tasks": [["id": 1, "title": "t", "tags": [["id": 80, "name": "g"]]]]])
        let device = try Device(service)
        for _ in 0..<3 { try await device.engine.sync() }
        let counts = "SELECT (SELECT count(*) FROM Project), (SELECT count(*) FROM Task), (SELECT count(*) FROM Tag)"
        #expect(try await device.rows(counts) == ["1 1 1"])
        await service.set("Project", 5, ["tasks": []])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(try await device.rows(counts) == ["1 0 0"])
        #expect(try await device.leftovers() == [])
    }

    @Test("Nested rows in no list stay if an engine does not sync the rows that contain them")
    func unlistedOfOthers() async throws {
        let service = InMemoryService(Self.sweeping)
        await service.set("Task", 1, ["title": "t", "project": ["id": 70, "name": "inside"]])
        let device = try Device(service)
        try await device.engine.sync()
        try await Device(device.stack, service, entities: ["Project"]).engine.sync()
        #expect(try await device.rows("SELECT remoteID FROM Project") == ["70"])
        #expect(try await device.rows("SELECT projectID FROM Task") == ["70"])
    }

    @Test("Nested rows pulled by an engine with fewer entities are not created again by a full engine")
    func pulledByFewer() async throws {
        let device = try Device(service)
        try await device.engine.sync()
        await service.set("Task", 1, ["title": "t", "project": ["id": 70, "name": "inside"]])
        try await Device(device.stack, service, entities: ["Task", "Tag"]).engine.sync()
        #expect(try await device.rows("SELECT remoteID, name FROM Project") == ["70 inside"])
        let again = try Device(device.stack, service)
        for _ in 0..<2 { try await again.engine.sync() }
        #expect(await requests(.create).isEmpty)
        #expect(try await again.rows("SELECT remoteID, name FROM Project") == ["70 inside"])
        #expect(try await again.leftovers() == [])
    }

    @Test("Edits of nested rows survive a pull by an engine with fewer entities")
    func editedAndPulledByFewer() async throws {
        await service.set("Task", 1, ["title": "t", "project": ["id": 70, "name": "inside"]])
        await service.set("Project", 70, ["name": "inside"])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Project SET name = 'mine'")
        let fewer = try Device(device.stack, service, entities: ["Task", "Tag"])
        await service.set("Task", 1, ["title": "u"])
        try await fewer.engine.sync()
        #expect(try await device.rows("SELECT name FROM Project") == ["mine"])
        try await Device(device.stack, service).engine.sync()
        #expect(await service.contents(of: "Project")[70]?["name"] == "mine")
        #expect(try await device.leftovers() == [])
    }

    /// Returns a device with two synced tasks of a project.
    private func twoTasks() async throws -> Device {
        for id in 5...6 { await service.set("Project", JSONValue(id), ["name": "p"]) }
        for id in 1...2 { await service.set("Task", JSONValue(id), ["title": "t", "project_id": 5]) }
        let device = try Device(service)
        try await device.engine.sync()
        return device
    }

    private func syncProjects(_ device: Device) async throws {
        try await Device(device.stack, service, entities: ["Project"]).engine.sync()
    }

    @Test(
        "Edits and deletions of nested rows are kept while an engine with fewer entities pulls them",
        arguments: [true, false])
    func editedBesideFewer(_ hasTriggers: Bool) async throws {
        let device = try await twoTasks()
        if hasTriggers { try await syncProjects(device) } else { try await device.removeTriggers() }
        try await device.write("UPDATE Task SET title = 'mine' WHERE remoteID = 1; DELETE FROM Task WHERE remoteID = 2")
        let tasks: JSONValue = [["id": 1, "title": "t"], ["id": 2, "title": "t"]]
        await service.set("Project", 5, ["name": "q", "tasks": tasks])
        try await syncProjects(device)
        let again = try Device(device.stack, service)
        for _ in 0..<2 { try await again.engine.sync() }
        #expect(await service.contents(of: "Task").keys.map(\.self) == [1])
        // Without triggers, the record without a version wins, and the edit is logged.
        let lost = try await again.engine.conflicts().map(\.local)
        #expect(lost.contains("mine") == !hasTriggers)
        #expect(try await again.rows("SELECT remoteID, title FROM Task") == [hasTriggers ? "1 mine" : "1 t"])
        #expect(await service.contents(of: "Task")[1]?["title"] == (hasTriggers ? "mine" : "t"))
        #expect(try await again.leftovers() == [])
    }

    @Test("Rows that a nested list omits stay if an engine with fewer entities pulls the list")
    func leftOutByFewer() async throws {
        let device = try await twoTasks()
        await service.set("Project", 5, ["name": "q", "tasks": [["id": 1]]])
        try await syncProjects(device)
        let again = try Device(device.stack, service)
        for _ in 0..<2 { try await again.engine.sync() }
        #expect(await service.contents(of: "Task").count == 2)
        #expect(try await again.rows("SELECT remoteID FROM Task ORDER BY remoteID") == ["1", "2"])
        #expect(try await again.leftovers() == [])
    }

    @Test("Rows that reference new rows of an unsynced entity are sent after the full engine creates those")
    func pointsToNewRow() async throws {
        let device = try await twoTasks()
        try await device.write(
            """
            INSERT INTO Project (name) VALUES ('new');
            UPDATE Task SET projectID = (SELECT remoteID FROM Project WHERE name = 'new'), title = 'moved' WHERE remoteID = 1;
            INSERT INTO Task (title, projectID) SELECT 'made', remoteID FROM Project WHERE name = 'new'
            """)
        try await Device(device.stack, service, entities: ["Task", "Tag"]).engine.sync()
        #expect(await service.contents(of: "Task").count == 2)
        #expect(await service.contents(of: "Task")[1]?["project_id"] == 5)
        let again = try Device(device.stack, service)
        for _ in 0..<2 { try await again.engine.sync() }
        let project = try #require(await service.contents(of: "Project").first { $0.value["name"] == "new" }?.key)
        let tasks = await service.contents(of: "Task").values.filter { $0["project_id"] == project }
        #expect(Set(tasks.map { $0["title"] }) == ["moved", "made"])
        #expect(try await again.leftovers() == [])
    }

    @Test("A cascade by an engine with fewer entities is local, and the rows are pulled again")
    func deletedAlongByFewer() async throws {
        let device = try await twoTasks()
        try await device.write("UPDATE Task SET title = 'mine' WHERE remoteID = 1")
        try await device.write("INSERT INTO Task (title, projectID) VALUES ('new', 5)")
        for id in 1...2 { await service.set("Task", JSONValue(id), ["project_id": 6]) }
        await service.remove("Project", 5)
        try await syncProjects(device)
        let again = try Device(device.stack, service)
        for _ in 0..<2 { try await again.engine.sync() }
        #expect(await service.contents(of: "Task").count == 2)
        #expect(try await again.rows("SELECT remoteID, title, projectID FROM Task") == ["1 t 6", "2 t 6"])
        let lost = try await again.engine.conflicts().filter { $0.field == "title" }.map(\.local)
        #expect(Set(lost) == ["mine", "new"])
        #expect(try await again.leftovers() == [])
    }

    @Test("Edits without triggers to unlisted nested rows are overwritten and logged")
    func unlistedEdited() async throws {
        let service = InMemoryService(Self.sweeping)
        await service.set("Task", 1, ["title": "t", "project": ["id": 70, "name": "inside"]])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.removeTriggers()
        try await device.write("UPDATE Project SET name = 'mine'")
        let again = try Device(device.stack, service)
        for _ in 0..<2 { try await again.engine.sync() }
        #expect(try await again.rows("SELECT remoteID, name FROM Project") == ["70 inside"])
        #expect(try await again.engine.conflicts().map { "\($0.field) \($0.local)" } == ["name \"mine\""])
        #expect(try await again.leftovers() == [])
    }

    @Test("A nested record of a locally deleted row leaves no pending reference")
    func deletedWithPendingReference() async throws {
        let task: JSONValue = ["id": 5, "title": "t", "project_id": 9]
        await service.set("Task", 5, task)
        await service.set("Tag", 1, ["name": "g", "tasks": [task]])
        let device = try Device(service)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM sync_pending") == ["1"])
        try await device.write("DELETE FROM Task")
        await service.set("Tag", 1, ["name": "h"])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await service.contents(of: "Task").isEmpty)
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
        #expect(try await device.rows("SELECT name FROM Tag") == ["h"])
        #expect(try await device.rows("SELECT count(*) FROM sync_pending") == ["0"])
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.leftovers() == [])
    }
}
