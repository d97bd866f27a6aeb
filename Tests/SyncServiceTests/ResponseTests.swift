import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Malformed and unexpected responses of services.
@Suite("Unexpected responses")
struct ResponseTests {
    private static let url = URL(string: "https://service.example/v1")

    private func rest(
        _ options: RESTOptions = RESTOptions(), _ configuration: SyncEngine.Configuration = Device.configuration,
        _ answer: @escaping @Sendable (HTTPRequest, JSONValue?) async -> (Int, [String: String], JSONValue)
    ) throws -> Device {
        let service = RESTService(
            baseURL: try #require(Self.url), options: options, transport: Served(answer: answer))
        return try Device(service, entities: ["Task"], configuration)
    }

    private func failure(_ device: Device) async -> SyncError? {
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
    }

    @Test(
        "A gateway error or timeout leaves the request in doubt, and the engine does not repeat the create",
        arguments: [502, 504, 408, 500])
    func gateway(_ status: Int) async throws {
        let memory = ServedMemory()
        var configuration = Device.configuration
        configuration.inDoubtTimeout = .zero
        let device = try rest(RESTOptions(), configuration) { request, body in
            await memory.note(request)
            guard request.method == .post, let body else { return (200, [:], .array(await memory.rows)) }
            let id = await memory.rows.count + 1
            await memory.add(.object([.init("id", JSONValue(id)), .init("title", body["title"] ?? .null)]))
            return id == 1 ? (status, [:], ["message": "gateway"]) : (201, [:], await memory.rows[id - 1])
        }
        try await device.stack.insert("Task", values: ["title": "mine"])
        try await device.engine.sync()
        #expect(await memory.requests.filter { $0.hasPrefix("POST") }.count == 1)
        #expect(try await device.rows("SELECT remoteID, title FROM Task") == ["1 mine"])
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A change that the service always fails to apply is blocked, and other changes are sent",
        arguments: ["POST", "PATCH", "DELETE"])
    func failing(_ method: String) async throws {
        let memory = ServedMemory()
        await memory.set([["id": 1, "title": "bad"], ["id": 2, "title": "good"]])
        var configuration = Device.configuration
        configuration.inDoubtTimeout = .zero
        let device = try rest(RESTOptions(), configuration) { request, body in
            await memory.note(request)
            let isBad = request.path?.hasSuffix("/1") == true || body?["title"] == "bad new"
            switch request.method {
            case .get:
                let id = Int(request.path?.split(separator: "/").last ?? "")
                guard let id else { return (200, [:], .array(await memory.rows)) }
                return (200, [:], await memory.rows[id - 1])
            case _ where isBad: return (500, [:], ["message": "always"])
            case .post:
                await memory.add(["id": 3, "title": "good new"])
                return (201, [:], ["id": 3, "title": "good new"])
            case .delete: return (204, [:], .null)
            default: return (200, [:], ["id": 2, "title": "edited"])
            }
        }
        try await device.engine.sync()
        for (sql, kind) in [
            ("INSERT INTO Task (remoteID, title) VALUES (-1, 'bad new'), (-2, 'good new')", "POST"),
            ("UPDATE Task SET title = 'edited'", "PATCH"), ("DELETE FROM Task", "DELETE"),
        ] where kind == method { try await device.write(sql) }
        let report = try await device.engine.sync()
        #expect(report.total.blockedChanges == 1)
        #expect(report.total.pushedInserts + report.total.pushedUpdates + report.total.pushedDeletes == 1)
        #expect(try await device.engine.blockedChanges().count == 1)
        #expect(await memory.requests.filter { $0.hasPrefix(method) }.count < 10)
        // Pulls continue as well.
        await memory.add(["id": 4, "title": "from elsewhere"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title FROM Task WHERE remoteID = 4") == ["from elsewhere"])
    }

    @Test(
        "A backoff header on a successful response delays the next run",
        arguments: ["Backoff", "Retry-After"])
    func backoffHeader(_ header: String) async throws {
        let memory = ServedMemory()
        var configuration = Device.configuration
        configuration.retryTimeout = .seconds(30)
        let device = try rest(RESTOptions(), configuration) { request, _ in
            await memory.note(request)
            return (200, [header: "1000"], [["id": 1, "title": "t"]])
        }
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title FROM Task") == ["t"])
        let error = await failure(device)
        #expect(error?.message.contains("the engine must wait until") == true)
        #expect(await memory.requests.count == 1)
    }

    @Test("Pages whose links form a circle end the run with an error, and stored rows stay")
    func circle() async throws {
        var options = RESTOptions()
        options.recordsKeyPath = "data"
        options.paging = .next("next")
        let device = try rest(options) { request, _ in
            let isFirst = !(request.path ?? "").contains("page")
            return (
                200, [:],
                [
                    "data": [["id": isFirst ? 1 : 2, "title": "t"]],
                    "next": .string(isFirst ? "/v1/tasks?page=2" : "/v1/tasks?page=3"),
                ]
            )
        }
        let error = await failure(device)
        #expect(error?.message.contains("loop") == true)
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["2"])
        #expect(try await !device.engine.isInitialSyncComplete)
    }

    @Test("The engine does not request a next page on another host")
    func elsewhere() async throws {
        let memory = ServedMemory()
        var options = RESTOptions()
        options.paging = .link()
        let device = try rest(options) { request, _ in
            await memory.note(request)
            return (200, ["Link": "<https://other.example/v1/tasks?page=2>; rel=\"next\""], [["id": 1]])
        }
        #expect(await failure(device)?.message.contains("at another origin") == true)
        #expect(await memory.requests.count == 1)
    }

    @Test("A missing list is an error and not an empty list", arguments: [404, 400, 301])
    func missingList(_ status: Int) async throws {
        let memory = ServedMemory()
        let device = try rest { request, _ in
            await memory.note(request)
            return await memory.requests.count == 1
                ? (200, [:], [["id": 1, "title": "t"]]) : (status, ["Location": "/v2/tasks"], ["message": "moved"])
        }
        try await device.engine.sync()
        #expect(await failure(device)?.message.contains("\(status)") == true)
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["1"])
    }

    @Test(
        "A response of another form deletes nothing",
        arguments: [
            [:], ["data": []], [1, 2], [["title": "no id"]], ["id": 1], "text", .null,
        ] as [JSONValue])
    func unexpectedForm(_ json: JSONValue) async throws {
        let memory = ServedMemory()
        await memory.set([["id": 1, "title": "t"]])
        let device = try rest { _, _ in
            let rows = await memory.rows
            return (200, [:], rows.isEmpty ? json : .array(rows))
        }
        try await device.engine.sync()
        await memory.set([])
        _ = await failure(device)
        #expect(try await device.rows("SELECT remoteID, title FROM Task") == ["1 t"])
    }

    @Test(
        "The error for a response that is not JSON quotes no values of it",
        arguments: [
            (#"{"pages": 4, "items": [{"id": 51, "title": "secret"}"#, "line 1, column 53"),
            ("<!doctype html><html><body>secret</body></html>", "HTML"), ("secret", "the response is not JSON"),
        ])
    func notJSON(_ body: String, _ expected: String) throws {
        let response = ServiceHTTPClient.Response(
            status: 200, headers: [:], body: Data(body.utf8), method: .get, url: try #require(Self.url),
            secrets: SecretKeeper())
        let error = #expect(throws: ServiceError.self) { try response.json() }
        guard case .invalidResponse(let message)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(message.contains(expected), "\(message)")
        #expect(message.hasSuffix("(status 200, GET /v1)"), "\(message)")
        #expect(!message.contains("secret") && !message.contains("51"), "\(message)")
    }

    @Test("If a page repeats a record, the last one applies")
    func repeatedRecord() async throws {
        let device = try rest { _, _ in
            (200, [:], [["id": 1, "title": "first"], ["id": 2, "title": "x"], ["id": 1, "title": "second"]])
        }
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, title FROM Task ORDER BY 1") == ["1 second", "2 x"])
    }

    @Test("A Kinto server with a lower ETag than before ends the run, and nothing is deleted")
    func restored() async throws {
        let memory = ServedMemory()
        await memory.set([["id": "a", "title": "t", "last_modified": 90]], tag: 90)
        let service = KintoService(
            baseURL: try #require(Self.url),
            transport: Served { request, _ in
                (200, ["ETag": "\"\(await memory.tag)\""], ["data": .array(await memory.rows)])
            })
        let schema = """
            {"entities": {"Task": {"attributes": {"id": {"type": "string", "primaryKey": true}, "title": "string"}}}}
            """
        let device = try Device(service, schema: schema, entities: ["Task"])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'edited'")
        await memory.set([], tag: 50)
        #expect(await failure(device)?.code == .serverRestored)
        #expect(try await device.rows("SELECT id, title FROM Task") == ["a edited"])
        #expect(try await device.engine.pendingChangeCount() == 1)
    }
}
