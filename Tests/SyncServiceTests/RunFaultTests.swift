import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Faults between a device and a service, in a whole run.
@Suite("Faults during a run")
struct RunFaultTests {
    private func address() throws -> URL { try #require(URL(string: "https://service.example/v1")) }

    private func failure(_ device: Device) async -> SyncError? {
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
    }

    // MARK: Missing answers

    @Test(
        "An unreachable service is an error, and the next run sends the pending changes",
        arguments: [true, false])
    func noAnswer(_ isRefusing: Bool) async throws {
        let port = try QuietPort(isRefusing: isRefusing)
        var configuration = Device.impatient
        configuration.serviceIdentity = "service"
        var options = RESTOptions()
        options.idempotencyHeader = "Idempotency-Key"
        let dead = RESTService(
            baseURL: port.url, options: options,
            transport: DefaultTransport(timeout: .seconds(1), totalTimeout: .seconds(1)))
        let device = try Device(dead, entities: ["Task"], configuration)
        try await device.stack.insert("Task", values: ["title": "mine"])
        #expect(await failure(device)?.code == (isRefusing ? .connectionRefused : .timedOut))
        let error = await #expect(throws: SyncError.self) { try await device.engine.push() }
        #expect(error?.code == .serviceUnavailable)
        #expect(try await device.engine.blockedChanges().isEmpty)
        #expect(try await device.rows("SELECT holder FROM sync_lease") == [""])
        let service = InMemoryService()
        configuration.maxAttempts = 5
        let again = try Device(device.stack, service, entities: ["Task"], configuration)
        try await again.engine.sync()
        #expect(await service.contents(of: "Task").values.compactMap { $0["title"] } == ["mine"])
        #expect(await service.creations == 1)
        #expect(try await again.leftovers() == [])
    }

    @Test(
        "Requests and changes that are carried out twice have no effect on the result",
        arguments: [true, false])
    func twice(_ hasPreconditions: Bool) async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .idempotencyKey,
                supportsPreconditions: hasPreconditions,
                providesModificationTimes: true, maxBatchSize: 2))
        for id in 1...4 { await service.set("Task", JSONValue(id), ["title": .string("t\(id)"), "points": 0]) }
        let device = try Device(AskedTwice(inner: service))
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["4"])
        for number in 1...3 { try await device.stack.insert("Task", values: ["title": .string("here \(number)")]) }
        try await device.write(
            "UPDATE Task SET points = 5 WHERE remoteID = 1; DELETE FROM Task WHERE remoteID IN (2, 3)")
        try await device.engine.sync()
        let titles = ["here 1", "here 2", "here 3", "t1", "t4"]
        #expect(try await device.rows("SELECT title FROM Task ORDER BY title") == titles)
        let there = await service.contents(of: "Task")
        #expect(there.count == titles.count && there[1]?["points"] == 5)
        #expect(await service.creations == 3)
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.engine.blockedChanges().isEmpty)
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    // MARK: Statuses

    @Test("An expired cursor starts a complete pull")
    func cursorGone() async throws {
        let memory = ServedMemory()
        await memory.set([["id": 1, "title": "t"], ["id": 2, "title": "u"]])
        var options = RESTOptions()
        options.sinceParameter = "since"
        options.overlap = .zero
        let service = RESTService(
            baseURL: try address(), options: options,
            transport: Served { request, _ in
                await memory.note(request)
                if request.path?.contains("since") == true { return (410, [:], ["message": "too long ago"]) }
                let rows = await memory.rows
                if let id = Int(request.path?.split(separator: "/").last ?? "") {
                    let row = rows.first { $0["id"] == JSONValue(id) }
                    return row.map { (200, [:], $0) } ?? (404, [:], .null)
                }
                return (200, ["Date": "Mon, 23 Nov 2026 16:34:43 GMT"], .array(rows))
            })
        let device = try Device(service, entities: ["Task"])
        try await device.engine.sync()
        await memory.set([["id": 2, "title": "new"], ["id": 3, "title": "v"]])
        let report = try await device.engine.sync()
        #expect(
            await memory.requests == [
                "GET /v1/tasks", "GET /v1/tasks?since=2026-11-23T16%3A34%3A43Z", "GET /v1/tasks", "GET /v1/tasks/1",
            ])
        #expect(try await device.rows("SELECT remoteID, title FROM Task ORDER BY 1") == ["2 new", "3 v"])
        #expect(report.total.pulledInserts == 1 && report.total.pulledUpdates == 1 && report.total.pulledDeletes == 1)
        #expect(try await device.leftovers() == [])
    }

    @Test("A Retry-After header delays the request, and then the run continues", arguments: ["GET", "POST"])
    func retryAfter(_ method: String) async throws {
        let memory = ServedMemory()
        let sleeps = Sleeps()
        var configuration = Device.configuration
        configuration.clock.sleep = { await sleeps.note($0) }
        let service = RESTService(
            baseURL: try address(),
            transport: Served { request, _ in
                await memory.note(request)
                let count = await memory.requests.filter { $0.hasPrefix(method) }.count
                if request.method.rawValue == method, count == 1 { return (429, ["Retry-After": "7"], .null) }
                return request.method == .post ? (201, [:], ["id": 1, "title": "mine"]) : (200, [:], [])
            })
        let device = try Device(service, entities: ["Task"], configuration)
        try await device.stack.insert("Task", values: ["title": "mine"])
        let report = try await device.engine.sync()
        #expect(await sleeps.all == [.seconds(7)])
        #expect(await memory.requests.filter { $0.hasPrefix(method) }.count == 2)
        #expect(report.total.pushedInserts == 1 && report.total.blockedChanges == 0)
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "An unauthorized response ends the run and blocks no change",
        arguments: ["GET", "POST", "PATCH"])
    func unauthorized(_ method: String) async throws {
        let memory = ServedMemory()
        await memory.set([["id": 1, "title": "t"]])
        let refuses = Switch()
        let tokens = Switch()
        let service = RESTService(
            baseURL: try address(),
            credentials: .authorization { _ in
                await tokens.count()
                return "Bearer \(await tokens.times)"
            },
            transport: Served { request, body in
                await memory.note(request)
                if request.method.rawValue == method, await refuses.isOn { return (401, [:], ["message": "who?"]) }
                switch request.method {
                case .post: return (201, [:], ["id": 2, "title": "new"])
                case .patch: return (200, [:], ["id": 1, "title": "mine"])
                case .get where request.path == "/v1/tasks/2": return (200, [:], ["id": 2, "title": "new"])
                default: return (200, [:], .array(await memory.rows))
                }
            })
        let device = try Device(service, entities: ["Task"])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'mine'")
        try await device.stack.insert("Task", values: ["title": "new"])
        await refuses.set(true)
        for run in 1...2 {
            let error = await failure(device)
            #expect(error?.code == .unauthorized)
            #expect(error?.message.contains("who?") == true)
            // Once with the current credentials, once with new ones.
            #expect(await tokens.times == 1 + run)
        }
        #expect(try await device.engine.blockedChanges().isEmpty)
        #expect(try await device.engine.pendingChangeCount() >= 1)
        #expect(try await device.rows("SELECT holder FROM sync_lease") == [""])
        await refuses.set(false)
        await memory.set([["id": 1, "title": "t"]])
        try await device.engine.sync()
        #expect(await memory.requests.contains("PATCH /v1/tasks/1"))
        #expect(await memory.requests.contains("POST /v1/tasks"))
        #expect(try await device.leftovers() == [])
    }

    // MARK: Incomplete answers

    @Test("A change without an outcome is in doubt and not acknowledged")
    func missingOutcomes() async throws {
        let service = InMemoryService()
        for id in 1...3 { await service.set("Task", JSONValue(id), ["title": .string("t\(id)"), "points": 0]) }
        let device = try Device(HalfDone(inner: service))
        try await device.engine.sync()
        try await device.write("UPDATE Task SET points = remoteID * 10")
        try await device.stack.insert("Task", values: ["title": "here"])
        try await device.engine.sync()
        let there = await service.contents(of: "Task")
        #expect((1...3).map { there[JSONValue($0)]?["points"] } == [10, 20, 30])
        #expect(there.values.contains { $0["title"] == "here" })
        #expect(await service.creations == 1)
        #expect(try await device.leftovers() == [])
    }

    @Test("Changes without an outcome in a Kinto batch are looked up", arguments: [true, false])
    func shortBatch(_ isDone: Bool) async throws {
        let kinto = ShortKinto(doesAll: isDone)
        let schema = """
            {"entities": {"Task": {"attributes": {"id": {"type": "string", "primaryKey": true}, "title": "string"}}}}
            """
        var configuration = Device.configuration
        configuration.inDoubtTimeout = .zero
        let service = KintoService(baseURL: try address(), transport: Served { await kinto.answer($0, $1) })
        let device = try Device(service, schema: schema, entities: ["Task"], configuration)
        try await device.write("INSERT INTO Task (id, title) VALUES ('a', 'first'), ('b', 'second'), ('c', 'third')")
        try await device.engine.sync()
        #expect(await kinto.titles == ["first", "second", "third"])
        #expect(await kinto.creations == 3)
        #expect(try await device.engine.blockedChanges().isEmpty)
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }
}

/// The durations of sleeps.
actor Sleeps {
    private(set) var all: [Duration] = []
    func note(_ duration: Duration) { all.append(duration) }
}

/// A flag and a counter of a test.
private actor Switch {
    private(set) var isOn = false
    private(set) var times = 0
    func set(_ isOn: Bool) { self.isOn = isOn }
    func count() { times += 1 }
}

/// A service that carries out each request twice and returns the second answer.
private struct AskedTwice: SyncService {
    let inner: InMemoryService

    var capabilities: ServiceCapabilities { inner.capabilities }
    var identity: String { inner.identity }

    func pull(_ request: PullRequest) async throws -> PullPage {
        _ = try await inner.pull(request)
        return try await inner.pull(request)
    }
    func list(of entity: String, page: String?) async throws -> ListPage {
        _ = try await inner.list(of: entity, page: page)
        return try await inner.list(of: entity, page: page)
    }
    func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
        _ = try await inner.fetch(ids, of: entity)
        return try await inner.fetch(ids, of: entity)
    }
    func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        _ = try await inner.push(operations)
        return try await inner.push(operations)
    }
}

/// A service that carries out only the first of several changes and returns only its outcome.
private struct HalfDone: SyncService {
    let inner: InMemoryService

    var capabilities: ServiceCapabilities { inner.capabilities }
    var identity: String { inner.identity }

    func pull(_ request: PullRequest) async throws -> PullPage { try await inner.pull(request) }
    func list(of entity: String, page: String?) async throws -> ListPage {
        try await inner.list(of: entity, page: page)
    }
    func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
        try await inner.fetch(ids, of: entity)
    }
    func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        try await inner.push(Array(operations.prefix(1)))
    }
}

/// A Kinto server whose answer to the first batch ends after its first part.
private actor ShortKinto {
    private let doesAll: Bool
    private var rows: [String: JSONValue] = [:]
    private var time = 100
    private var batches = 0
    private(set) var creations = 0

    init(doesAll: Bool) { self.doesAll = doesAll }

    var titles: [String] {
        rows.values.compactMap { row in if case .string(let title)? = row["title"] { title } else { nil } }.sorted()
    }

    func answer(_ request: HTTPRequest, _ body: JSONValue?) -> (Int, [String: String], JSONValue) {
        let path = request.path ?? ""
        if case .array(let requests)? = body?["requests"] {
            batches += 1
            let isShort = batches == 1
            let done = isShort && !doesAll ? Array(requests.prefix(1)) : requests
            let responses = done.map(carryOut)
            return (200, [:], ["responses": .array(isShort ? Array(responses.prefix(1)) : responses)])
        }
        if path.contains("/records/") {
            let row = rows[String(path.split(separator: "/").last ?? "")]
            return row.map { (200, [:], ["data": $0]) } ?? (404, [:], ["errno": 110])
        }
        return (200, ["ETag": "\"\(time)\""], ["data": .array(Array(rows.values))])
    }

    private func carryOut(_ request: JSONValue) -> JSONValue {
        guard case .string(let path)? = request["path"], let id = path.split(separator: "/").last.map(String.init),
            case .object(let members)? = request.value(at: ["body", "data"])
        else { return ["status": 400] }
        if let row = rows[id], request["method"] == "PUT" {
            return ["status": 412, "body": ["details": ["existing": row]]]
        }
        time += 1
        creations += 1
        let row = JSONValue.object(members + [.init("id", .string(id)), .init("last_modified", JSONValue(time))])
        rows[id] = row
        return ["status": 201, "body": ["data": row]]
    }
}
