import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Peculiarities of generic REST services.
@Suite("Unusual services")
struct UnusualServiceTests {
    private let memory = ServedMemory()

    private func device(
        _ options: RESTOptions = RESTOptions(), schema: String = Device.schema,
        _ answer: @escaping @Sendable (HTTPRequest, JSONValue?) async -> (Int, [String: String], JSONValue)
    ) throws -> Device {
        var configuration = Device.configuration
        configuration.inDoubtTimeout = .zero
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")), options: options,
            transport: Served { [memory] request, body in
                await memory.note(request)
                return await answer(request, body)
            })
        return try Device(service, schema: schema, entities: ["Task"], configuration)
    }

    private static func query(_ request: HTTPRequest, _ name: String) -> Int? {
        URLComponents(string: request.path ?? "")?.queryItems?.first { $0.name == name }?.value.flatMap { Int($0) }
    }

    @Test("A page smaller than the requested size is not taken for the last page", arguments: [true, false])
    func smallPages(_ isCounted: Bool) async throws {
        var options = RESTOptions()
        options.paging = isCounted ? .page() : .offset()
        let device = try device(options) { request, _ in
            let skipped =
                isCounted ? ((Self.query(request, "page") ?? 1) - 1) * 2 : Self.query(request, "offset") ?? 0
            return (200, [:], .array((1...7).dropFirst(skipped).prefix(2).map { ["id": JSONValue($0)] }))
        }
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["7"])
        #expect(await memory.requests.count == 5)
    }

    @Test(
        "A row that a change shifts onto a page already read is not missed", arguments: [true, false])
    func shiftingPages(_ isCounted: Bool) async throws {
        var options = RESTOptions()
        options.paging = isCounted ? .page(limit: 2) : .offset(limit: 2)
        (options.sinceParameter, options.versionField, options.deletedField) = ("since", "at", "deleted")
        await memory.set((1...6).map { ["id": JSONValue($0), "at": .string("2026-01-01T00:00:0\($0)Z")] })
        let device = try device(options) { [memory] request, _ in
            let since = URLComponents(string: request.path ?? "")?.queryItems?.first { $0.name == "since" }?.value ?? ""
            let skipped =
                isCounted ? ((Self.query(request, "page") ?? 1) - 1) * 2 : Self.query(request, "offset") ?? 0
            func at(_ row: JSONValue) -> String { if case .string(let text)? = row["at"] { text } else { "" } }
            let rows = await memory.rows.filter { at($0) >= since }.sorted { at($0) < at($1) }
            let page = Array(rows.dropFirst(skipped).prefix(2))
            // After the first page, one of its rows changes and moves to the end.
            if await memory.requests.count == 1 {
                await memory.set(
                    memory.rows.dropFirst() + [["id": 1, "at": "2026-01-02T00:00:01Z"]])
            }
            return (200, ["Date": "Fri, 02 Jan 2026 00:00:00 GMT"], .array(page))
        }
        try await device.engine.sync()
        #expect(
            try await device.rows("SELECT group_concat(remoteID) FROM (SELECT remoteID FROM Task ORDER BY 1)") == [
                "1,2,3,4,5,6"
            ])
    }

    @Test(
        "A row that a service without versions no longer has is not sent again, even with client IDs"
    )
    func noVersions() async throws {
        var options = RESTOptions()
        options.idAssignment = .client
        await memory.set([["id": 1], ["id": 2], ["id": 3]])
        let device = try device(options) { [memory] request, _ in
            guard request.path?.hasSuffix("/tasks") == true else { return (404, [:], [:]) }
            return (200, [:], .array(await memory.rows))
        }
        try await device.engine.sync()
        await memory.set([["id": 1], ["id": 2]])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["2"])
        #expect(await !memory.requests.contains { $0.hasPrefix("PUT") })
    }

    @Test("A change to a field that the service ignores is blocked, and the answer does not revert it")
    func misnamed() async throws {
        await memory.set([["id": 1, "firstName": "there"]])
        let schema = """
            {"entities": {"Task": {"attributes": {"remoteID": "integer", "firstName": "string", "title": "string"}}}}
            """
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")),
            transport: Served { [memory] request, _ in
                if request.method == .post { return (201, [:], ["id": 2, "firstName": .null, "title": "t"]) }
                let row = await memory.rows[0]
                if request.path?.hasSuffix("/tasks") == true { return (200, [:], .array([row])) }
                return request.path?.hasSuffix("/1") == true ? (200, [:], row) : (404, [:], [:])
            })
        var configuration = Device.configuration
        configuration.inDoubtTimeout = .zero
        let device = try Device(service, schema: schema, entities: ["Task"], configuration)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET firstName = 'mine'")
        try await device.stack.insert("Task", values: ["firstName": "new", "title": "t"])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(try await device.rows("SELECT firstName FROM Task ORDER BY remoteID").contains("mine"))
        #expect(
            try await device.engine.blockedChanges().allSatisfy { $0.reason.contains("its records have 'firstName'") })
        #expect(try await device.engine.blockedChanges().count >= 1)
    }

    @Test(
        "A reference is stored if the answer has it as a nested record, and blocked if it has another record",
        arguments: [true, false])
    func nestedAnswer(_ isStored: Bool) async throws {
        await memory.set([
            ["id": 1, "project": ["id": 5, "name": "p"]], ["id": 2, "project": ["id": 6, "name": "q"]],
        ])
        let device = try device { [memory] request, body in
            let rows = await memory.rows
            if request.method == .get { return (200, [:], .array(rows)) }
            let project = rows.compactMap { $0["project"] }.first { $0["id"] == body?["project_id"] }
            let row = isStored ? rows[0].setting(project ?? .null, at: ["project"]) : rows[0]
            await memory.set([row, rows[1]])
            return (200, [:], row)
        }
        try await device.engine.sync()
        try await device.write("UPDATE Task SET projectID = 6 WHERE remoteID = 1")
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, projectID FROM Task ORDER BY 1") == ["1 6", "2 6"])
        #expect(await memory.rows[0]["project"]?["id"] == (isStored ? 6 : 5))
        let reasons = try await device.engine.blockedChanges().map(\.reason)
        #expect(reasons.count == (isStored ? 0 : 1))
        #expect(reasons.allSatisfy { $0.contains("its records have 'project'") })
        #expect(try await device.leftovers().isEmpty == isStored)
    }

    @Test("A field is stored if the answer has its value under another key")
    func otherKeyInAnswer() async throws {
        await memory.set([["id": 1, "firstName": "there"]])
        let schema = """
            {"entities": {"Task": {"attributes": {"remoteID": "integer", "firstName": "string"}}}}
            """
        let device = try device(schema: schema) { [memory] request, body in
            let row = await memory.rows[0]
            if request.method == .get { return (200, [:], .array([row])) }
            let changed = row.setting(body?["first_name"] ?? .null, at: ["firstName"])
            await memory.set([changed])
            return (200, [:], changed)
        }
        try await device.engine.sync()
        try await device.write("UPDATE Task SET firstName = 'mine'")
        try await device.engine.sync()
        #expect(await memory.rows[0]["firstName"] == "mine")
        #expect(try await device.rows("SELECT firstName FROM Task") == ["mine"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A server that is not Kinto is an error and not an empty collection")
    func noKinto() async throws {
        let service = KintoService(
            baseURL: try #require(URL(string: "https://service.example/v1")),
            transport: Served { _, _ in (404, [:], ["message": "not found"]) })
        let error = await #expect(throws: SyncError.self) {
            try await Device(service, schema: PocketBaseSpace.schema, entities: ["Task"], Self.configuration).engine
                .sync()
        }
        #expect(error?.message.contains("no Kinto server at") == true, "\(error?.message ?? "")")
    }

    private static var configuration: SyncEngine.Configuration {
        var configuration = Device.configuration
        configuration.maxAttempts = 1
        return configuration
    }

    @Test("A row that is sent whole is sent after the restored row that it references")
    func wholeRows() async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .client, deletionDetection: .tombstones, createIdempotency: .clientID,
                supportsPreconditions: false,
                providesModificationTimes: true, maxBatchSize: 10, requiresCompleteRecords: true))
        await service.set("Project", "p", ["name": "p"])
        let entities = ["Project", "Task", "Tag"].map { SyncedEntity($0, deleteConflictPolicy: .editWins) }
        let device = try Device(service, schema: PocketBaseSpace.schema, entities: entities, Self.configuration)
        try await device.engine.sync()
        try await device.write("INSERT INTO Task (remoteID, title, projectID) VALUES ('t', 'made', 'p')")
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'edited'")
        await service.remove("Project", "p")
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await service.contents(of: "Project").count == 1)
        let bodies = await service.accepted.filter { $0["title"] == "edited" }
        #expect(!bodies.isEmpty && bodies.allSatisfy { $0["project_id"] == "p" }, "\(bodies)")
        #expect(try await device.leftovers() == [])
    }

    @Test("A service that repeats the same page ends the run with an error")
    func samePage() async throws {
        var options = RESTOptions()
        options.paging = .page()
        let device = try device(options) { _, _ in (200, [:], [["id": 1], ["id": 2]]) }
        let error = await #expect(throws: SyncError.self) { try await device.engine.sync() }
        #expect(error?.message.contains("the page that begins with 1 came 4 times") == true)
        #expect(await memory.requests.count == 4)
    }

    @Test(
        "A deletion mark applies unless it is null, false, zero or empty",
        arguments: [
            (.null, false), (0, false), ("", false), ("false", false), ("0", false), (false, false), ([], false),
            (1, true), (true, true), ("2026-11-24T08:00:00Z", true), ("true", true), (1_795_451_683, true),
        ] as [(JSONValue, Bool)])
    func deletionMark(_ mark: JSONValue, _ isDeleted: Bool) throws {
        var options = RESTOptions()
        options.deletedField = "deleted_at"
        let service = RESTService(baseURL: try #require(URL(string: "https://a.example")), options: options)
        let row = service.row(["id": 1, "deleted_at": mark], of: "Task")
        #expect((row?.record == nil) == isDeleted)
    }

    @Test("A 404 response to a change is not a deletion while the row can be fetched")
    func notFoundToChange() async throws {
        let device = try device { request, _ in
            switch request.method {
            case .get: request.path?.hasSuffix("/1") == true ? (200, [:], ["id": 1]) : (200, [:], [["id": 1]])
            default: (404, [:], ["message": "no such route"])
            }
        }
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'edited'")
        #expect(try await device.engine.sync().total.blockedChanges == 1)
        #expect(try await device.engine.blockedChanges().first?.reason.contains("no such route") == true)
        #expect(try await device.rows("SELECT title FROM Task") == ["edited"])
    }

    @Test("An ID in an error response is not taken for the ID of the row", arguments: [true, false])
    func errorWithID(_ isThere: Bool) async throws {
        let device = try device { request, _ in
            switch request.method {
            case .get where request.path?.hasSuffix("/555") == true:
                isThere ? (200, [:], ["id": 555, "title": "another"]) : (404, [:], [:])
            case .get: (200, [:], [])
            default: (409, [:], ["id": 555, "error": "E_DUP"])
            }
        }
        try await device.stack.insert("Task", values: ["title": "mine"])
        #expect(try await device.engine.sync().total.blockedChanges == 1)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title FROM Task") == ["mine"])
    }

    @Test("A change within the same second as the last version is pulled")
    func sameSecond() async throws {
        var options = RESTOptions()
        options.versionField = "updated_at"
        let time: JSONValue = "2026-11-24T08:00:00Z"
        let device = try device(options) { [memory] request, body in
            switch request.method {
            case .get: return (200, [:], .array(await memory.rows))
            default: return (200, [:], ["id": 1, "updated_at": time])
            }
        }
        await memory.set([["id": 1, "title": "first", "updated_at": time]])
        try await device.engine.sync()
        await memory.set([["id": 1, "title": "second", "updated_at": time]])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title FROM Task") == ["second"])
        try await device.write("UPDATE Task SET points = 1")
        try await device.engine.sync()
        await memory.set([["id": 1, "title": "third", "points": 1, "updated_at": time]])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title, points FROM Task") == ["third 1"])
        let before = try await device.rows("SELECT total_changes()")
        #expect(try await device.engine.sync().isEmpty)
        // The lease, the reconciliation and the end of the run.
        let after = try await device.rows("SELECT total_changes()")
        #expect((Int(after[0]) ?? 0) - (Int(before[0]) ?? 0) < 15)
    }

    @Test(
        "Numbers out of range do no harm",
        arguments: ["18446744073709551615", "1e300", "-1e300", "253402300800", "99999999999999"])
    func numbersOutOfRange(_ number: String) async throws {
        var options = RESTOptions()
        options.versionField = "version"
        options.paging = .page(total: "total")
        options.recordsKeyPath = "data"
        let device = try device(options) { _, _ in
            (
                200, ["Backoff": "9223372036854775807"],
                [
                    "data": [.object([.init("id", 1), .init("version", .number(number))])],
                    "total": .number("9223372036854775807"),
                ]
            )
        }
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
        await #expect(throws: (any Error).self) { try await device.engine.sync() }
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["1"])
    }

    @Test("An ID that cannot be part of a URL is not requested", arguments: ["", ".", ".."])
    func unusableIDs(_ id: String) async throws {
        let service = RESTService(
            baseURL: try #require(URL(string: "https://a.example/v1")),
            transport: Served { _, _ in
                Issue.record("it was sent")
                return (200, [:], [:])
            })
        #expect(try await service.fetch([.string(id)], of: "Task") == [.forbidden])
        for kind in PushOperation.Kind.allCases {
            let operation = PushOperation(
                entity: "Task", kind: kind, id: .string(id), record: [:], version: nil, idempotencyKey: "k")
            guard case .rejected? = try await service.push([operation]).first else {
                Issue.record("\(kind) was not rejected")
                continue
            }
        }
    }

    @Test("An expired cursor of the next page starts the list again")
    func expiredPage() async throws {
        var options = RESTOptions()
        options.recordsKeyPath = "data"
        options.paging = .cursor(cursor: "after", next: "next")
        let device = try device(options) { [memory] request, _ in
            let isFirst = request.path?.contains("after") != true
            if await memory.tag == 100, !isFirst { return (401, [:], ["message": "gone"]) }
            if !isFirst, request.path?.contains("old") == true { return (400, [:], ["message": "expired"]) }
            return await isFirst
                ? (200, [:], ["data": [["id": 1]], "next": memory.tag == 100 ? "old" : "new"])
                : (200, [:], ["data": [["id": 2]], "next": nil])
        }
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
        await memory.set([], tag: 200)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["2"])
    }

    @Test("A redirect or a response of a proxy blocks no change", arguments: [302, 307, 407, 511])
    func portal(_ status: Int) async throws {
        let device = try device { request, _ in
            request.method == .get
                ? (200, [:], []) : (status, ["Location": "https://portal.example/login"], ["message": "log in"])
        }
        try await device.stack.insert("Task", values: ["title": "mine"])
        let error = await #expect(throws: SyncError.self) { try await device.engine.sync() }
        #expect(error?.message.contains("\(status)") == true && error?.message.contains("POST /v1/tasks") == true)
        #expect(try await device.engine.blockedChanges().isEmpty)
        #expect(try await device.engine.pendingChangeCount() == 1)
    }

    @Test("If the list of a response is elsewhere, the error names its path")
    func listElsewhere() async throws {
        let device = try device { _, _ in (200, [:], ["meta": [:], "data": []]) }
        let error = await #expect(throws: SyncError.self) { try await device.engine.sync() }
        #expect(error?.message.contains("the response is not a list; a list is at 'data' (GET /v1/tasks)") == true)
    }
}
