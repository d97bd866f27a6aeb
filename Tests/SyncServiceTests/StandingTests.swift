import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// What is asked of an engine besides runs.
@Suite("Asking an engine")
struct StandingTests {
    private let service = InMemoryService()

    @Test("finds news that are on a page behind what is known already")
    func newsOnLaterPage() async throws {
        let service = InMemoryService(pageSize: 2)
        for id in 1...6 { await service.put("Task", JSONValue(id), ["title": "t"]) }
        let device = try Device(service)
        try await device.engine.sync()
        #expect(try await !device.engine.changed())
        // A whole list is asked for, of which the last page has the new row.
        try await device.engine.reset(.relink)
        try await device.engine.sync()
        try await device.write("UPDATE sync_cursor SET cursor = NULL")
        #expect(try await !device.engine.changed())
        await service.put("Task", 7, ["title": "new"])
        try await device.write("UPDATE sync_cursor SET cursor = NULL")
        #expect(try await device.engine.changed())
    }

    @Test("A row is found by the key that it had before the service gave it one, in all ways")
    func formerKey() async throws {
        let device = try Device(service)
        let key = try await device.stack.insert("Task", values: ["title": "new"]).key.json
        try await device.engine.sync()
        let record = try #require(try await device.stack.fetch("Task", id: key))
        #expect(record.key.json != key)
        #expect(record["title"] == .string("new"))
        // It is not given again.
        let next = try await device.stack.insert("Task", values: ["title": "next"])
        #expect(next.key.json != key)
        // Not where another row has it.
        try await device.write("INSERT INTO Task (remoteID, title) VALUES (\(key), 'other')")
        #expect(try await device.stack.fetch("Task", id: key)?["title"] == .string("other"))
    }

    @Test("New rows that need each other are parked, and say why")
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
        let parked = try await device.engine.parkedRows()
        #expect(parked.count == 2 && parked.allSatisfy { $0.reason.hasPrefix("a cycle") })
        // Once one of them needs the other no more, both are sent.
        await service.put("Body", 7, ["name": "other"])
        try await device.engine.sync()
        try await device.write("UPDATE Head SET bodyID = 7")
        try await device.engine.sync()
        #expect(try await device.engine.parkedRows().isEmpty)
        #expect(await service.contents(of: "Head").count == 1)
        #expect(await service.contents(of: "Body").count == 2)
    }

    @Test("resets what it is asked to, and nothing of other entities")
    func resetOfSome() async throws {
        await service.put("Task", 1, ["title": "t"])
        await service.put("Tag", 1, ["name": "g"])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Tag SET name = 'mine'")
        try await device.engine.reset(.relink, only: ["Task"])
        let cursors = try await device.rows("SELECT e FROM sync_cursor WHERE cursor IS NOT NULL ORDER BY 1")
        #expect(cursors == ["1", "3"])
        try await device.engine.reset(.remote, only: ["Task"])
        #expect(try await device.rows("SELECT e, kind FROM sync_change ORDER BY 1") == ["2 create", "3 update"])
        await #expect(throws: SyncError.self) { try await device.engine.reset(.local, only: ["Task"]) }
        await #expect(throws: SyncError.self) { try await device.engine.reset(.relink, only: ["Nothing"]) }
    }

    @Test("Who joins a run is not cancelled with who began it")
    func joinedAndCancelled() async throws {
        let device = try Device(service)
        try await device.engine.sync()
        await service.put("Task", 1, ["title": "t"])
        let gate = Gate()
        await service.setMeanwhile { _ in await gate.pass() }
        let first = Task { try await device.engine.sync() }
        await gate.waitUntilReached()
        let second = Task { try await device.engine.sync() }
        // It has joined, or will begin one of its own: it is not cancelled in either case.
        for _ in 0..<100 { await Task.yield() }
        first.cancel()
        await gate.open()
        _ = try await second.value
        #expect(try await device.rows("SELECT title FROM Task") == ["t"])
    }

    @Test("lastWriterWins ends a run if a record has no time")
    func noTime() async throws {
        var options = RESTOptions()
        options.version = "version"
        var settings = Device.settings
        settings.policy = .lastWriterWins
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example")), options: options,
            transport: Served { _, _ in (200, [:], [["id": 1, "title": "t", "version": 3]]) })
        let device = try Device(service, entities: ["Task"], settings)
        await #expect {
            try await device.engine.sync()
        } throws: { error in
            (error as? SyncError)?.code == .invalidOption && "\(error)".contains("'3' is no time")
        }
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
    }

    /// Holds the first that passes until it is opened.
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
