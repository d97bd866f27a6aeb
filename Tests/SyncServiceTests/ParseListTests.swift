import Foundation
import HTTPTypes
import Sync
import Testing

@testable import SyncService

/// Lists of other rows, which Parse stores as relations or as arrays of pointers. A class shows the kind only in
/// values.
@Suite("Lists in Parse")
struct ParseListTests {
    /// A class with one such field of either kind.
    private actor Class {
        let isArray: Bool
        private(set) var bodies: [JSONValue] = []
        private var wanted: JSONValue = []

        init(isArray: Bool) { self.isArray = isArray }

        func answer(_ request: HTTPRequest, _ body: JSONValue?) -> (Int, [String: String], JSONValue) {
            guard let body, request.method != .get else {
                // The page after the last row is empty.
                let path = request.path?.removingPercentEncoding ?? ""
                let isTags = path.contains("/Tag") && !path.contains("\"$gt\"")
                // The engine fetches the rows before it changes them.
                if path.contains("$in") {
                    let found = (1...3).map { number -> JSONValue in
                        ["objectId": .string("t\(number)"), "updatedAt": "2026-11-23T16:34:43.000Z"]
                    }
                    return (
                        200, [:],
                        [
                            "results": .array(
                                found.filter {
                                    path.contains("\"\($0["objectId"] ?? .null)\"".replacing("\"\"", with: "\""))
                                })
                        ]
                    )
                }
                let tags: [JSONValue] = ["a", "b"].map { ["objectId": $0, "updatedAt": "2026-11-23T16:34:43.000Z"] }
                return (200, [:], ["results": .array(isTags ? tags : [])])
            }
            if case .array(let requests)? = body["requests"] {
                let answers = requests.map { request -> JSONValue in
                    let (status, _, answer) = write(request["body"] ?? .null)
                    return status < 300 ? ["success": answer] : ["error": answer]
                }
                return (200, [:], .array(answers))
            }
            return write(body)
        }

        private func write(_ body: JSONValue) -> (Int, [String: String], JSONValue) {
            bodies.append(body)
            guard let value = body["tags"] else { return done }
            let isSentAsArray = if case .array = value { true } else { false }
            guard isSentAsArray == isArray else {
                return (400, [:], ["code": 111, "error": "schema mismatch for Task.tags"])
            }
            return done
        }

        private var done: (Int, [String: String], JSONValue) {
            (
                201, [:],
                ["objectId": "new1", "createdAt": "2026-11-23T16:34:44.000Z", "updatedAt": "2026-11-23T16:34:44.000Z"]
            )
        }
    }

    private static func schema(isOrdered: Bool) -> String {
        """
        {"entities": {
          "Task": {"attributes": {"remoteID": {"type": "string", "remoteKey": "objectId"}, "title": "string"},
            "relationships": {"tags": {"entity": "Tag", "many": true, "ordered": \(isOrdered), "remoteKey": "tags"}}},
          "Tag": {"attributes": {"remoteID": {"type": "string", "remoteKey": "objectId"}}}}}
        """
    }

    @Test(
        "A list is sent in the kind of its class, whatever the first guess", arguments: [false, true], [false, true])
    func kinds(_ isArray: Bool, _ isOrdered: Bool) async throws {
        let server = Class(isArray: isArray)
        let service = ParseService(
            baseURL: try #require(URL(string: "https://parse.example/1")), options: ParseOptions(applicationID: "app"),
            transport: Served { request, body in await server.answer(request, body) })
        let device = try Device(service, schema: Self.schema(isOrdered: isOrdered), entities: ["Task", "Tag"])
        try await device.engine.sync()
        var tags: [SyncRow] = []
        for id in ["a", "b"] { tags.append(try #require(try await device.stack.fetch("Tag", id: .string(id)))) }
        let task = try await device.stack.insert("Task", values: ["title": "t"], relationships: ["tags": tags])
        try await device.engine.push()
        // By default an ordered list is sent as an array and an unordered one as a relation.
        #expect(await server.bodies.count == (isArray == isOrdered ? 1 : 2))
        let sent = await server.bodies.last?["tags"]
        let pointers: JSONValue = .array(
            ["a", "b"].map { ["__type": "Pointer", "className": "Tag", "objectId": .string($0)] })
        #expect(sent == (isArray ? pointers : ["__op": "AddRelation", "objects": pointers]))
        #expect(try await device.engine.blockedChanges().isEmpty)
        #expect(try await device.stack.fetch("Task", id: task.key.json)?.key.json == "new1")
    }

    @Test("If a batch reveals the kind of a list, its changes are sent again one by one")
    func batch() async throws {
        let server = Class(isArray: true)
        let service = ParseService(
            baseURL: try #require(URL(string: "https://parse.example/1")), options: ParseOptions(applicationID: "app"),
            transport: Served { request, body in await server.answer(request, body) })
        let served = try ServiceEntity.all(
            ["Task"], of: SyncModel(schemaData: Data(Self.schema(isOrdered: false).utf8)))
        let outcomes = try await service.configured(for: served).push(
            (1...3).map { number in
                PushOperation(
                    entity: "Task", kind: .update, id: .string("t\(number)"), record: ["tags": ["a"]], fieldPaths: nil,
                    version: nil, idempotencyKey: "k\(number)")
            })
        #expect(outcomes.count == 3)
        for outcome in outcomes {
            guard case .applied = outcome else {
                Issue.record("\(outcome)")
                continue
            }
        }
    }
}
