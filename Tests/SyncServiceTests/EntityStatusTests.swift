import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Calls of an engine besides runs, and the sync status.
@Suite("Engine calls")
struct EntityStatusTests {
    private let service = InMemoryService()

    @Test("changed() finds changes on a later page of a list")
    func newsOnLaterPage() async throws {
        let service = InMemoryService(pageSize: 2)
        for id in 1...6 { await service.set("Task", JSONValue(id), ["title": "t"]) }
        let device = try Device(service)
        try await device.engine.sync()
        #expect(try await !device.engine.hasRemoteChanges())
        // The whole list is requested, and its last page has the new row.
        try await device.engine.reset(.cursors)
        try await device.engine.sync()
        try await device.write("UPDATE sync_cursor SET cursor = NULL")
        #expect(try await !device.engine.hasRemoteChanges())
        await service.set("Task", 7, ["title": "new"])
        try await device.write("UPDATE sync_cursor SET cursor = NULL")
        #expect(try await device.engine.hasRemoteChanges())
    }

    @Test("A row is found by its former temporary key")
    func formerKey() async throws {
        let device = try Device(service)
        let key = try await device.stack.insert("Task", values: ["title": "new"]).key.json
        try await device.engine.sync()
        let record = try #require(try await device.stack.fetch("Task", id: key))
        #expect(record.key.json != key)
        #expect(record["title"] == .string("new"))
        // The temporary key is not used again.
        let next = try await device.stack.insert("Task", values: ["title": "next"])
        #expect(next.key.json != key)
        // A row with this key takes precedence.
        try await device.write("INSERT INTO Task (remoteID, title) VALUES (\(key), 'other')")
        #expect(try await device.stack.fetch("Task", id: key)?["title"] == .string("other"))
    }

    @Test("A condition on a temporary key finds the row and its related rows, also after the engine replaced the key")
    func conditionOnFormerKey() async throws {
        let device = try Device(service)
        let stack = device.stack
        let project = try await stack.insert("Project", values: ["name": "new"])
        let otherProject = try await stack.insert("Project", values: ["name": "other"])
        let (key, other) = (try #require(project.key.json.int), try #require(otherProject.key.json.int))
        try await device.write(
            "INSERT INTO Task (remoteID, title, projectID) VALUES (-1, 'a', \(key)), (-2, 'b', \(other))")
        let condition = RowPredicate.where("project == %@", key)
        func check() async throws {
            #expect(try await stack.fetch("Task", where: condition).map { $0["title"] } == [.string("a")])
            #expect(try await stack.count("Task", where: .where("project.remoteID IN %@", [key])) == 1)
            #expect(try await stack.count("Task", where: .where("project != %@", key)) == 1)
            #expect(try await stack.count("Project", where: .where("ALL tasks.project == %@", key)) == 1)
            #expect(try await stack.count("Project", where: .where("remoteID == %@", key)) == 1)
            #expect(try await stack.export("Task", where: condition).count == 1)
        }
        try await check()
        var observed = stack.observe("Task", where: condition).makeAsyncIterator()
        #expect(try await observed.next()?.count == 1)
        try await device.engine.sync()
        #expect(try await stack.count("Project", where: .where("remoteID < 0")) == 0)
        try await check()
        #expect(try await observed.next()?.map { $0["title"] } == [.string("a")])
        // The scope of a sync compares the current key too.
        let result = try await Sync.changes(
            [["id": 7, "title": "c", "project_id": .null]], inEntity: "Task", stack: stack, predicate: condition)
        #expect(result["Task"].deletedCount == 1 && result["Task"].insertedCount == 1)
    }

    @Test("New rows that reference each other are blocked with a reason")
    func cycle() async throws {
        let schema = """
            {"entities": {
              "Head": {"attributes": {"remoteID": "integer", "name": "string"},
                "relationships": {"body": {"entity": "Body", "optional": false}}},
              "Body": {"attributes": {"remoteID": "integer", "name": "string"},
                "relationships": {"head": {"entity": "Head", "optional": false}}},
              "Tag": {"attributes": {"remoteID": "integer", "name": "string"}}}}
            """
        let device = try Device(service, schema: schema, entities: ["Head", "Body", "Tag"])
        try await device.write(
            """
            PRAGMA defer_foreign_keys = ON;
            INSERT INTO Head (remoteID, name, bodyID) VALUES (-1, 'h', -2);
            INSERT INTO Body (remoteID, name, headID) VALUES (-2, 'b', -1);
            INSERT INTO Tag (remoteID, name) VALUES (-3, 't');
            """)
        try await device.engine.sync()
        #expect(await service.contents(of: "Tag").count == 1)
        #expect(await service.contents(of: "Head").isEmpty)
        let parked = try await device.engine.blockedChanges()
        #expect(parked.count == 2 && parked.allSatisfy { $0.reason.hasPrefix("cycle") })
        // Once one row no longer references the other, both are sent.
        await service.set("Body", 7, ["name": "other"])
        try await device.engine.sync()
        try await device.write("UPDATE Head SET bodyID = 7")
        try await device.engine.sync()
        #expect(try await device.engine.blockedChanges().isEmpty)
        #expect(await service.contents(of: "Head").count == 1)
        #expect(await service.contents(of: "Body").count == 2)
    }

    @Test("A reset of some entities does not touch the others")
    func resetOfSome() async throws {
        await service.set("Task", 1, ["title": "t"])
        await service.set("Tag", 1, ["name": "g"])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Tag SET name = 'mine'")
        try await device.engine.reset(.cursors, only: ["Task"])
        let cursors = try await device.rows("SELECT e FROM sync_cursor WHERE cursor IS NOT NULL ORDER BY 1")
        #expect(cursors == ["1", "3"])
        try await device.engine.reset(.remoteState, only: ["Task"])
        #expect(try await device.rows("SELECT e, kind FROM sync_outbox ORDER BY 1") == ["2 create", "3 update"])
        await #expect(throws: SyncError.self) { try await device.engine.reset(.localData, only: ["Task"]) }
        await #expect(throws: SyncError.self) { try await device.engine.reset(.cursors, only: ["Nothing"]) }
    }

    @Test("Cancelling the caller of a run does not cancel another caller that joined it")
    func joinedAndCancelled() async throws {
        let device = try Device(service)
        try await device.engine.sync()
        await service.set("Task", 1, ["title": "t"])
        let gate = Gate()
        await service.onRequest { _ in await gate.pass() }
        let first = Task { try await device.engine.sync() }
        await gate.waitUntilReached()
        let second = Task { try await device.engine.sync() }
        // The second call has joined the run or will begin another one.
        for _ in 0..<100 { await Task.yield() }
        first.cancel()
        await gate.open()
        _ = try await second.value
        #expect(try await device.rows("SELECT title FROM Task") == ["t"])
    }

    @Test("With lastWriterWins, a record without a time ends the run")
    func noTime() async throws {
        var options = RESTOptions()
        options.versionField = "version"
        var configuration = Device.configuration
        configuration.conflictPolicy = .lastWriterWins
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example")), options: options,
            transport: Served { _, _ in (200, [:], [["id": 1, "title": "t", "version": 3]]) })
        let device = try Device(service, entities: ["Task"], configuration)
        await #expect {
            try await device.engine.sync()
        } throws: { error in
            (error as? SyncError)?.code == .invalidOption && "\(error)".contains("its version '3' is not a time")
        }
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
    }

    /// Holds all calls until it is opened.
    private actor Gate {
        private var isOpen = false
        private var isReached = false

        func pass() async {
            isReached = true
            while !isOpen { await Task.yield() }
        }

        func waitUntilReached() async { while !isReached { await Task.yield() } }
        func open() { isOpen = true }
    }
}
