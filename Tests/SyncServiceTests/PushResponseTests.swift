import Foundation
import HTTPTypes
import Sync
import SyncTesting
import TestSize
import Testing

@testable import SyncService

/// Terse responses of services to changes.
@Suite("Responses to changes")
struct PushResponseTests {
    private let memory = ServedMemory()

    private func device(
        _ options: RESTOptions = RESTOptions(), schema: String = Device.schema,
        _ answer: @escaping @Sendable (HTTPRequest, JSONValue?) async -> (Int, [String: String], JSONValue?)
    ) throws -> Device {
        var configuration = Device.configuration
        configuration.inDoubtTimeout = .zero
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")), options: options,
            transport: Terse { [memory] request, body in
                await memory.note(request)
                return await answer(request, body)
            })
        return try Device(service, schema: schema, entities: ["Task"], configuration)
    }

    /// A service whose responses may have no body.
    private struct Terse: HTTPTransport {
        let answer: @Sendable (HTTPRequest, JSONValue?) async -> (Int, [String: String], JSONValue?)

        func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
            let (status, headers, json) = await answer(request, try body.map { try JSONValue(parsing: $0) })
            var fields = HTTPFields()
            for (name, value) in headers { fields[try #require(HTTPField.Name(name))] = value }
            return (
                HTTPResponse(status: .init(code: status), headerFields: fields),
                json.map { Data(CanonicalJSON.bytes($0)) } ?? Data()
            )
        }
    }

    private func posts() async -> Int { await memory.requests.filter { $0.hasPrefix("POST") }.count }

    @Test(
        "A row whose create is answered only with a Location header is created once",
        arguments: [200, 201, 204], ["", "Idempotency-Key"])
    func location(_ status: Int, _ header: String) async throws {
        var options = RESTOptions()
        options.idempotencyHeader = header.isEmpty ? nil : header
        let device = try device(options) { [memory] request, body in
            guard request.method == .post else { return (200, [:], .array(await memory.rows)) }
            await memory.add(["id": 7, "title": body?["title"] ?? .null, "points": 3])
            return (status, ["Location": "https://inside.example/v1/tasks/7"], nil)
        }
        try await device.stack.insert("Task", values: ["title": "mine"])
        #expect(try await device.engine.sync().total.pushedInserts == 1)
        #expect(try await device.rows("SELECT remoteID, title FROM Task") == ["7 mine"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, title, points FROM Task") == ["7 mine 3"])
        #expect(await posts() == 1)
        #expect(try await device.leftovers() == [])
    }

    @Test("References to a row with an ID from a Location header are sent as numbers if the key is an integer")
    func referencesToLocation() async throws {
        let bodies = SentBodies()
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")),
            transport: Terse { request, body in
                guard request.method == .post, let body, let path = request.path else { return (200, [:], []) }
                await bodies.add(body)
                return (201, ["Location": "\(path)/7"], nil)
            })
        let device = try Device(service)
        try await device.write(
            """
            INSERT INTO Project (remoteID, name) VALUES (\(Int.min), 'p');
            INSERT INTO Tag (remoteID, name) VALUES (\(Int.min), 'g');
            INSERT INTO Task (remoteID, title, projectID) VALUES (\(Int.min), 't', \(Int.min));
            INSERT INTO Tag_tasks (taskID, tagID) VALUES (\(Int.min), \(Int.min))
            """)
        try await device.engine.push()
        let task = try #require(await bodies.all.first { $0["title"] == "t" })
        #expect(task["project_id"] == 7)
        #expect(task["tag_ids"] == [7])
        #expect(try await device.rows("SELECT DISTINCT remote FROM sync_known") == ["nil"])
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "The version is not sent, and a create has no deletion mark", arguments: [RESTOptions.Update.patch, .put])
    func version(_ update: RESTOptions.Update) async throws {
        var options = RESTOptions()
        options.versionField = "updated_at"
        options.deletedField = "deleted_at"
        options.updateMethod = update
        let schema = Device.schema.replacingOccurrences(
            of: "\"title\": {", with: "\"updatedAt\": \"string\", \"deletedAt\": \"string\", \"title\": {")
        let bodies = SentBodies()
        let record: JSONValue = ["id": 7, "title": "mine", "updated_at": "v1", "deleted_at": .null]
        let device = try device(options, schema: schema) { request, body in
            if let body { await bodies.add(body) }
            return request.method == .get && request.path?.hasSuffix("/7") == false
                ? (200, [:], await bodies.all.isEmpty ? [] : [record]) : (200, [:], record)
        }
        try await device.stack.insert("Task", values: ["title": "mine"])
        try await device.engine.sync()
        #expect(await bodies.all.map { $0["updated_at"] } == [nil])
        #expect(await bodies.all.map { $0["deleted_at"] } == [nil])
        #expect(try await device.rows("SELECT remoteID, updatedAt FROM Task") == ["7 v1"])
        try await device.write("UPDATE Task SET updatedAt = 'mine'")
        try await device.engine.sync()
        #expect(await bodies.all.count == 1)
        #expect(try await device.rows("SELECT updatedAt FROM Task") == ["v1"])
        try await device.write("UPDATE Task SET updatedAt = 'mine', title = 'x'")
        try await device.engine.push()
        #expect(await bodies.all.last?["title"] == "x")
        #expect(await bodies.all.last?["updated_at"] == (update == .patch ? nil : "v1"))
        #expect(try await device.leftovers() == [])
    }

    @Test("A row that is hidden and whose version alone was edited is blocked and not deleted")
    func hiddenVersion() async throws {
        var options = RESTOptions()
        options.versionField = "updated_at"
        let schema = Device.schema.replacingOccurrences(
            of: "\"title\": {", with: "\"updatedAt\": \"string\", \"title\": {")
        let record: JSONValue = ["id": 7, "title": "mine", "updated_at": "v1"]
        let device = try device(options, schema: schema) { request, _ in
            request.path?.hasSuffix("/7") == true ? (403, [:], nil) : (200, [:], [record])
        }
        try await device.engine.sync()
        try await device.write("UPDATE Task SET updatedAt = 'mine'")
        try await device.engine.push()
        #expect(
            try await device.rows("SELECT state, message FROM sync_outbox")
                == ["blocked \(FetchOutcome.forbiddenReason)"]
        )
        #expect(try await device.rows("SELECT count(*) FROM sync_tombstone") == ["0"])
    }

    private actor SentBodies {
        private(set) var all: [JSONValue] = []
        func add(_ body: JSONValue) { all.append(body) }
    }

    @Test("An ID of several parts is read from a Location header, each part by itself")
    func compositeLocation() async throws {
        let schema = """
            {"entities": {"Task": {"primaryKey": ["owner", "name"],
              "attributes": {"owner": "string", "name": "string", "title": "string"}}}}
            """
        let device = try device(schema: schema) { [memory] request, body in
            guard request.method == .post, let body else { return (200, [:], .array(await memory.rows)) }
            await memory.add(body)
            return (201, ["Location": "/v1/tasks/a%2Fb/c%20d/"], nil)
        }
        try await device.write("INSERT INTO Task (owner, name, title) VALUES ('a/b', 'c d', 'mine')")
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(try await device.rows("SELECT owner, name, title FROM Task") == ["a/b c d mine"])
        #expect(await posts() == 1)
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A row whose create has an empty response is looked up before it is sent again",
        arguments: ["", "Idempotency-Key"], ["", "/v1/elsewhere/7", "/v1/tasks"])
    func silent(_ header: String, _ address: String) async throws {
        var options = RESTOptions()
        options.idempotencyHeader = header.isEmpty ? nil : header
        let device = try device(options) { [memory] request, body in
            guard request.method == .post else { return (200, [:], .array(await memory.rows)) }
            await memory.add(["id": 7, "title": body?["title"] ?? .null])
            return (201, address.isEmpty ? [:] : ["Location": address], nil)
        }
        try await device.stack.insert("Task", values: ["title": "mine"])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(try await device.rows("SELECT remoteID, title FROM Task") == ["7 mine"])
        #expect(await posts() == 1)
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A row whose create has a response without an ID is looked up before it is sent again",
        arguments: [200, 201, 202], ["", "Idempotency-Key"])
    func withoutID(_ status: Int, _ header: String) async throws {
        var options = RESTOptions()
        options.idempotencyHeader = header.isEmpty ? nil : header
        let device = try device(options) { [memory] request, body in
            guard request.method == .post else { return (200, [:], .array(await memory.rows)) }
            await memory.add(["id": 7, "title": body?["title"] ?? .null])
            return (status, [:], ["ok": true])
        }
        try await device.stack.insert("Task", values: ["title": "mine"])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(try await device.rows("SELECT remoteID, title FROM Task") == ["7 mine"])
        #expect(await posts() == 1)
        #expect(try await device.leftovers() == [])
    }

    // MARK: Rows that are accepted, and listed later

    /// A service that accepts creates without a record and lists the rows later.
    private actor Queue {
        private(set) var taken: [JSONValue] = []
        private(set) var lists = 0
        private var listedAt: Int?

        init(listedAt: Int? = nil) { self.listedAt = listedAt }

        func take(_ body: JSONValue?) {
            taken.append(body ?? .null)
            lists = 0
        }

        func list(now: Bool = false) -> [JSONValue] {
            lists += 1
            if now { listedAt = 0 }
            guard let listedAt, lists > listedAt else { return [] }
            return taken.enumerated().map { index, body in
                [
                    "id": JSONValue(100 + index), "title": body["title"] ?? .null, "points": body["points"] ?? .null,
                    "client_key": body["client_key"] ?? .null,
                ]
            }
        }
    }

    private static let ways = ["", "Idempotency-Key", "marker"]

    private func queueing(
        _ queue: Queue, _ way: String = "", status: Int = 202, body: JSONValue? = nil,
        retryTimeout: Duration = .seconds(30_000),
        inDoubtTimeout: Duration = .seconds(30_000)
    ) throws -> Device {
        var options = RESTOptions()
        if way == "marker" {
            options.markerField = "client_key"
        } else {
            options.idempotencyHeader = way.isEmpty ? nil : way
        }
        var configuration = Device.configuration
        configuration.retryTimeout = retryTimeout
        configuration.inDoubtTimeout = inDoubtTimeout
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")), options: options,
            transport: Terse { [memory] request, sent in
                await memory.note(request)
                if request.method == .get { return (200, [:], .array(await queue.list())) }
                if [.patch, .delete].contains(request.method) { return (204, [:], nil) }
                await queue.take(sent)
                return (status, [:], body)
            })
        return try Device(service, entities: ["Task"], configuration)
    }

    @Test(
        "A row that the service accepted and never lists is sent once, looked up, and finally blocked",
        arguments: [201, 202, 204], ["", "Idempotency-Key"])
    func neverListed(_ status: Int, _ way: String) async throws {
        let queue = Queue()
        let device = try queueing(queue, way, status: status)
        try await device.stack.insert("Task", values: ["title": "mine"])
        try await device.stack.insert("Task", values: ["title": "other"])
        #expect(try await device.engine.sync().total.blockedChanges == 2)
        let asked = await memory.requests.count
        #expect(asked < 20)
        for _ in 0..<2 { try await device.engine.sync() }
        // An edit does not send it again.
        try await device.write("UPDATE Task SET points = 9")
        try await device.engine.sync()
        #expect(await posts() == 2)
        #expect(
            try await device.engine.blockedChanges().map(\.reason)
                == Array(
                    repeating: "the service accepted the row but does not list it; the row is not sent again",
                    count: 2))
    }

    @Test(
        "A row whose create has an empty 200 response and that is not listed is sent once more later",
        arguments: ways)
    func silent(_ way: String) async throws {
        let queue = Queue()
        let device = try queueing(queue, way, status: 200, inDoubtTimeout: .zero)
        try await device.stack.insert("Task", values: ["title": "mine"])
        #expect(try await device.engine.sync().total.blockedChanges == 0)
        #expect(await posts() == 1)
        #expect(try await device.engine.pendingChangeCount() == 1)
        for _ in 0..<3 { try await device.engine.sync() }
        #expect(await posts() == 2)
        #expect(try await device.engine.blockedChanges().count == 1)
    }

    @Test(
        "A row whose create has a 200 response without an ID and that is not listed is sent once more later",
        arguments: ways)
    func withoutIDAndNotListed(_ way: String) async throws {
        let queue = Queue()
        let device = try queueing(queue, way, status: 200, body: ["ok": true], inDoubtTimeout: .zero)
        try await device.stack.insert("Task", values: ["title": "mine"])
        for _ in 0..<4 { try await device.engine.sync() }
        #expect(await posts() == 2)
        #expect(try await device.engine.blockedChanges().count == 1)
    }

    @Test(
        "A row that the service accepted and lists later is matched, in the same run or a later one",
        arguments: [1, 2, 3, 4, 6, 7, 8, 9, 15])
    func listedLater(_ count: Int) async throws {
        for way in LongTests.some(["", "Idempotency-Key"], every: 2, of: count / 2) {
            try await listedLater(count, way)
        }
    }

    private func listedLater(_ count: Int, _ way: String) async throws {
        let queue = Queue(listedAt: count)
        // With a 202 response the row was accepted for certain, with a 200 response it was not.
        let device = try queueing(queue, way, status: count % 2 == 0 ? 200 : 202)
        try await device.stack.insert("Task", values: ["title": "mine"])
        for _ in 0..<6 { try await device.engine.sync() }
        #expect(try await device.rows("SELECT remoteID, title FROM Task") == ["100 mine"])
        #expect(await posts() == 1)
        #expect(try await device.engine.blockedChanges().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A run without retries leaves an accepted row to the next run, which sends later edits")
    func impatient() async throws {
        let queue = Queue()
        let device = try queueing(queue, retryTimeout: .zero)
        try await device.stack.insert("Task", values: ["title": "mine"])
        #expect(try await device.engine.sync().total.blockedChanges == 0)
        #expect(try await device.engine.pendingChangeCount() == 1)
        try await device.write("UPDATE Task SET points = 9")
        try await device.engine.sync()
        #expect(await posts() == 1)
        _ = await queue.list(now: true)
        try await device.engine.push()
        #expect(try await device.rows("SELECT remoteID, title, points FROM Task") == ["100 mine 9"])
        #expect(await memory.requests.filter { $0.hasPrefix("PATCH") }.count == 1)
    }

    @Test(
        "An accepted row that is deleted locally and never listed is forgotten, unless it has a marker",
        arguments: ways)
    func acceptedAndDeleted(_ way: String) async throws {
        let queue = Queue()
        let device = try queueing(queue, way, retryTimeout: .zero)
        try await device.stack.insert("Task", values: ["title": "mine"])
        try await device.engine.sync()
        try await device.write("DELETE FROM Task")
        try await Device(device.stack, queueingService(queue, way), entities: ["Task"]).engine.sync()
        #expect(await posts() == 1)
        if way == "marker" {
            #expect(try await device.engine.blockedChanges().count == 1)
        } else {
            #expect(try await device.engine.blockedChanges().isEmpty)
            #expect(try await device.leftovers() == [])
        }
    }

    @Test("An accepted row with a marker that is deleted locally is deleted on the service once it is listed")
    func acceptedDeletedAndListed() async throws {
        let queue = Queue()
        let device = try queueing(queue, "marker", retryTimeout: .zero, inDoubtTimeout: .zero)
        try await device.stack.insert("Task", values: ["title": "mine"])
        try await device.engine.sync()
        try await device.write("DELETE FROM Task")
        for _ in 0..<2 { try await device.engine.sync() }
        _ = await queue.list(now: true)
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await memory.requests.filter { $0.hasPrefix("DELETE") } == ["DELETE /v1/tasks/100"])
    }

    private func queueingService(_ queue: Queue, _ way: String) throws -> RESTService {
        var options = RESTOptions()
        if way == "marker" {
            options.markerField = "client_key"
        } else {
            options.idempotencyHeader = way.isEmpty ? nil : way
        }
        return RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")), options: options,
            transport: Terse { [memory] request, _ in
                await memory.note(request)
                return (200, [:], .array(await queue.list()))
            })
    }

    @Test("A 202 response with a job instead of the record means that the row was accepted")
    func job() async throws {
        let queue = Queue(listedAt: 3)
        let device = try queueing(queue, "Idempotency-Key", body: ["job": "j1", "state": "queued"])
        try await device.stack.insert("Task", values: ["title": "mine"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, title FROM Task") == ["100 mine"])
        #expect(await posts() == 1)
    }

    @Test(
        "A 409 response to a change of the current version is a rejection with the service's message",
        arguments: ["PATCH", "DELETE"], ["version", ""])
    func refused(_ method: String, _ version: String) async throws {
        var options = RESTOptions()
        options.versionField = version.isEmpty ? nil : version
        let device = try device(options) { request, _ in
            let row: JSONValue = ["id": 1, "title": "t", "version": 5]
            guard request.method == .get else { return (409, [:], ["message": "it has comments"]) }
            return (200, [:], request.path?.hasSuffix("/1") == true ? row : [row])
        }
        try await device.engine.sync()
        try await device.write(method == "PATCH" ? "UPDATE Task SET title = 'mine'" : "DELETE FROM Task")
        for _ in 0..<2 { _ = try await device.engine.sync() }
        #expect(try await device.engine.blockedChanges().map(\.reason) == ["status 409: it has comments"])
        #expect(await memory.requests.filter { $0.hasPrefix(method) }.count == 1)
    }

    @Test("A 409 response to a change of an outdated version merges the row and sends it again")
    func outdated() async throws {
        var options = RESTOptions()
        options.versionField = "version"
        let device = try device(options) { [memory] request, body in
            let row = await memory.rows[0]
            switch request.method {
            case .get: return (200, [:], request.path?.hasSuffix("/1") == true ? row : [row])
            case _ where row["version"] == 5:
                await memory.set([["id": 1, "title": "theirs", "points": 9, "version": 6]])
                return (409, [:], ["message": "too late"])
            default:
                await memory.set([["id": 1, "title": body?["title"] ?? .null, "points": 9, "version": 7]])
                return (200, [:], await memory.rows[0])
            }
        }
        await memory.set([["id": 1, "title": "t", "version": 5]])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'mine'")
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title, points FROM Task") == ["mine 9"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A row deleted during its create and inserted again with its key is sent as an update")
    func deletedAndInsertedAgain() async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .client, deletionDetection: .tombstones, createIdempotency: .clientID,
                supportsPreconditions: true,
                providesModificationTimes: true, maxBatchSize: 10))
        let schema = Device.schema.replacingOccurrences(
            of: "\"remoteID\": {\"type\": \"integer\"}", with: "\"remoteID\": {\"type\": \"string\"}")
        let device = try Device(service, schema: schema)
        await service.set("Tag", "g", ["name": "g"])
        try await device.engine.sync()
        try await device.write(
            "INSERT INTO Task (remoteID, title, points) VALUES ('a', 'first', 1); INSERT INTO Tag_tasks (taskID, tagID) VALUES ('a', 'g')"
        )
        await service.onRequest { request in
            if case .push = request { try? await device.write("DELETE FROM Task") }
        }
        // The deletion is not sent yet.
        await service.setFault { request, _ in
            if case .push(let operations) = request, operations[0].kind == .delete { .busy } else { nil }
        }
        _ = try? await device.engine.sync()
        await service.onRequest(nil)
        await service.setFault(nil)
        #expect(await service.contents(of: "Task")["a"]?["title"] == "first")
        try await device.write("INSERT INTO Task (remoteID, title) VALUES ('a', 'second')")
        for _ in 0..<2 { try await device.engine.sync() }
        let row = await service.contents(of: "Task")["a"]
        #expect(row?["title"] == "second" && (row?["points"] ?? .null) == .null && row?["tag_ids"] == [])
        #expect(try await device.rows("SELECT title, points FROM Task") == ["second nil"])
        #expect(try await device.leftovers() == [])
    }
}
