import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// IDs that services would read as the path of another resource.
@Suite("Paths of rows")
struct RowAddressTests {
    private static let bad: [JSONValue] = [
        "", " ", ".", "..", " .. ", "/", "a/b", "a/", "/a", "../x", "a\\b", "/\u{301}", "a\nb", "a\u{0}", "\u{7F}",
        "%2F", "%2e%2e",
        .null, [], ["a", ""], ["a", .null], ["a", ".."], ["a", "b/"], ["a", "/b"], ["a", "b//c"], ["a", "b/../c"],
        ["a", []],
        ["a", "b\\..\\c"], ["a", "b%2fc"], [["a", ""], "b"],
    ]

    @Test("An ID that would lead to another path is rejected", arguments: bad)
    func invalidID(_ id: JSONValue) {
        let error = #expect(throws: RowAddress.Refusal.self) { try RowAddress(id) }
        #expect(error?.description.contains("cannot be used in a URL") == true)
    }

    @Test(
        "Any other ID is the end of a path, part by part",
        arguments: [
            ("a", ["a"]), (5, ["5"]), ("a b", ["a b"]), ("100%", ["100%"]), ("ü+?#&;", ["ü+?#&;"]), ("...", ["..."]),
            ([7, "a/b"], ["7", "a/b"]), ([["x", 1], "y"], ["x", "1", "y"]),
        ] as [(JSONValue, [String])])
    func parts(_ id: JSONValue, _ parts: [String]) throws {
        #expect(try RowAddress(id).parts == parts)
    }

    enum Dialect: CaseIterable { case rest, restOfClients, kinto, pocketBase, parse, parseOfClients, jsonAPI }

    /// Returns a service that records requests and answers them as if they were carried out.
    private func service(_ dialect: Dialect, _ memory: ServedMemory) throws -> any SyncService {
        let url = try #require(URL(string: "https://service.example/v1"))
        let transport = Served { request, body in
            await memory.note(request)
            if case .array(let requests)? = body?["requests"] {
                for request in requests { await memory.add(request) }
                let answers = requests.map { _ -> JSONValue in ["status": 200, "body": ["data": ["id": "x"]]] }
                return (200, [:], ["responses": .array(answers)])
            }
            return (200, [:], ["id": "x", "objectId": "x", "last_modified": 1, "data": ["id": "x"], "results": []])
        }
        switch dialect {
        case .rest: return RESTService(baseURL: url, transport: transport)
        case .restOfClients:
            var options = RESTOptions()
            options.idAssignment = .client
            return RESTService(baseURL: url, options: options, transport: transport)
        case .kinto: return KintoService(baseURL: url, transport: transport)
        case .pocketBase: return PocketBaseService(baseURL: url, transport: transport)
        case .parse, .parseOfClients:
            var options = ParseOptions(applicationID: "app")
            if dialect == .parseOfClients { options.idAssignment = .client }
            return ParseService(baseURL: url, options: options, transport: transport)
        case .jsonAPI: return JSONAPIService(baseURL: url, types: ["Task": "tasks"], ids: .client, transport: transport)
        }
    }

    private static func operation(_ kind: PushOperation.Kind, _ id: JSONValue) -> PushOperation {
        PushOperation(entity: "Task", kind: kind, id: id, record: ["title": "t"], version: nil, idempotencyKey: "k")
    }

    @Test(
        "No service sends a request with an invalid ID: the change is rejected and the row is not absent",
        arguments: Dialect.allCases, ["", ".", "..", "a/b", "r1/", "r1\n", "r1%2F"] as [JSONValue])
    func unsent(_ dialect: Dialect, _ id: JSONValue) async throws {
        let memory = ServedMemory()
        let service = try service(dialect, memory)
        var kinds = PushOperation.Kind.allCases
        // A create without a client ID has no ID in its path.
        if [.parse, .jsonAPI].contains(dialect) { kinds.removeAll { $0 == .create } }
        for operations in kinds.map({ [Self.operation($0, id)] }) + [kinds.map { Self.operation($0, id) }] {
            for outcome in try await service.push(operations) {
                guard case .rejected(let reason) = outcome else {
                    Issue.record("\(operations.map(\.kind)) is answered \(outcome)")
                    continue
                }
                #expect(reason.contains("cannot be used in a URL"))
            }
        }
        // Parse requests rows by a condition and not by a path.
        if ![.parse, .parseOfClients].contains(dialect) {
            #expect(try await service.fetch([id], of: "Task") == [.forbidden])
        }
        #expect(await memory.requests == [])
    }

    @Test(
        "Other changes of a batch with an invalid ID are sent, each with its own outcome",
        arguments: [.kinto, .restOfClients] as [Dialect])
    func others(_ dialect: Dialect) async throws {
        let memory = ServedMemory()
        let outcomes = try await service(dialect, memory).push(
            [Self.operation(.delete, ""), Self.operation(.delete, "x"), Self.operation(.delete, "..")])
        #expect(outcomes.count == 3)
        for (index, outcome) in outcomes.enumerated() {
            if case .rejected = outcome { #expect(index != 1) } else { #expect(index == 1) }
        }
        if dialect == .kinto {
            #expect(await memory.rows.map { $0["path"] } == ["/v1/buckets/default/collections/tasks/records/x"])
        } else {
            #expect(await memory.requests.allSatisfy { $0.hasSuffix("/tasks/x") })
        }
    }

    @Test("A file with a name that would lead to another path is not requested", arguments: ["", "..", "a/../../b"])
    func files(_ name: String) throws {
        let url = try #require(URL(string: "https://service.example/v1"))
        let pocketBase = PocketBaseService(baseURL: url)
        #expect(throws: RowAddress.Refusal.self) { try pocketBase.reference(to: name, of: "Task", id: "x") }
        #expect(throws: RowAddress.Refusal.self) {
            try pocketBase.reference(to: "cat.png", of: "Task", id: .string(name))
        }
        let parse = ParseService(baseURL: url, options: ParseOptions(applicationID: "app"))
        #expect(throws: RowAddress.Refusal.self) { try parse.reference(to: name, of: "Task", id: "x") }
    }

    @Test("Deleting a row with an empty ID deletes no Kinto collection and is blocked")
    func collection() async throws {
        let memory = ServedMemory()
        let schema = """
            {"entities": {"Task": {"attributes": {"id": {"type": "string", "primaryKey": true}, "title": "string"}}}}
            """
        await memory.set((0..<3).map { ["id": .string("r\($0)"), "title": "t", "last_modified": JSONValue(90 + $0)] })
        let service = KintoService(
            baseURL: try #require(URL(string: "https://service.example/v1")),
            transport: Served { request, body in
                await memory.note(request)
                guard body == nil else {
                    await memory.set([])
                    return (200, [:], ["responses": [["status": 200, "body": ["data": []]]]])
                }
                return (200, ["ETag": "\"92\""], ["data": .array(await memory.rows)])
            })
        let device = try Device(service, schema: schema, entities: ["Task"])
        try await device.engine.sync()
        try await device.write(
            "INSERT INTO sync_known (e, k, version, origin, heard) SELECT e, '', '91', 'pulled', 0 FROM sync_known LIMIT 1"
        )
        try await device.write("INSERT INTO Task (id, title) VALUES ('', 'bad')")
        try await device.write("DELETE FROM Task WHERE id = ''")
        #expect(try await device.engine.push().total.blockedChanges == 1)
        #expect(
            try await device.engine.blockedChanges().first?.reason
                == "the ID \"\" cannot be used in a URL: it is empty")
        #expect(await memory.rows.count == 3)
        #expect(await !memory.requests.contains { $0.hasPrefix("POST") })
    }
}
