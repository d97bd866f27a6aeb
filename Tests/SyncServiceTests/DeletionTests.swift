import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Rows that the service deleted or no longer has.
@Suite("Remote deletions")
struct DeletionTests {
    private static func service(
        sendsCascades: Bool = false, _ deletions: ServiceCapabilities.DeletionDetection = .tombstones
    ) -> InMemoryService {
        InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: deletions, createIdempotency: .idempotencyKey,
                supportsPreconditions: true, providesModificationTimes: true,
                maxBatchSize: 10, requiresClientCascades: sendsCascades))
    }

    private func known(_ service: InMemoryService) async throws -> Device {
        for id in 1...2 { await service.set("Project", JSONValue(id), ["name": .string("p\(id)")]) }
        for id in 1...4 {
            await service.set("Task", JSONValue(id), ["title": .string("t\(id)"), "project_id": 1])
        }
        let device = try Device(service)
        try await device.engine.sync()
        return device
    }

    @Test("A remote deletion cascades to dependent rows and not to rows that moved away", arguments: [true, false])
    func movedAway(_ sendsCascades: Bool) async throws {
        let service = Self.service(sendsCascades: sendsCascades)
        let device = try await known(service)
        for id in 1...3 { await service.set("Task", JSONValue(id), ["project_id": 2]) }
        if !sendsCascades { await service.remove("Task", 4) }
        await service.remove("Project", 1)
        let report = try await device.engine.sync()
        #expect(
            try await device.rows("SELECT remoteID, title, projectID FROM Task") == ["1 t1 2", "2 t2 2", "3 t3 2"])
        #expect(await service.contents(of: "Task").count == 3)
        #expect(report.entities["Project"]?.pulledDeletes == 1)
        #expect(report.entities["Task"]?.pulledDeletes == 1)
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test("A row deleted by a cascade is inserted again if the service had changed it")
    func cascadeGivesWay() async throws {
        let service = Self.service(sendsCascades: true)
        let device = try await known(service)
        await service.set("Task", 1, ["project_id": 2])
        await service.remove("Project", 1)
        // Only projects are requested, so the task's move is not pulled.
        try await device.engine.sync(only: ["Project"])
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, title, projectID FROM Task") == ["1 t1 2"])
        #expect(await service.contents(of: "Task").keys.map(\.self) == [1])
        #expect(try await device.leftovers() == [])
    }

    @Test("Deletions found by a push are applied in the same run, within the deletion limit")
    func foundByPush() async throws {
        let service = Self.service(.listing)
        for id in 1...40 { await service.set("Task", JSONValue(id), ["title": "t"]) }
        var configuration = Device.configuration
        configuration.reconciliationInterval = .seconds(1_000_000)
        let device = try Device(service, configuration)
        try await device.engine.sync()
        for id in 1...30 { await service.remove("Task", JSONValue(id)) }
        try await device.write("UPDATE Task SET title = 'mine' WHERE remoteID = 1")
        let report = try await device.engine.push()
        #expect(report.isEmpty)
        #expect(try await device.engine.status().first { $0.entity == "Task" }?.blockedChanges == 1)
        try await device.write("UPDATE Task SET title = 'mine' WHERE remoteID <= 30")
        await #expect {
            try await device.engine.sync()
        } throws: {
            ($0 as? SyncError)?.code == .deletionLimitExceeded
        }
        // The deletion that the first push found.
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["39"])
        configuration.deletionLimit = nil
        let willing = try Device(device.stack, service, configuration)
        try await willing.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["10"])
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.conflicts().filter { $0.local == "mine" }.count == 30)
    }

    @Test("A remote deletion frees a unique value for a row pulled in the same run")
    func freesUniqueValue() async throws {
        let service = Self.service()
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Device.schema.utf8)))
        try await stack.write { db in try db.execute(sql: "CREATE UNIQUE INDEX mine ON Task (title)") }
        await service.set("Task", 1, ["title": "same"])
        let device = try Device(stack, service)
        try await device.engine.sync()
        await service.set("Task", 2, ["title": "same"])
        await service.remove("Task", 1)
        let report = try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID FROM Task") == ["2"])
        #expect(report.total.blockedChanges == 0)
        #expect(try await device.leftovers() == [])
    }

    @Test("Deletions are counted for the entity of each row")
    func counts() async throws {
        let service = Self.service()
        let device = try await known(service)
        for id in 1...4 { await service.remove("Task", JSONValue(id)) }
        await service.remove("Project", 1)
        let report = try await device.engine.sync()
        #expect(report.entities["Task"]?.pulledDeletes == 4)
        #expect(report.entities["Project"]?.pulledDeletes == 1)
    }

    @Test("With editWins, a changed row restores its deleted parent with all its rows", arguments: [true, false])
    func ancestors(_ isNew: Bool) async throws {
        let service = Self.service()
        await service.set("Project", 1, ["name": "p"])
        for id in 1...2 { await service.set("Task", JSONValue(id), ["title": "t", "project_id": 1]) }
        let entities = ["Project", "Task", "Tag"].map { SyncedEntity($0, deleteConflictPolicy: .editWins) }
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
            try await device.rows(
                "SELECT p.name, t.title FROM Task t JOIN Project p ON p.remoteID = t.projectID ORDER BY 2")
                == ["p mine"] + Array(repeating: "p t", count: isNew ? 2 : 1))
        #expect(await service.contents(of: "Project").count == 1)
        #expect(await service.contents(of: "Task").count == (isNew ? 3 : 2))
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test(
        "A row that a cascade deletes although the service still has it is pulled again",
        arguments: ["here", "there"])
    func movedBelowLater(_ place: String) async throws {
        let service = Self.service()
        await service.set("Task", 5, ["title": "t5", "project_id": 2])
        let device = try await known(service)
        await service.remove("Project", 1)
        for id in 1...4 { await service.remove("Task", JSONValue(id)) }
        if place == "here" {
            try await device.write("UPDATE Task SET projectID = 1 WHERE remoteID = 5")
            try await device.engine.push()
        } else {
            await service.set("Task", 5, ["project_id": 1])
        }
        for _ in 1...2 { try await device.engine.sync() }
        #expect(try await device.rows("SELECT remoteID, title, projectID FROM Task") == ["5 t5 nil"])
        #expect(await service.contents(of: "Task")[5]?["project_id"] == 1)
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test(
        "A local cascade logs sent rows completely, and they can be restored",
        arguments: ["moved", "made"], [.tombstones, .listing] as [ServiceCapabilities.DeletionDetection])
    func cascadeIsLogged(_ kind: String, _ deletions: ServiceCapabilities.DeletionDetection) async throws {
        let service = Self.service(sendsCascades: true, deletions)
        let device = try await known(service)
        await service.set("Task", 5, ["title": "t5", "project_id": 2])
        try await device.engine.sync()
        // Another client deleted the project and the tasks that it knew of, before the push.
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
        // The service itself deleted the other rows, and none of them was edited.
        let log = try await device.engine.conflicts()
        #expect(Set(log.map { "\($0.key)" }) == [key])
        #expect(Set(log.map(\.field)) == ["title", "done", "points", "project"])
        #expect(log.allSatisfy { $0.why.hasPrefix("deleted with a row") })
        #expect(report.total.conflicts == 0)
        try await device.engine.restoreDeleted("Task", key: id)
        try await device.engine.sync()
        let title = kind == "moved" ? "t5" : "mine"
        #expect(try await device.rows("SELECT title, projectID FROM Task WHERE title = '\(title)'") == ["\(title) nil"])
        #expect(await service.contents(of: "Task").values.contains { $0["title"] == .string(title) })
        #expect(try await device.leftovers() == [])
    }

    @Test("Deletions over the deletion limit hold back only changes that reference their rows")
    func guardRefuses() async throws {
        let service = Self.service(.listing)
        for id in 1...20 { await service.set("Project", JSONValue(id), ["name": "p"]) }
        await service.set("Task", 1, ["title": "t", "project_id": 20])
        await service.set("Task", 2, ["title": "t", "project_id": 1])
        var configuration = Device.configuration
        configuration.deletionLimit = .half
        let device = try Device(service, configuration)
        try await device.engine.sync()
        let before = try await device.engine.status().map(\.lastSyncDate)
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
                ($0 as? SyncError)?.code == .deletionLimitExceeded
            }
            #expect(await device.engine.lastReport?.total.pushedInserts == (run == 1 ? 1 : 0))
        }
        #expect(try await device.rows("SELECT count(*) FROM Project") == ["20"])
        #expect(try await device.engine.status().map(\.lastSyncDate) == before)
        let tasks = await service.contents(of: "Task")
        #expect(tasks.count == 3)
        #expect(tasks[1]?["title"] == "mine" && tasks[1]?["project_id"] == 20)
        #expect(tasks[2]?["title"] == "mine")
        #expect(tasks.values.contains { $0["title"] == "free" })
        #expect(await service.contents(of: "Project")[20]?["name"] == "mine")
        #expect(try await device.rows("SELECT kind FROM sync_outbox ORDER BY kind") == ["create", "update"])
        configuration.deletionLimit = nil
        let willing = try Device(device.stack, service, configuration)
        try await willing.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Project") == ["5"])
        #expect(try await device.leftovers() == [])
    }

    @Test("Tombstones are applied and reported when the deletion limit rejects other deletions")
    func tombstonesBesideLimit() async throws {
        let service = Self.service()
        for id in 1...20 { await service.set("Project", JSONValue(id), ["name": "p"]) }
        var configuration = Device.configuration
        configuration.deletionLimit = .half
        let device = try Device(service, configuration)
        try await device.engine.sync()
        for id in 1...15 { await service.removeWithoutTombstone("Project", JSONValue(id)) }
        try await device.write("UPDATE Project SET name = 'mine' WHERE remoteID <= 15")
        try await device.engine.push()
        await service.remove("Project", 20)
        await #expect {
            try await device.engine.sync()
        } throws: {
            ($0 as? SyncError)?.code == .deletionLimitExceeded
        }
        #expect(await device.engine.lastReport?.total.pulledDeletes == 1)
        #expect(try await device.rows("SELECT count(*), max(remoteID) FROM Project") == ["19 19"])
    }

    @Test("If a locally deleted row comes back, its earlier edits are logged")
    func editedBefore() async throws {
        let service = Self.service()
        await service.set("Task", 1, ["title": "t", "points": 1, "done": false])
        var configuration = Device.configuration
        configuration.deleteConflictPolicy = .editWins
        let device = try Device(service, configuration)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'a long text of mine', points = 2")
        try await device.write("UPDATE Task SET points = 9")
        try await device.write("DELETE FROM Task")
        await service.set("Task", 1, ["points": 9, "done": true])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title, points, done FROM Task") == ["t 9 1"])
        let log = try await device.engine.conflicts().filter { !$0.field.isEmpty }
        #expect(
            log.map { [.string($0.field), $0.base, $0.local, $0.remote] } == [
                ["title", "t", "a long text of mine", "t"]
            ])
        #expect(try await device.leftovers() == [])
        // If the row is deleted and inserted again without changes, nothing is left over.
        try await device.write("UPDATE Task SET title = 'x'; DELETE FROM Task")
        try await device.write("INSERT INTO Task (remoteID, title, points, done) VALUES (1, 't', 9, 1)")
        try await device.engine.sync()
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A remote deletion that nullifies links sends them, unless the service linked the rows elsewhere",
        arguments: [false, true])
    func nullified(_ isMovedThere: Bool) async throws {
        let service = Self.service(sendsCascades: true)
        let schema = Device.schema.replacingOccurrences(of: ", \"deleteRule\": \"cascade\"", with: "")
        for id in 1...2 { await service.set("Project", JSONValue(id), ["name": "p"]) }
        await service.set("Task", 1, ["title": "t", "project_id": 1])
        let device = try Device(service, schema: schema)
        try await device.engine.sync()
        if isMovedThere { await service.set("Task", 1, ["project_id": 2]) }
        await service.remove("Project", 1)
        try await device.engine.sync(only: isMovedThere ? ["Project"] : nil)
        #expect(try await device.rows("SELECT projectID FROM Task") == ["nil"])
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")[1]?["project_id"] == (isMovedThere ? 2 : .null))
        #expect(try await device.rows("SELECT projectID FROM Task") == [isMovedThere ? "2" : "nil"])
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A remote deletion that removes a row from lists sends the lists, with rows that the service added",
        arguments: [false, true], [false, true])
    func unlisted(_ isChangedThere: Bool, _ isEdited: Bool) async throws {
        let service = Self.service(sendsCascades: true)
        for id in 1...4 { await service.set("Tag", JSONValue(id), ["name": "g"]) }
        await service.set("Task", 1, ["title": "t", "tag_ids": [1, 2]])
        await service.set("Task", 2, ["title": "other", "tag_ids": [2]])
        let device = try Device(service)
        try await device.engine.sync()
        if isEdited {
            try await Sync.update(id: 1, with: ["tag_ids": [1, 2, 4]], inEntity: "Task", stack: device.stack)
        }
        if isChangedThere { await service.set("Task", 1, ["tag_ids": [1, 2, 3]]) }
        await service.remove("Tag", 1)
        try await device.engine.sync(only: ["Tag"])
        await service.deleteRequests()
        for _ in 0..<2 { try await device.engine.sync() }
        let tags = [2] + (isChangedThere ? [3] : []) + (isEdited ? [4] : [])
        guard case .array(let sent)? = await service.contents(of: "Task")[1]?["tag_ids"] else {
            Issue.record("no list")
            return
        }
        #expect(Set(sent) == Set(tags.map { JSONValue($0) }))
        #expect(
            try await device.rows("SELECT tagID FROM Tag_tasks WHERE taskID = 1 ORDER BY 1") == tags.map { "\($0)" })
        let pushed = await service.requests.flatMap { request -> [PushOperation] in
            guard case .push(let operations) = request else { return [] }
            return operations
        }
        #expect(pushed.map(\.id) == [1])
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test("If the service cascades, lists that lose a deleted row are not sent")
    func unlistedByService() async throws {
        let service = Self.service()
        await service.set("Tag", 1, ["name": "g"])
        await service.set("Task", 1, ["title": "t", "tag_ids": [1]])
        let device = try Device(service)
        try await device.engine.sync()
        await service.remove("Tag", 1)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT * FROM Tag_tasks") == [])
        #expect(await service.contents(of: "Task")[1]?["tag_ids"] == [1])
        #expect(try await device.leftovers() == [])
    }

    @Test("Rows of cascades whose keys SQLite reused are all restored once")
    func keysGivenAgain() async throws {
        let service = Self.service()
        let device = try await known(service)
        for id in 2...3 { await service.set("Project", JSONValue(id), ["name": "p"]) }
        try await device.engine.sync()
        for id in 2...3 {
            try await device.write("INSERT INTO Task (remoteID, title, projectID) VALUES (90, 'new\(id)', \(id))")
            await service.remove("Project", JSONValue(id))
            try await device.engine.sync()
        }
        // The service gives the key to another record.
        await service.set("Task", 90, ["title": "another"])
        try await device.engine.sync()
        try await device.engine.restoreDeleted("Task", key: 90)
        try await device.engine.sync()
        try await device.engine.restoreDeleted("Task", key: 90)
        try await device.engine.sync()
        await #expect(throws: SyncError.self) { try await device.engine.restoreDeleted("Task", key: 90) }
        let titles = await service.contents(of: "Task").values.compactMap { $0["title"] }
        for title in ["new2", "new3", "another"] {
            #expect(titles.filter { $0 == .string(title) }.count == 1)
        }
        #expect(try await device.leftovers() == [])
    }

    @Test("A change rejected because of a deleted row it references is sent after the deletion is pulled")
    func refusedForDeleted() async throws {
        let service = Self.service()
        let device = try Device(service)
        for id in 1...2 { await service.set("Tag", JSONValue(id), ["name": "g"]) }
        await service.set("Task", 1, ["title": "t"])
        try await device.engine.sync()
        await service.setFault { request, _ in
            guard case .push(let operations) = request else { return nil }
            return operations.contains { $0.record["tag_ids"] == [1] } ? .refuse : nil
        }
        try await device.write("INSERT INTO Tag_tasks (taskID, tagID) VALUES (1, 1)")
        try await device.write("UPDATE Task SET title = 'mine'")
        #expect(try await device.engine.push().total.blockedChanges == 1)
        try await device.write("UPDATE sync_outbox SET rejections = 3")
        await service.remove("Tag", 1)
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")[1]?["title"] == "mine")
        #expect(try await device.leftovers() == [])
    }

    // MARK: Rows moved locally

    @Test(
        "A remote deletion spares a row moved below it locally, and the row returns to its former parent",
        arguments: [false, true], [1, nil] as [Int?])
    func movedBelow(_ sendsCascades: Bool, _ former: Int?) async throws {
        let service = Self.service(sendsCascades: sendsCascades)
        let device = try await known(service)
        await service.set("Task", 1, ["project_id": former.map { JSONValue($0) } ?? .null])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET projectID = 2, title = 'mine' WHERE remoteID = 1")
        await service.remove("Project", 2)
        for _ in 0..<2 { try await device.engine.sync() }
        let parent = former.map { "\($0)" } ?? "nil"
        #expect(try await device.rows("SELECT title, projectID FROM Task WHERE remoteID = 1") == ["mine \(parent)"])
        #expect(await service.contents(of: "Task")[1]?["title"] == "mine")
        #expect(await service.contents(of: "Task")[1]?["project_id"] == former.map { JSONValue($0) } ?? .null)
        #expect(await service.contents(of: "Task").count == 4)
        let log = try await device.engine.conflicts().map {
            "\($0.key) \($0.field) \($0.local) \($0.remote) \($0.winner)"
        }
        #expect(log == ["1 project 2 \(former.map { "\($0)" } ?? "null") remote"])
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    private static let folders = """
        {"entities": {"Folder": {"attributes": {"id": "integer", "name": "string"}, "relationships": {
          "parent": {"entity": "Folder", "inverse": "children"},
          "children": {"entity": "Folder", "many": true, "inverse": "parent", "deleteRule": "cascade"}}}}}
        """

    @Test("A remote deletion spares rows moved below its dependent rows, and leaves rows below those alone")
    func movedFarBelow() async throws {
        let service = Self.service()
        for (id, parent) in [(1, nil), (2, nil), (3, 2), (4, 1), (5, 4), (6, nil), (7, 1), (8, 2)] as [(Int, Int?)] {
            await service.set(
                "Folder", JSONValue(id), ["name": "f", "parent_id": parent.map { JSONValue($0) } ?? .null])
        }
        let device = try Device(service, schema: Self.folders, entities: ["Folder"])
        try await device.engine.sync()
        // Folders 4 and 6 move below 3, which is deleted with 2; 7 moves below 4; 8 moves away from 2.
        try await device.write(
            """
            UPDATE Folder SET parentID = 3 WHERE id IN (4, 6);
            UPDATE Folder SET parentID = 4 WHERE id = 7;
            UPDATE Folder SET parentID = 1 WHERE id = 8
            """)
        await service.remove("Folder", 2)
        await service.remove("Folder", 3)
        for _ in 0..<2 { try await device.engine.sync() }
        let rows = try await device.rows("SELECT id, parentID FROM Folder ORDER BY 1")
        #expect(rows == ["1 nil", "4 1", "5 4", "6 nil", "7 4", "8 1"])
        #expect(await service.contents(of: "Folder")[7]?["parent_id"] == 4)
        #expect(await service.contents(of: "Folder")[8]?["parent_id"] == 1)
        #expect(await service.contents(of: "Folder").count == 6)
        let log = try await device.engine.conflicts().map { "\($0.key) \($0.field) \($0.local) \($0.remote)" }
        #expect(log.sorted() == ["4 parent 3 1", "6 parent 3 null"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A remote deletion cascades to the part that the service knows and not to its local replacement")
    func replacedPart() async throws {
        let schema = """
            {"entities": {
              "Task": {"attributes": {"id": "integer", "title": "string"},
                "relationships": {"note": {"entity": "Note", "deleteRule": "cascade"}}},
              "Note": {"attributes": {"id": "integer", "text": "string"}}}}
            """
        let service = Self.service()
        for id in 1...2 { await service.set("Note", JSONValue(id), ["text": "n"]) }
        await service.set("Task", 1, ["title": "t", "note_id": 1])
        let device = try Device(service, schema: schema, entities: ["Note", "Task"])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET noteID = 2")
        await service.remove("Task", 1)
        await service.remove("Note", 1)
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(try await device.rows("SELECT id FROM Note") == ["2"])
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
        let log = try await device.engine.conflicts().filter { $0.field == "note" }
        #expect(log.map { "\($0.key) \($0.base) \($0.local)" } == ["1 1 2"])
        #expect(try await device.leftovers() == [])
    }
}
