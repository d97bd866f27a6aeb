import Foundation
import HTTPTypes
import Sync
import Testing

@testable import SyncService

/// The responses of a changes endpoint, and their effects.
@Suite("Responses of a changes endpoint")
struct WatermelonResponseTests {
    private static let schema = """
        {"entities": {
          "Project": {"attributes": {"id": "string", "name": "string"},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "project"}}},
          "Task": {"attributes": {"id": "string", "title": "string", "points": "integer"},
            "relationships": {"project": {"entity": "Project", "inverse": "tasks"}}}
        }}
        """

    private func device(
        _ entities: [SyncedEntity] = ["Project", "Task"],
        _ answer: @escaping @Sendable (HTTPRequest, JSONValue?) async -> (Int, [String: String], JSONValue)
    ) throws -> Device {
        let url = try #require(URL(string: "https://example.com/sync"))
        return try Device(
            WatermelonService(url: url, transport: Served(answer: answer)), schema: Self.schema, entities: entities)
    }

    private static func pulled(_ changes: JSONValue, _ timestamp: Int = 1) -> JSONValue {
        ["changes": changes, "timestamp": JSONValue(timestamp)]
    }

    @Test("A pull sends the parameters of the protocol, and a push sends whole rows by table")
    func requests() async throws {
        let memory = Requests()
        let device = try device { request, body in
            await memory.note(request, body)
            let task: JSONValue = ["id": "t1", "title": "a", "points": 3, "project_id": nil, "_status": "synced"]
            let first: JSONValue = ["tasks": ["created": [task], "updated": [], "deleted": []]]
            let isFirst = request.path?.contains("last_pulled_at=null") == true
            return (200, [:], Self.pulled(isFirst ? first : [:], 7))
        }
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'b'")
        try await device.stack.insert("Project", values: ["id": "p1", "name": "p"])
        try await device.engine.sync()
        #expect(
            await memory.paths == [
                "GET /sync?last_pulled_at=null&schema_version=1&migration=null",
                "GET /sync?last_pulled_at=7&schema_version=1&migration=null", "POST /sync?last_pulled_at=7",
            ])
        let sent = try #require(await memory.bodies.last)
        let project = sent["projects"]?["created"]?.first
        #expect(project?["name"] == "p" && project?["id"] == "p1")
        let task = sent["tasks"]?["updated"]?.first
        #expect(task?["id"] == "t1" && task?["title"] == "b" && task?["points"] == 3)
        #expect(sent["tasks"]?["created"] == [] && sent["tasks"]?["deleted"] == [])
        #expect(try await device.leftovers() == [])
    }

    @Test("Changes that a push response rejects are blocked, and the others are acknowledged")
    func rejectedIDs() async throws {
        let rejected: JSONValue = ["experimentalRejectedIds": ["tasks": ["t2"]]]
        let device = try device { request, _ in
            (200, [:], request.method == .get ? Self.pulled([:]) : rejected)
        }
        for id in ["t1", "t2"] { try await device.stack.insert("Task", values: ["id": .string(id), "title": "x"]) }
        try await device.engine.sync()
        let parked = try await device.engine.blockedChanges()
        #expect(parked.count == 1 && "\(parked)".contains("t2"))
        #expect(try await device.rows("SELECT count(*) FROM sync_outbox WHERE state = 'ready'") == ["0"])
    }

    @Test("A push response of another form acknowledges nothing", arguments: ["portal", "list"])
    func unexpectedPushResponse(_ kind: String) async throws {
        let answer: JSONValue = kind == "list" ? [1] : "<html>log in</html>"
        let device = try device { request, _ in
            (200, [:], request.method == .get ? Self.pulled([:]) : answer)
        }
        try await device.stack.insert("Task", values: ["title": "x"])
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
        #expect(try await device.engine.pendingChangeCount() == 1)
    }

    @Test("A replacement strategy for one table does not apply to other tables")
    func strategyOverride() async throws {
        let answers = Answers()
        let device = try device { _, _ in (200, [:], await answers.current) }
        await answers.set(
            Self.pulled([
                "tasks": ["created": [["id": "t1"], ["id": "t2"]]],
                "projects": ["created": [["id": "p1"], ["id": "p2"]]],
            ]))
        try await device.engine.sync()
        let strategy: JSONValue = ["default": "incremental", "override": ["tasks": "replacement"]]
        let changes: JSONValue = ["tasks": ["updated": [["id": "t2"]]], "projects": ["updated": [["id": "p2"]]]]
        await answers.set(["changes": changes, "timestamp": 2, "experimentalStrategy": strategy])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT id FROM Task") == ["t2"])
        #expect(try await device.rows("SELECT id FROM Project ORDER BY 1") == ["p1", "p2"])
    }

    @Test("A pushed row that is pulled again counts as no change, and a later local deletion is sent")
    func echoedRow() async throws {
        let answers = Answers()
        let entities = ["Project", SyncedEntity("Task", deleteConflictPolicy: .editWins)]
        let device = try device(entities) { request, body in
            if request.method == .post { await answers.push(body) }
            return (200, [:], await answers.current)
        }
        await answers.set(Self.pulled([:]))
        try await device.stack.insert("Task", values: ["id": "t1", "title": "mine"])
        try await device.engine.sync()
        let sent = try #require(await answers.pushed.last?["tasks"]?["created"]?.first)
        await answers.set(Self.pulled(["tasks": ["created": [sent]]], 2))
        try await device.write("DELETE FROM Task")
        try await device.engine.sync()
        #expect(await answers.pushed.last?["tasks"]?["deleted"] == ["t1"])
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
    }

    @Test("A created row whose push failed is matched by its ID when it is pulled")
    func createdRowIsPulled() async throws {
        let answers = Answers()
        let device = try device { request, body in
            if request.method == .post {
                await answers.push(body)
                return (503, ["Retry-After": "3600"], [:])
            }
            return (200, [:], await answers.current)
        }
        await answers.set(Self.pulled([:]))
        try await device.stack.insert("Task", values: ["title": "mine"])
        _ = try? await device.engine.sync()
        let sent = try #require(await answers.pushed.last?["tasks"]?["created"]?.first)
        guard case .string(let id)? = sent["id"] else { throw ServerFailure(text: "no id") }
        #expect(id.count == 16)
        await answers.set(Self.pulled(["tasks": ["created": [sent]]], 2))
        try await device.write("UPDATE sync_engine SET not_before = NULL")
        try await device.engine.sync()
        #expect(try await device.rows("SELECT id, title FROM Task") == ["\(id) mine"])
        #expect(try await device.leftovers() == [])
        #expect(await answers.pushed.count == 1)
    }

    @Test("Tables that reference each other are written in one transaction")
    func oneTransaction() async throws {
        let changes: JSONValue = [
            "projects": ["created": [["id": "p1", "name": "p"]]],
            "tasks": ["created": [["id": "t1", "project_id": "p1"]]],
        ]
        let device = try device { _, _ in (200, [:], Self.pulled(changes)) }
        // The trigger rejects the cursor of the second table.
        try await device.write(
            """
            CREATE TRIGGER refuse BEFORE INSERT ON sync_cursor WHEN NEW.e = (SELECT max(e) FROM sync_entity)
            BEGIN SELECT RAISE(ABORT, 'refused'); END
            """)
        await #expect(throws: (any Error).self) { try await device.engine.sync() }
        #expect(try await device.rows("SELECT count(*) FROM Project") == ["0"])
        #expect(try await device.rows("SELECT count(*) FROM sync_cursor") == ["0"])
        try await device.write("DROP TRIGGER refuse")
        try await device.engine.sync()
        #expect(try await device.rows("SELECT id, projectID FROM Task") == ["t1 p1"])
    }
}

private actor Requests {
    private(set) var paths: [String] = []
    private(set) var bodies: [JSONValue] = []

    func note(_ request: HTTPRequest, _ body: JSONValue?) {
        paths.append("\(request.method) \(request.path ?? "")")
        if let body { bodies.append(body) }
    }
}

private actor Answers {
    private(set) var current = JSONValue.null
    private(set) var pushed: [JSONValue] = []

    func set(_ answer: JSONValue) { current = answer }
    func push(_ body: JSONValue?) { pushed.append(body ?? .null) }
}

extension JSONValue {
    fileprivate var first: JSONValue? { if case .array(let elements) = self { elements.first } else { nil } }
}
