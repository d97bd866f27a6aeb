import Foundation
import HTTPTypes
import Sync
import SyncCore
import SyncTesting
import Testing

@testable import SyncService

/// Tests with the stub of Parse in `Tests/Servers/REST`, which is written from the documentation and not compared with
/// a real server.
@Suite("Stub of Parse", .enabled(if: RESTServer.isThere, "make services builds the server"))
struct ParseServiceTests {
    private func space(_ more: [JSONValue.Member] = []) async throws -> RESTSpace {
        try await RESTServer.shared.space(.object([.init("dialect", "parse"), .init("applicationID", "app")] + more))
    }

    private func service(
        _ space: RESTSpace, credentials: ServiceCredentials = .none, transport: any HTTPTransport = DefaultTransport(),
        _ change: (inout ParseOptions) -> Void = { _ in }
    ) -> ParseService {
        var options = ParseOptions(applicationID: "app", restKey: "key")
        options.pageSize = 3
        options.overlap = .zero
        change(&options)
        return ParseService(baseURL: space.url, options: options, credentials: credentials, transport: transport)
    }

    private static let schema = """
        {"entities": {
          "Project": {"attributes": {"id": "string", "name": "string"},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "project", "deleteRule": "cascade"}}},
          "Task": {"attributes": {"id": "string", "title": "string", "dueAt": "date", "points": "integer", "data": "binary",
              "photo": "url", "latitude": {"type": "double", "remoteKey": "place.latitude"},
              "longitude": {"type": "double", "remoteKey": "place.longitude"}, "notes": "json", "updatedAt": "date"},
            "relationships": {"project": {"entity": "Project", "inverse": "tasks"},
              "tags": {"entity": "Tag", "many": true, "inverse": "tasks"}}},
          "Tag": {"attributes": {"id": "string", "name": "string"},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "tags"}}}
        }}
        """

    private func device(_ service: ParseService) throws -> Device { try Device(service, schema: Self.schema) }

    @Test("A Parse service passes the conformance suite", arguments: ["server", "client", "marker"])
    func conformance(_ ids: String) async throws {
        let space = try await space(ids == "client" ? [.init("ids", "client")] : [.init("idempotency", "on")])
        let service = service(space) { options in
            if ids == "client" { options.idAssignment = .client }
            if ids == "marker" { options.markerField = "syncKey" }
        }
        let failures = await ServiceConformance(service, entity: "Task", member: "title", other: "note").run()
        #expect(failures == [])
    }

    @Test("The service requests new credentials after error 209")
    func session() async throws {
        let space = try await space([.init("session", "new")])
        let name = try #require(HTTPField.Name("X-Parse-Session-Token"))
        let service = service(space, credentials: ServiceCredentials { [name: $0 ? "new" : "old"] })
        #expect(try await service.fetch(["x"], of: "Task") == [.notFound])
        let other = self.service(space)
        await #expect(throws: ServiceError.unauthorized("Invalid session token")) {
            try await other.fetch(["x"], of: "Task")
        }
    }

    @Test(
        "Paging by time and ID loses no rows that share a time or follow a short page"
    )
    func pages() async throws {
        let space = try await space([.init("coarseTimes", true), .init("pageSize", 2)])
        let one = try device(service(space))
        for number in 1...9 { try await one.stack.insert("Tag", values: ["name": .string("t\(number)")]) }
        try await one.engine.sync()
        let two = try device(service(space))
        try await two.engine.sync()
        #expect(try await two.rows("SELECT count(*), count(DISTINCT name) FROM Tag") == ["9 9"])
        #expect(try await two.engine.sync().isEmpty)
    }

    @Test("Values of all kinds are unchanged by a round trip through Parse")
    func kinds() async throws {
        let space = try await space()
        let network = NotingNetwork()
        let (one, two) = (try device(service(space, transport: network)), try device(service(space)))
        let file = space.url.absoluteString + "/files/app/a%20b.png"
        let project = try await one.stack.insert("Project", values: ["name": "p"])
        let tags = [
            try await one.stack.insert("Tag", values: ["name": "a"]),
            try await one.stack.insert("Tag", values: ["name": "b"]),
        ]
        try await one.stack.insert(
            "Task",
            values: [
                "title": "t", "dueAt": "2023-11-14T22:13:20Z", "points": 3,
                "data": "AQID", "photo": .string(file), "latitude": 52.5, "longitude": 13.25,
                "notes": ["a": [1, 2]], "updatedAt": "2020-01-01T00:00:00Z",
            ], relationships: ["project": [project], "tags": tags])
        try await one.engine.sync()
        let stored = try #require(try await space.rows("Task").first)
        #expect(stored["dueAt"] == ["__type": "Date", "iso": "2023-11-14T22:13:20.000Z"])
        #expect(stored["data"] == ["__type": "Bytes", "base64": "AQID"])
        #expect(stored["photo"]?["name"] == "a b.png" && stored["photo"]?["__type"] == "File")
        #expect(stored["place"]?["__type"] == "GeoPoint" && stored["place"]?["latitude"] == 52.5)
        #expect(stored["project"]?["__type"] == "Pointer" && stored["project"]?["className"] == "Project")
        #expect(stored["project_id"] == nil && stored["due_at"] == nil)
        // The server owns the times, so they are not sent.
        let bodies = await network.notes.compactMap(\.body)
        #expect(!bodies.isEmpty && bodies.allSatisfy { !"\($0)".contains("updatedAt") }, "\(bodies)")
        let columns = """
            SELECT title, dueAt, points, hex(data), photo, latitude, longitude, notes,
              (SELECT name FROM Project WHERE id = projectID), (SELECT group_concat(name) FROM
                (SELECT name FROM Tag JOIN Tag_tasks ON Tag.id = tagID ORDER BY name)) FROM Task
            """
        try await two.engine.sync()
        let expected = "t 2023-11-14 22:13:20.000 3 010203 \(file) 52.5 13.25 {\"a\":[1,2]} p a,b"
        #expect(try await two.rows(columns) == [expected])

        // One field of the place changes, one tag is replaced, and two fields become null.
        try await two.write("UPDATE Task SET latitude = 53.5, dueAt = NULL, photo = NULL")
        try await two.write("DELETE FROM Tag_tasks WHERE tagID = (SELECT id FROM Tag WHERE name = 'a')")
        let new = try await two.stack.insert("Tag", values: ["name": "c"])
        #expect(new.entity == "Tag")
        try await two.write(
            "INSERT INTO Tag_tasks (taskID, tagID) SELECT Task.id, Tag.id FROM Task, Tag WHERE name = 'c'")
        try await two.engine.sync()
        try await one.engine.sync()
        #expect(try await one.rows(columns) == ["t nil 3 010203 nil 53.5 13.25 {\"a\":[1,2]} p b,c"])
        let changed = try #require(try await space.rows("Task").first)
        #expect(changed["dueAt"] == nil && changed["place"]?["longitude"] == 13.25)
        for device in [one, two] {
            try await device.engine.sync()
            #expect(try await device.leftovers() == [])
            #expect(try await device.engine.sync().isEmpty)
        }

        // A place needs both fields.
        try await one.write("UPDATE Task SET longitude = NULL")
        try await one.engine.sync()
        #expect(try await one.engine.blockedChanges().map(\.reason).first?.contains("latitude and longitude") == true)
        try await one.write("UPDATE Task SET latitude = NULL")
        try await one.engine.sync()
        #expect(try await space.rows("Task").first?["place"] == nil)
    }

    @Test("Offline edits of two devices with Parse reach both, in batches of any order")
    func twoDevices() async throws {
        let space = try await space()
        let (one, two) = (try device(service(space)), try device(service(space)))
        let project = try await one.stack.insert("Project", values: ["name": "p"])
        for number in 1...7 {
            try await one.stack.insert(
                "Task", values: ["title": .string("t\(number)")], relationships: ["project": [project]])
        }
        try await one.engine.sync()
        try await two.engine.sync()
        try await one.write("UPDATE Task SET title = 'one' WHERE title = 't1'")
        try await two.write("UPDATE Task SET points = 7 WHERE title IN ('t1', 't3', 't4')")
        try await one.write("DELETE FROM Task WHERE title = 't2'")
        try await one.engine.sync()
        try await two.engine.sync()
        try await one.engine.sync()
        for device in [one, two] {
            #expect(
                try await device.rows("SELECT title, points FROM Task ORDER BY title")
                    == ["one 7", "t3 7", "t4 7", "t5 nil", "t6 nil", "t7 nil"])
            #expect(try await device.leftovers() == [])
        }
        #expect(try await space.log().filter { $0 == "POST /batch" }.count >= 1)
        try await two.write("DELETE FROM Project")
        try await two.engine.sync()
        try await one.engine.sync()
        #expect(try await one.rows("SELECT count(*) FROM Task") == ["0"])
        #expect(try await space.rows("Task") == [])
    }

    @Test("A second pull from Parse requests changes since the first, and a listing finds deletions")
    func delta() async throws {
        let space = try await space()
        let one = try device(service(space))
        for name in ["a", "b", "c"] { try await one.stack.insert("Tag", values: ["name": .string(name)]) }
        try await one.engine.sync()
        let network = NotingNetwork()
        var configuration = Device.configuration
        configuration.reconciliationInterval = .seconds(3600)
        let two = try Device(service(space, transport: network), schema: Self.schema, configuration)
        try await two.engine.sync()
        let list = "/classes/Tag"
        #expect(await network.asked(list).first?.query["where"] == nil)
        let last = try #require(
            try await service(space).pull(PullRequest(entity: "Tag", cursor: nil)).records.compactMap(\.version).max())
        await network.forget()
        try await one.write("UPDATE Tag SET name = 'edited' WHERE name = 'a'")
        try await one.write("DELETE FROM Tag WHERE name = 'b'")
        try await one.stack.insert("Tag", values: ["name": "new"])
        try await one.engine.sync()
        let report = try await two.engine.sync()
        #expect(report.total.pulledUpdates == 1 && report.total.pulledInserts == 1)
        let asked = await network.asked(list)
        // There is no listing of IDs and no complete pull.
        #expect(asked.allSatisfy { $0.query["keys"] == nil })
        var times: [String] = []
        for note in asked {
            let condition = try JSONValue(parsing: Data((note.query["where"] ?? "").utf8))
            let since = condition.value(at: ["updatedAt", "$gte"])
            #expect(since?["__type"] == "Date")
            guard case .string(let time)? = since?["iso"] else { throw ServerFailure(text: "\(condition)") }
            times.append(time)
        }
        // The cursor is the last change, or the header `Date` if that is earlier. The header has whole seconds, and a busy
        // server sends it late.
        let first = try #require(times.first)
        #expect(first == last || first < last && first.hasSuffix(".000Z"))
        #expect(times.allSatisfy { $0 >= first })
        #expect(try await two.rows("SELECT name FROM Tag ORDER BY name") == ["b", "c", "edited", "new"])
        try await Device(two.stack, service(space)).engine.sync()
        #expect(try await two.rows("SELECT name FROM Tag ORDER BY name") == ["c", "edited", "new"])
    }

    @Test(
        "A push to Parse overwrites only fields that both the device and another client changed"
    )
    func lostUpdate() async throws {
        let space = try await space()
        let (one, two) = (try device(service(space)), try device(service(space)))
        try await one.stack.insert("Task", values: ["title": "t", "points": 1])
        for device in [one, two] { try await device.engine.sync() }
        try await one.write("UPDATE Task SET title = 'ours'")
        try await two.write("UPDATE Task SET title = 'theirs', points = 7")
        try await one.engine.pull()
        try await two.engine.sync()
        try await one.engine.push()
        for device in [one, two] {
            try await device.engine.sync()
            #expect(try await device.rows("SELECT title, points FROM Task") == ["ours 7"])
            #expect(try await device.leftovers() == [])
        }
        #expect(try await space.rows("Task").first?["title"] == "ours")
    }

    @Test("A batch for Parse has at most 50 requests", arguments: [50, 51])
    func batches(_ count: Int) async throws {
        let space = try await space()
        let network = NotingNetwork()
        let one = try device(service(space, transport: network))
        try await space.put((1...count).map { ["id": .string("t\($0)"), "name": .string("t\($0)")] }, in: "Tag")
        try await one.engine.sync()
        #expect(service(space).capabilities.maxBatchSize == 50)
        try await one.write("UPDATE Tag SET name = name || '!'")
        await network.forget()
        #expect(try await one.engine.sync().total.pushedUpdates == count)
        // A single remaining change is not sent as a batch.
        let sizes = await network.notes.filter { $0.method != .get }.map { note in
            if case .array(let requests)? = note.body?["requests"] { requests.count } else { 1 }
        }
        #expect(sizes == (count == 50 ? [50] : [50, 1]))
        #expect(try await one.leftovers() == [])
    }

    static let kindsOfFault = ["drop-before", "drop-after", "cut", "html", "empty", "malformed", "status"]

    @Test("No row is created twice in Parse, whichever answer is lost", arguments: kindsOfFault, [false, true])
    func faults(_ kind: String, _ remembers: Bool) async throws {
        for at in 1...6 {
            let space = try await space(remembers ? [.init("idempotency", "on")] : [])
            let one = try device(service(space))
            let project = try await one.stack.insert("Project", values: ["name": "p"])
            for number in 1...3 {
                try await one.stack.insert(
                    "Task", values: ["title": .string("t\(number)")], relationships: ["project": [project]])
            }
            var fault: [JSONValue.Member] = [.init("at", JSONValue(at)), .init("kind", .string(kind))]
            if kind == "status" {
                fault += [.init("status", 500), .init("body", #"{"code": 1, "error": "internal"}"#)]
            }
            try await space.put("_faults", .array([.object(fault)]))
            for _ in 1...3 { _ = try? await one.engine.sync() }
            #expect(try await one.engine.sync().isEmpty, "\(kind) at \(at)")
            #expect(try await space.rows("Project").count == 1, "\(kind) at \(at)")
            #expect(try await space.rows("Task").count == 3, "\(kind) at \(at)")
            #expect(try await one.leftovers() == [], "\(kind) at \(at)")
        }
    }

    @Test("A change that Parse rejects is blocked with the error's number and text, and others are sent")
    func refused() async throws {
        let space = try await space([.init("unique", "name")])
        let one = try device(service(space))
        for name in ["a", "a", "b"] { try await one.stack.insert("Tag", values: ["name": .string(name)]) }
        try await one.engine.sync()
        let parked = try await one.engine.blockedChanges()
        #expect(parked.count == 1)
        #expect(parked.first?.reason.contains("error 137: A duplicate value") == true)
        #expect(try await space.rows("Tag").count == 2)
    }
}
