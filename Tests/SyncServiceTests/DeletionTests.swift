import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Rows that the service deleted, or does not have any more.
@Suite("Deletions of the service")
struct DeletionTests {
    private static func service(
        sendsCascades: Bool = false, _ deletions: ServiceCapabilities.Deletions = .tombstones
    ) -> FakeService {
        FakeService(
            ServiceCapabilities(
                ids: .server, deletions: deletions, createIdempotency: .key, hasPreconditions: true, givesTimes: true,
                batchSize: 10, sendsCascades: sendsCascades))
    }

    private func known(_ service: FakeService) async throws -> Device {
        for id in 1...2 { await service.put("Project", JSONValue(id), ["name": .string("p\(id)")]) }
        for id in 1...4 {
            await service.put("Task", JSONValue(id), ["title": .string("t\(id)"), "project_id": 1])
        }
        let device = try Device(service)
        try await device.engine.sync()
        return device
    }

    @Test("take along what still belongs to the row, and not what moved away", arguments: [true, false])
    func movedAway(_ sendsCascades: Bool) async throws {
        let service = Self.service(sendsCascades: sendsCascades)
        let device = try await known(service)
        for id in 1...3 { await service.put("Task", JSONValue(id), ["project_id": 2]) }
        if !sendsCascades { await service.remove("Task", 4) }
        await service.remove("Project", 1)
        let report = try await device.engine.sync()
        #expect(
            try await device.rows("SELECT remoteID, title, projectID FROM Task") == ["1 t1 2", "2 t2 2", "3 t3 2"])
        #expect(await service.contents(of: "Task").count == 3)
        #expect(report.entities["Project"]?.deleted == 1)
        #expect(report.entities["Task"]?.deleted == 1)
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test("that took a row along give it back, if the service turns out to have changed it")
    func cascadeGivesWay() async throws {
        let service = Self.service(sendsCascades: true)
        let device = try await known(service)
        await service.put("Task", 1, ["project_id": 2])
        await service.remove("Project", 1)
        // The task's move is not heard of: only projects are asked for.
        try await device.engine.sync(only: ["Project"])
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, title, projectID FROM Task") == ["1 t1 2"])
        #expect(await service.contents(of: "Task").keys.map(\.self) == [1])
        #expect(try await device.leftovers() == [])
    }

    @Test("that a push finds are carried out in the same run, within the guard")
    func foundByPush() async throws {
        let service = Self.service(.sweep)
        for id in 1...40 { await service.put("Task", JSONValue(id), ["title": "t"]) }
        var settings = Device.settings
        settings.sweepInterval = .seconds(1_000_000)
        let device = try Device(service, settings)
        try await device.engine.sync()
        for id in 1...30 { await service.remove("Task", JSONValue(id)) }
        try await device.write("UPDATE Task SET title = 'mine' WHERE remoteID = 1")
        let report = try await device.engine.push()
        #expect(report.isEmpty)
        #expect(try await device.engine.status().first { $0.entity == "Task" }?.parked == 1)
        try await device.write("UPDATE Task SET title = 'mine' WHERE remoteID <= 30")
        await #expect {
            try await device.engine.sync()
        } throws: {
            ($0 as? SyncError)?.code == .deletionGuard
        }
        // The one that the first push had found.
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["39"])
        settings.deletionGuard = nil
        let willing = try Device(device.stack, service, settings)
        try await willing.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["10"])
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.conflicts().filter { $0.local == "mine" }.count == 30)
    }

    @Test("make room for rows that want what they had, in the same run")
    func makesRoom() async throws {
        let service = Self.service()
        let stack = try DataStack.inMemory(SyncModel(schema: Data(Device.schema.utf8)))
        try await stack.write { db in try db.execute(sql: "CREATE UNIQUE INDEX mine ON Task (title)") }
        await service.put("Task", 1, ["title": "same"])
        let device = try Device(stack, service)
        try await device.engine.sync()
        await service.put("Task", 2, ["title": "same"])
        await service.remove("Task", 1)
        let report = try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID FROM Task") == ["2"])
        #expect(report.total.parked == 0)
        #expect(try await device.leftovers() == [])
    }

    @Test("are counted for the entity of each row")
    func counts() async throws {
        let service = Self.service()
        let device = try await known(service)
        for id in 1...4 { await service.remove("Task", JSONValue(id)) }
        await service.remove("Project", 1)
        let report = try await device.engine.sync()
        #expect(report.entities["Task"]?.deleted == 4)
        #expect(report.entities["Project"]?.deleted == 1)
    }

    @Test("bring back, with editWins, what an edited row belongs to", arguments: [true, false])
    func ancestors(_ isNew: Bool) async throws {
        let service = Self.service()
        await service.put("Project", 1, ["name": "p"])
        for id in 1...2 { await service.put("Task", JSONValue(id), ["title": "t", "project_id": 1]) }
        let entities = ["Project", "Task", "Tag"].map { SyncedEntity($0, deleteConflicts: .editWins) }
        let device = try Device(service, entities: entities)
        try await device.engine.sync()
        try await device.write(
            isNew
                ? "INSERT INTO Task (remoteID, title, projectID) VALUES (70, 'mine', 1)"
                : "UPDATE Task SET title = 'mine' WHERE remoteID = 1")
        for id in 1...2 { await service.remove("Task", JSONValue(id)) }
        await service.remove("Project", 1)
        try await device.engine.sync()
        #expect(
            try await device.rows("SELECT p.name, t.title FROM Task t JOIN Project p ON p.remoteID = t.projectID") == [
                "p mine"
            ])
        #expect(await service.contents(of: "Project").count == 1)
        #expect(await service.contents(of: "Task").values.compactMap { $0["title"] } == ["mine"])
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test(
        "take along, with cascades of ours, what was sent from here since, and log it whole: it comes back",
        arguments: ["moved", "made"], [.tombstones, .sweep] as [ServiceCapabilities.Deletions])
    func cascadeIsLogged(_ kind: String, _ deletions: ServiceCapabilities.Deletions) async throws {
        let service = Self.service(sendsCascades: true, deletions)
        let device = try await known(service)
        await service.put("Task", 5, ["title": "t5", "project_id": 2])
        try await device.engine.sync()
        // Another one deleted the project, and what it knew to be in it, before it heard of this.
        await service.remove("Project", 1)
        for id in 1...4 { await service.remove("Task", JSONValue(id)) }
        try await device.write(
            kind == "moved"
                ? "UPDATE Task SET projectID = 1 WHERE remoteID = 5"
                : "INSERT INTO Task (remoteID, title, projectID) VALUES (70, 'mine', 1)")
        try await device.engine.push()
        let key = try #require(
            try await device.rows("SELECT remoteID FROM Task WHERE projectID = 1 AND remoteID > 4").first)
        let report = try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task WHERE remoteID = \(key)") == ["0"])
        let id = try JSONValue(parsing: key)
        #expect(await service.contents(of: "Task")[id] == nil)
        // Of the others the service said itself that they are gone; nobody edited anything.
        let log = try await device.engine.conflicts()
        #expect(Set(log.map { "\($0.key)" }) == [key])
        #expect(Set(log.map(\.domain)) == ["title", "done", "points", "project"])
        #expect(log.allSatisfy { $0.why.hasPrefix("went along") })
        #expect(report.total.conflicts == 0)
        try await device.engine.restore("Task", key: id)
        try await device.engine.sync()
        let title = kind == "moved" ? "t5" : "mine"
        #expect(try await device.rows("SELECT title, projectID FROM Task WHERE title = '\(title)'") == ["\(title) nil"])
        #expect(await service.contents(of: "Task").values.contains { $0["title"] == .string(title) })
        #expect(try await device.leftovers() == [])
    }

    @Test("that the guard refuses keep back what points to them, and nothing else")
    func guardRefuses() async throws {
        let service = Self.service(.sweep)
        for id in 1...20 { await service.put("Project", JSONValue(id), ["name": "p"]) }
        await service.put("Task", 1, ["title": "t", "project_id": 20])
        await service.put("Task", 2, ["title": "t", "project_id": 1])
        var settings = Device.settings
        settings.deletionGuard = .half
        let device = try Device(service, settings)
        try await device.engine.sync()
        let before = try await device.engine.status().map(\.lastSync)
        for id in 1...15 { await service.remove("Project", JSONValue(id)) }
        try await device.write(
            """
            UPDATE Task SET title = 'mine';
            UPDATE Task SET projectID = 2 WHERE remoteID = 1;
            UPDATE Project SET name = 'mine' WHERE remoteID = 20;
            INSERT INTO Task (remoteID, title, projectID) VALUES (70, 'below', 3), (71, 'free', 20);
            """)
        for run in 1...2 {
            await #expect {
                try await device.engine.sync()
            } throws: {
                ($0 as? SyncError)?.code == .deletionGuard
            }
            #expect(await device.engine.lastReport?.total.created == (run == 1 ? 1 : 0))
        }
        #expect(try await device.rows("SELECT count(*) FROM Project") == ["20"])
        #expect(try await device.engine.status().map(\.lastSync) == before)
        let tasks = await service.contents(of: "Task")
        #expect(tasks.count == 3)
        #expect(tasks[1]?["title"] == "mine" && tasks[1]?["project_id"] == 20)
        #expect(tasks[2]?["title"] == "mine")
        #expect(tasks.values.contains { $0["title"] == "free" })
        #expect(await service.contents(of: "Project")[20]?["name"] == "mine")
        #expect(try await device.rows("SELECT kind FROM sync_change ORDER BY kind") == ["create", "update"])
        settings.deletionGuard = nil
        let willing = try Device(device.stack, service, settings)
        try await willing.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Project") == ["5"])
        #expect(try await device.leftovers() == [])
    }

    @Test("that the service tells are carried out and reported where the guard refuses others")
    func toldBesideGuard() async throws {
        let service = Self.service()
        for id in 1...20 { await service.put("Project", JSONValue(id), ["name": "p"]) }
        var settings = Device.settings
        settings.deletionGuard = .half
        let device = try Device(service, settings)
        try await device.engine.sync()
        for id in 1...15 { await service.forget("Project", JSONValue(id)) }
        try await device.write("UPDATE Project SET name = 'mine' WHERE remoteID <= 15")
        try await device.engine.push()
        await service.remove("Project", 20)
        await #expect {
            try await device.engine.sync()
        } throws: {
            ($0 as? SyncError)?.code == .deletionGuard
        }
        #expect(await device.engine.lastReport?.total.deleted == 1)
        #expect(try await device.rows("SELECT count(*), max(remoteID) FROM Project") == ["19 19"])
    }

    @Test("of a row here, which was edited before and comes back, leave the edits in the log")
    func editedBefore() async throws {
        let service = Self.service()
        await service.put("Task", 1, ["title": "t", "points": 1, "done": false])
        var settings = Device.settings
        settings.deleteConflicts = .editWins
        let device = try Device(service, settings)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'a long text of mine', points = 2")
        try await device.write("UPDATE Task SET points = 9")
        try await device.write("DELETE FROM Task")
        await service.put("Task", 1, ["points": 9, "done": true])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title, points, done FROM Task") == ["t 9 1"])
        let log = try await device.engine.conflicts().filter { !$0.domain.isEmpty }
        #expect(
            log.map { [.string($0.domain), $0.base, $0.local, $0.remote] } == [
                ["title", "t", "a long text of mine", "t"]
            ])
        #expect(try await device.leftovers() == [])
        // Deleted, made anew and left alone it leaves nothing.
        try await device.write("UPDATE Task SET title = 'x'; DELETE FROM Task")
        try await device.write("INSERT INTO Task (remoteID, title, points, done) VALUES (1, 't', 9, 1)")
        try await device.engine.sync()
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "that unlink rows here unlink them there, unless somebody linked them to another one", arguments: [false, true])
    func nullified(_ isMovedThere: Bool) async throws {
        let service = Self.service(sendsCascades: true)
        let schema = Device.schema.replacingOccurrences(of: ", \"deleteRule\": \"cascade\"", with: "")
        for id in 1...2 { await service.put("Project", JSONValue(id), ["name": "p"]) }
        await service.put("Task", 1, ["title": "t", "project_id": 1])
        let device = try Device(service, schema: schema)
        try await device.engine.sync()
        if isMovedThere { await service.put("Task", 1, ["project_id": 2]) }
        await service.remove("Project", 1)
        try await device.engine.sync(only: isMovedThere ? ["Project"] : nil)
        #expect(try await device.rows("SELECT projectID FROM Task") == ["nil"])
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")[1]?["project_id"] == (isMovedThere ? 2 : .null))
        #expect(try await device.rows("SELECT projectID FROM Task") == [isMovedThere ? "2" : "nil"])
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test("take rows along whose keys SQLite gives to others: each comes back, and none twice")
    func keysGivenAgain() async throws {
        let service = Self.service()
        let device = try await known(service)
        for id in 2...3 { await service.put("Project", JSONValue(id), ["name": "p"]) }
        try await device.engine.sync()
        for id in 2...3 {
            try await device.write("INSERT INTO Task (remoteID, title, projectID) VALUES (90, 'new\(id)', \(id))")
            await service.remove("Project", JSONValue(id))
            try await device.engine.sync()
        }
        // The service gives the key to another one.
        await service.put("Task", 90, ["title": "another"])
        try await device.engine.sync()
        try await device.engine.restore("Task", key: 90)
        try await device.engine.sync()
        try await device.engine.restore("Task", key: 90)
        try await device.engine.sync()
        await #expect(throws: SyncError.self) { try await device.engine.restore("Task", key: 90) }
        let titles = await service.contents(of: "Task").values.compactMap { $0["title"] }
        for title in ["new2", "new3", "another"] {
            #expect(titles.filter { $0 == .string(title) }.count == 1)
        }
        #expect(try await device.leftovers() == [])
    }

    @Test("has a row that was refused for what it names sent once that is known, however often it was refused")
    func refusedForDeleted() async throws {
        let service = Self.service()
        let device = try Device(service)
        for id in 1...2 { await service.put("Tag", JSONValue(id), ["name": "g"]) }
        await service.put("Task", 1, ["title": "t"])
        try await device.engine.sync()
        await service.setFault { request, _ in
            guard case .push(let operations) = request else { return nil }
            return operations.contains { $0.body["tag_ids"] == [1] } ? .refuse : nil
        }
        try await device.write("INSERT INTO Tag_tasks (taskID, tagID) VALUES (1, 1)")
        try await device.write("UPDATE Task SET title = 'mine'")
        #expect(try await device.engine.push().total.parked == 1)
        try await device.write("UPDATE sync_change SET attempts = 3")
        await service.remove("Tag", 1)
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")[1]?["title"] == "mine")
        #expect(try await device.leftovers() == [])
    }
}
