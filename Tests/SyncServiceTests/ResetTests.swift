import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Rows that are deleted locally and pulled again.
@Suite("Local resets")
struct ResetTests {
    private let service = InMemoryService(pageSize: 20)

    private func requests() async -> [String] {
        await service.requests.flatMap { request -> [String] in
            guard case .push(let operations) = request else { return [] }
            return operations.map { "\($0.kind) \($0.id ?? .null) \($0.record)" }
        }
    }

    /// Returns a schema with or without the cascade from projects to tasks.
    private static func schema(cascades: Bool) -> String {
        cascades ? Device.schema : Device.schema.replacingOccurrences(of: ", \"deleteRule\": \"cascade\"", with: "")
    }

    private func known(cascades: Bool, _ names: [String]) async throws -> Device {
        for id in 1...2 {
            await service.set("Project", JSONValue(id), ["name": "p"])
            await service.set("Tag", JSONValue(id), ["name": "g"])
        }
        for id in 1...4 {
            await service.set(
                "Task", JSONValue(id), ["title": .string("t\(id)"), "project_id": 1, "tag_ids": [1, 2]])
        }
        let device = try Device(
            service, schema: Self.schema(cascades: cascades), entities: names.map { SyncedEntity($0) })
        try await device.engine.sync()
        await service.deleteRequests()
        return device
    }

    @Test(
        "A local reset by an engine with fewer entities creates, deletes and unlinks no rows of others",
        arguments: [false, true], [["Project", "Task", "Tag"], ["Tag", "Task", "Project"]])
    func fewerEntities(_ cascades: Bool, _ names: [String]) async throws {
        let device = try await known(cascades: cascades, names)
        let few = try Device(device.stack, service, entities: ["Project", "Tag"])
        try await few.engine.reset(.localData)
        let counts = "SELECT (SELECT count(*) FROM Project), (SELECT count(*) FROM Task), (SELECT count(*) FROM Tag)"
        #expect(try await few.rows(counts) == [cascades ? "0 0 0" : "0 4 0"])
        let again = try Device(device.stack, service, entities: names.map { SyncedEntity($0) })
        for _ in 0..<2 { try await again.engine.sync() }
        #expect(await requests() == [])
        #expect(await service.contents(of: "Task").count == 4)
        #expect(
            try await again.rows("SELECT remoteID, title, projectID FROM Task ORDER BY 1")
                == ["1 t1 1", "2 t2 1", "3 t3 1", "4 t4 1"])
        #expect(try await again.rows("SELECT count(*) FROM Tag_tasks") == ["8"])
        #expect(try await again.rows("SELECT count(*) FROM sync_pending") == ["0"])
        #expect(try await again.engine.conflicts().isEmpty)
        #expect(try await again.leftovers() == [])
    }

    @Test(
        "A local reset by an engine with fewer entities keeps edits of others, except links to deleted rows",
        arguments: [["Project", "Task", "Tag"], ["Tag", "Task", "Project"]])
    func editsOfOthers(_ names: [String]) async throws {
        let device = try await known(cascades: false, names)
        let columns = try await device.rows(
            "SELECT name FROM pragma_table_info('Tag_tasks') ORDER BY name LIKE '%tag%'")
        let (task, tag) = (columns[0], columns[1])
        try await device.write(
            """
            UPDATE Task SET projectID = 2 WHERE remoteID = 1;
            UPDATE Task SET title = 'mine' WHERE remoteID = 2;
            DELETE FROM Task WHERE remoteID = 4;
            INSERT INTO Project (remoteID, name) VALUES (-9000000000000000000, 'new');
            UPDATE Task SET projectID = -9000000000000000000 WHERE remoteID = 3;
            DELETE FROM Tag_tasks WHERE "\(task)" = 2 AND "\(tag)" = 1
            """)
        let few = try Device(device.stack, service, entities: ["Project", "Tag"])
        // No trigger captures this.
        try await few.write("INSERT INTO Task (remoteID, title, projectID) VALUES (5, 'made', 2)")
        try await few.engine.reset(.localData)
        #expect(try await few.rows("SELECT count(*) FROM Project") == ["0"])
        let again = try Device(device.stack, service, entities: names.map { SyncedEntity($0) })
        for _ in 0..<2 { try await again.engine.sync() }
        let tasks = await service.contents(of: "Task")
        #expect(tasks[2]?["title"] == "mine")
        for id in 1...3 {
            #expect(tasks[JSONValue(id)]?["project_id"] == 1 && tasks[JSONValue(id)]?["tag_ids"] == [1, 2])
        }
        #expect(tasks[4] == nil)
        #expect(tasks.values.filter { $0["title"] == "made" }.map { $0["project_id"] } == [2])
        #expect(tasks.count == 4)
        #expect(await service.contents(of: "Project").count == 2)
        #expect(try await again.rows("SELECT projectID FROM Task ORDER BY remoteID") == ["1", "1", "1", "2"])
        #expect(try await again.rows("SELECT count(*) FROM Tag_tasks") == ["6"])
        let log = try await again.engine.conflicts().map { "\($0.key) \($0.field) \($0.winner)" }
        #expect(log.sorted() == ["1 project remote", "2 tags remote", "3 project remote"])
        #expect(try await again.leftovers() == [])
    }

    @Test("A local reset keeps rows of unsynced entities that share a table", arguments: [false, true])
    func sharedTable(_ removesEngine: Bool) async throws {
        let schema = """
            {"entities": {
              "Event": {"abstract": true, "attributes": {"remoteID": "integer", "name": "string"}},
              "Holiday": {"parent": "Event", "attributes": {"country": "string"}},
              "Birthday": {"parent": "Event", "attributes": {"gift": "string"}},
              "Jubilee": {"parent": "Birthday", "attributes": {"years": "integer"}}}}
            """
        for name in ["Holiday", "Jubilee"] {
            await service.set(name, JSONValue(name == "Holiday" ? 1 : 2), ["name": "theirs"])
        }
        let device = try Device(service, schema: schema, entities: ["Holiday", "Jubilee"])
        try await device.engine.sync()
        try await device.write("INSERT INTO Event (remoteID, sync_entity, name) VALUES (500, 'Birthday', 'only here')")
        if removesEngine {
            try await device.stack.removeSyncState(deletingRows: true)
        } else {
            try await device.engine.reset(.localData)
        }
        #expect(try await device.rows("SELECT remoteID, sync_entity FROM Event") == ["500 Birthday"])
        #expect(await requests() == [])
    }

    @Test("An engine whose sync state was removed throws an error that says so, and a new engine syncs")
    func removedState() async throws {
        await service.set("Task", 1, ["title": "t"])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.stack.removeSyncState(deletingRows: false)
        let errors = [
            await #expect(throws: SyncError.self) { try await device.engine.sync() },
            await #expect(throws: SyncError.self) { _ = try await device.engine.status() },
        ]
        #expect(errors.map { $0?.code } == [.databaseError, .databaseError])
        #expect(errors.allSatisfy { $0?.message.contains("the sync state of this engine was removed") == true })
        try await Device(device.stack, service).engine.sync()
        #expect(try await device.rows("SELECT title FROM Task") == ["t"])
    }

    @Test("An engine of a former user reads and writes nothing of the next user", arguments: [true, false])
    func formerEngine(hasExchangedData: Bool) async throws {
        let (ada, bob) = (InMemoryService(), InMemoryService())
        await ada.set("Task", 1, ["title": "hers"])
        await bob.set("Task", 2, ["title": "his"])
        func device(_ user: String, _ service: InMemoryService, _ stack: DataStack?) throws -> Device {
            var configuration = Device.configuration
            configuration.userID = user
            return try stack.map { try Device($0, service, configuration) } ?? Device(service, configuration)
        }
        let former = try device("ada", ada, nil)
        var counts = former.engine.observePendingChangeCount().makeAsyncIterator()
        #expect(try await counts.next() == 0)
        if hasExchangedData {
            try await former.engine.sync()
            try await former.stack.removeSyncState(deletingRows: true)
        }
        let next = try device("bob", bob, former.stack)
        try await next.write("INSERT INTO Task (remoteID, title) VALUES (-1, 'private')")
        let calls: [@Sendable () async throws -> Void] = [
            { try await former.engine.sync() }, { try await former.engine.pull() }, { try await former.engine.push() },
            { _ = try await former.engine.status() }, { _ = try await former.engine.conflicts() },
            { try await former.engine.apply([["id": 3, "title": "pushed"]], inEntity: "Task") },
            { try await former.engine.reset(.localData) }, { _ = try await former.engine.hasRemoteChanges() },
        ]
        for call in calls {
            let error = await #expect(throws: SyncError.self) { try await call() }
            #expect(error?.message == "the sync state of this engine was removed (removeSyncState)")
        }
        await #expect(throws: SyncError.self) { while try await counts.next() != nil {} }
        try await next.engine.sync()
        #expect(await ada.contents(of: "Task").count == 1)
        #expect(Set(await bob.contents(of: "Task").values.compactMap { $0["title"] }) == ["his", "private"])
        #expect(try await next.rows("SELECT title FROM Task ORDER BY title") == ["his", "private"])
    }

    @Test("Deleting local rows deletes their pending references", arguments: [false, true])
    func pendingReferences(_ removesEngine: Bool) async throws {
        await service.set("Task", 1, ["title": "t", "project_id": 99])
        let device = try Device(service, entities: ["Task"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM sync_pending") == ["1"])
        if removesEngine {
            try await device.stack.removeSyncState(deletingRows: true)
        } else {
            try await device.engine.reset(.localData)
        }
        #expect(try await device.rows("SELECT count(*) FROM sync_pending") == ["0"])
    }
}
