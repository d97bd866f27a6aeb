import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

/// Tests of the service from `Docs/AddingAService.md` with a stub.
@Suite("JSON:API service of the guide")
struct JSONAPITests {
    private static let types = ["Project": "projects", "Task": "tasks", "Tag": "tags"]

    private static let schema = Device.schema.replacingOccurrences(
        of: "\"remoteID\": {\"type\": \"integer\"}", with: "\"remoteID\": {\"type\": \"string\"}")

    private func service(_ stub: any HTTPTransport, _ ids: ServiceCapabilities.IDAssignment = .server) throws
        -> JSONAPIService
    {
        JSONAPIService(
            baseURL: try #require(URL(string: "https://api.example.com/")), types: Self.types, ids: ids,
            transport: stub)
    }

    @Test(
        "The JSON:API service passes the conformance suite", arguments: [1, 3, 1000],
        [.server, .client] as [ServiceCapabilities.IDAssignment])
    func conformance(_ pageSize: Int, _ ids: ServiceCapabilities.IDAssignment) async throws {
        let stub = JSONAPIStub(pageSize: pageSize, takesClientIDs: ids == .client)
        let failures = await ServiceConformance(
            try service(stub, ids), entity: "Task", member: "title", other: "note"
        ).run()
        #expect(failures == [])
    }

    @Test(
        "The JSON:API service syncs two devices, with links of both directions",
        arguments: [.server, .client] as [ServiceCapabilities.IDAssignment])
    func twoDevices(_ ids: ServiceCapabilities.IDAssignment) async throws {
        let stub = JSONAPIStub(takesClientIDs: ids == .client)
        func device() throws -> Device { try Device(try service(stub, ids), schema: Self.schema) }
        let (one, two) = (try device(), try device())
        let project = try await one.stack.insert("Project", values: ["name": "p"])
        let tag = try await one.stack.insert("Tag", values: ["name": "t"])
        try await one.stack.insert(
            "Task", values: ["title": "first"], relationships: ["project": [project], "tags": [tag]])
        try await one.engine.sync()
        try await two.engine.sync()
        let query = """
            SELECT title, done, p.name, count(j.rowid) FROM Task LEFT JOIN Project p ON p.remoteID = projectID
            LEFT JOIN Tag_tasks j ON 1 GROUP BY 1
            """
        #expect(try await two.rows(query) == ["first nil p 1"])
        try await one.write("UPDATE Task SET title = 'one'; DELETE FROM Tag_tasks")
        try await two.write("UPDATE Task SET done = 1, projectID = NULL")
        for device in [one, two, one] { try await device.engine.sync() }
        for device in [one, two] {
            #expect(try await device.rows(query) == ["one 1 nil 0"])
            #expect(try await device.leftovers() == [])
            #expect(try await device.engine.sync().isEmpty)
        }
        let task = try #require(await stub.all("tasks").first)
        #expect(task["relationships"]?["project"]?["data"] == .null)
        #expect(task["relationships"]?["tags"]?["data"] == [])
        #expect(await stub.all("tasks").count == 1)
        guard case .string(let id)? = task["id"] else { throw ServiceError.invalidResponse("no id") }
        await stub.remove("tasks", id)
        try await two.engine.sync()
        #expect(try await two.rows("SELECT count(*) FROM Task") == ["0"])
    }

    @Test(
        "A lost create or a lost answer neither loses nor duplicates the row",
        arguments: [.server, .client] as [ServiceCapabilities.IDAssignment],
        [.lost, .unanswered] as [NotingNetwork.Fate])
    func lostAnswer(_ ids: ServiceCapabilities.IDAssignment, _ fate: NotingNetwork.Fate) async throws {
        let stub = JSONAPIStub(takesClientIDs: ids == .client)
        let network = NotingNetwork(over: stub)
        var configuration = Device.impatient
        configuration.inDoubtTimeout = .zero
        let device = try Device(try service(network, ids), schema: Self.schema, configuration)
        try await device.engine.sync()
        try await device.stack.insert("Task", values: ["title": "t"])
        await network.breakDown(fate)
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
        await network.comeBack()
        #expect(await stub.all("tasks").count == (fate == .lost ? 0 : 1))
        try await device.engine.sync()
        #expect(await stub.all("tasks").count == 1)
        #expect(try await device.rows("SELECT title FROM Task") == ["t"])
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test(
        "A push overwrites only fields that both the device and another client changed"
    )
    func lostUpdate() async throws {
        let stub = JSONAPIStub()
        await stub.put("tasks", "7", ["title": "t", "points": 1])
        let device = try Device(try service(stub), schema: Self.schema)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'ours'")
        await stub.put("tasks", "7", ["title": "theirs", "points": 7])
        try await device.engine.push()
        let task = try #require(await stub.resource("tasks", "7")?["attributes"])
        #expect(task["title"] == "ours" && task["points"] == 7)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title, points FROM Task") == ["ours 7"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A rejected change is blocked with the member that the error names")
    func rejected() async throws {
        let stub = JSONAPIStub(unique: "title")
        await stub.put("tasks", "7", ["title": "taken"])
        let device = try Device(try service(stub))
        try await device.engine.sync()
        try await device.stack.insert("Task", values: ["title": "taken"])
        try await device.engine.sync()
        #expect(
            try await device.engine.blockedChanges().map(\.reason) == ["status 409: /data/attributes/title: is taken"])
        #expect(await stub.all("tasks").count == 1)
    }

    @Test("RESTService with remote keys can read JSON:API without a service of its own")
    func reading() async throws {
        let stub = JSONAPIStub(pageSize: 1000)
        await stub.put("projects", "1", ["name": "p"])
        await stub.put(
            "tasks", "7", ["title": "t"],
            relationships: [
                "project": ["data": ["type": "projects", "id": "1"]], "tags": ["data": [["type": "tags", "id": "3"]]],
            ])
        await stub.put("tags", "3", ["name": "a"])
        let schema = """
            {"entities": {
              "Project": {"attributes": {"id": "integer", "name": {"type": "string", "remoteKey": "attributes.name"}},
                "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "project"}}},
              "Task": {"attributes": {"id": "integer", "title": {"type": "string", "remoteKey": "attributes.title"}},
                "relationships": {
                  "project": {"entity": "Project", "inverse": "tasks", "remoteKey": "relationships.project.data.id"},
                  "tags": {"entity": "Tag", "many": true, "inverse": "tasks", "remoteKey": "relationships.tags.data"}}},
              "Tag": {"attributes": {"id": "integer", "name": {"type": "string", "remoteKey": "attributes.name"}},
                "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "tags"}}}}}
            """
        var options = RESTOptions()
        options.recordsKeyPath = "data"
        options.paging = .next("links.next")
        let service = RESTService(
            baseURL: try #require(URL(string: "https://api.example.com")), options: options,
            headers: [.accept: "application/vnd.api+json"], transport: stub)
        let device = try Device(service, schema: schema)
        try await device.engine.pull()
        let rows = try await device.rows(
            """
            SELECT t.title, p.name, g.name FROM Task t JOIN Project p ON p.id = projectID
            JOIN Tag_tasks j ON 1 JOIN Tag g ON 1
            """)
        #expect(rows == ["t p a"])
    }
}
