import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Tests with the stub of a changes endpoint in `Tests/Servers/REST`, which is written from the documentation of
/// WatermelonDB's protocol.
@Suite("Stub of a changes endpoint", .enabled(if: RESTServer.isThere, "make services builds the server"))
struct WatermelonServiceTests {
    private static let schema = Device.schema.replacingOccurrences(
        of: "\"remoteID\": {\"type\": \"integer\"}", with: "\"remoteID\": {\"type\": \"string\"}")

    private func space(_ more: [JSONValue.Member] = []) async throws -> RESTSpace {
        try await RESTServer.shared.space(.object([.init("dialect", "changes")] + more))
    }

    private func service(_ space: RESTSpace) -> WatermelonService {
        WatermelonService(url: space.url.appendingPathComponent("sync"))
    }

    private func device(_ space: RESTSpace) throws -> Device { try Device(service(space), schema: Self.schema) }

    @Test("A service with a changes endpoint passes the conformance suite", arguments: [false, true])
    func conformance(_ isReplacement: Bool) async throws {
        let service = service(try await space([.init("replacement", .bool(isReplacement))]))
        let failures = await ServiceConformance(service, entity: "Task", member: "title", other: "note").run()
        // A replacement contains all rows and no tombstones.
        let expected = [
            "deletion: a pull since the deletion returns no tombstone",
            "atomic push: a pull of all entities since the change does not return the changed row",
        ]
        #expect(failures.map(\.errorDescription) == (isReplacement ? expected : []))
    }

    @Test("All entities are pulled in one request, and a pull without changes writes nothing")
    func together() async throws {
        let space = try await space()
        let (one, two) = (try device(space), try device(space))
        let project = try await one.stack.insert("Project", values: ["name": "p"])
        for number in 1...5 {
            try await one.stack.insert(
                "Task", values: ["title": .string("t\(number)")], relationships: ["project": [project]])
        }
        try await one.engine.sync()
        try await two.engine.sync()
        #expect(try await two.rows("SELECT count(*), count(projectID), min(length(remoteID)) FROM Task") == ["5 5 16"])
        for device in [one, two] {
            try await device.engine.sync()
            #expect(try await device.leftovers() == [])
            try await space.forgetLog()
            #expect(try await device.engine.sync().isEmpty)
            #expect(try await space.log() == ["GET /sync"])
            #expect(try await device.rows("SELECT count(DISTINCT cursor) FROM sync_cursor") == ["1"])
        }
        try await space.forgetLog()
        #expect(try await two.engine.hasRemoteChanges() == false)
        try await one.write("UPDATE Task SET points = 1 WHERE title = 't1'")
        try await one.engine.sync()
        #expect(try await two.engine.hasRemoteChanges())
        #expect(try await space.log() == ["GET /sync", "GET /sync", "POST /sync", "GET /sync"])
    }

    @Test("A push rejected because of a conflict is sent again after a pull, with whole rows")
    func conflict() async throws {
        let space = try await space([.init("required", ["name"])])
        let (one, two) = (try device(space), try device(space))
        for name in ["a", "b"] { try await one.stack.insert("Project", values: ["name": .string(name)]) }
        try await one.engine.sync()
        try await two.engine.sync()
        try await one.write("UPDATE Project SET name = 'one' WHERE name = 'a'")
        try await two.write("UPDATE Project SET name = 'two'")
        try await one.engine.sync()
        // The push comes after the pull and push of the other device.
        try await two.engine.push()
        try await one.engine.sync()
        for device in [one, two] {
            #expect(try await device.rows("SELECT name FROM Project") == ["two", "two"])
            #expect(try await device.leftovers() == [])
        }
        #expect(try await two.engine.conflicts().contains { $0.remote == "one" })
    }

    @Test(
        "If a push is rejected, the change at fault is blocked, and the others are sent", arguments: [422, 400])
    func refused(_ conflictStatus: Int) async throws {
        let space = try await space([.init("unique", "name"), .init("conflictStatus", JSONValue(conflictStatus))])
        let one = try device(space)
        for name in ["a", "b", "c", "c", "d", "e"] {
            try await one.stack.insert("Tag", values: ["name": .string(name)])
        }
        try await one.engine.sync()
        #expect(try await space.rows("tags").count == 5)
        let parked = try await one.engine.blockedChanges()
        #expect(parked.map(\.reason) == ["status 422: name is taken"])
        try await one.write("UPDATE Tag SET name = 'f' WHERE remoteID IN (SELECT k FROM sync_outbox)")
        try await one.engine.sync()
        #expect(try await space.rows("tags").count == 6)
        #expect(try await one.leftovers() == [])
        // A conflict with the same status.
        let two = try device(space)
        try await two.engine.sync()
        try await one.write("UPDATE Tag SET name = 'x' WHERE name = 'a'")
        try await two.write("UPDATE Tag SET name = 'y' WHERE name = 'a'")
        try await one.engine.sync()
        try await two.engine.push()
        try await one.engine.sync()
        #expect(try await one.rows("SELECT count(*) FROM Tag WHERE name = 'y'") == ["1"])
        #expect(try await two.engine.blockedChanges().isEmpty)
    }

    @Test("A replacement deletes rows that it lacks, except rows with pending changes")
    func replacement() async throws {
        let space = try await space()
        let (one, two) = (try device(space), try device(space))
        for number in 1...4 { try await one.stack.insert("Task", values: ["title": .string("t\(number)")]) }
        try await one.engine.sync()
        try await two.engine.sync()
        try await one.write("DELETE FROM Task WHERE title = 't1'")
        try await one.engine.sync()
        try await two.stack.insert("Task", values: ["title": "new"])
        try await two.write("UPDATE Task SET points = 2 WHERE title = 't2'")
        try await space.put("_settings", ["dialect": "changes", "replacement": true])
        try await two.engine.pull()
        #expect(
            try await two.rows("SELECT title, points FROM Task ORDER BY 1")
                == ["new nil", "t2 2", "t3 nil", "t4 nil"])
        try await two.engine.sync()
        try await one.engine.sync()
        #expect(try await one.rows("SELECT title FROM Task ORDER BY 1") == ["new", "t2", "t3", "t4"])
        #expect(try await two.leftovers() == [])
    }

    static let kinds = ["drop-before", "drop-after", "cut", "html", "malformed", "status"]

    @Test("A fault of any answer of a changes endpoint neither loses nor duplicates a row", arguments: kinds)
    func faults(_ kind: String) async throws {
        for at in 1...4 {
            let space = try await space()
            let one = try device(space)
            let project = try await one.stack.insert("Project", values: ["name": "p"])
            for number in 1...3 {
                try await one.stack.insert(
                    "Task", values: ["title": .string("t\(number)")], relationships: ["project": [project]])
            }
            var fault: [JSONValue.Member] = [.init("at", JSONValue(at)), .init("kind", .string(kind))]
            if kind == "status" { fault.append(.init("status", 503)) }
            try await space.put("_faults", .array([.object(fault)]))
            for _ in 1...3 { _ = try? await one.engine.sync() }
            #expect(try await one.engine.sync().isEmpty, "\(kind) at \(at)")
            #expect(try await space.rows("projects").count == 1, "\(kind) at \(at)")
            #expect(try await space.rows("tasks").count == 3, "\(kind) at \(at)")
            #expect(try await one.rows("SELECT count(*), count(projectID) FROM Task") == ["3 3"], "\(kind) at \(at)")
            #expect(try await one.leftovers() == [], "\(kind) at \(at)")
        }
    }

    @Test("Deletions with their cascades reach the other device through a changes endpoint")
    func deletions() async throws {
        let space = try await space()
        let (one, two) = (try device(space), try device(space))
        let project = try await one.stack.insert("Project", values: ["name": "p"])
        for number in 1...3 {
            try await one.stack.insert(
                "Task", values: ["title": .string("t\(number)")], relationships: ["project": [project]])
        }
        try await one.stack.insert("Task", values: ["title": "alone"])
        try await one.engine.sync()
        try await two.engine.sync()
        try await two.write("DELETE FROM Project")
        try await two.engine.sync()
        try await one.engine.sync()
        for device in [one, two] {
            #expect(try await device.rows("SELECT title FROM Task") == ["alone"])
            #expect(try await device.leftovers() == [])
        }
        #expect(try await space.rows("tasks").count == 1)
    }
}
