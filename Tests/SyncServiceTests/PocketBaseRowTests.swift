import Foundation
import GRDB
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Peculiarities of PocketBase for single rows, with a real server.
@Suite(
    "Rows in PocketBase",
    .enabled("PocketBase comes from PyPI, which cannot be reached") { await PocketBaseServer.isThere })
struct PocketBaseRowTests {
    @Test("One row that makes a batch fail is blocked, and the other rows are created")
    func badRow() async throws {
        let space = try await PocketBaseServer.shared.space()
        try await space.changeCollection(
            .patch, "collections/\(space.tasks)",
            ["indexes": [.string("CREATE UNIQUE INDEX i_\(space.tasks) ON \(space.tasks) (title)")]])
        let device = try space.device()
        try await space.add(space.tasks, ["title": "taken", "id": "aaaaaaaaaaaaaa1"])
        for title in ["a", "taken", "b"] { try await device.stack.insert("Task", values: ["title": .string(title)]) }
        // The device does not know the row with the title, since the push comes without a pull.
        try await device.engine.push()
        let titles = try await space.rows(space.tasks).compactMap { $0["title"] }
        #expect(Set(titles) == ["a", "taken", "b"])
        #expect(titles.count == 3)
        let parked = try await device.engine.blockedChanges()
        #expect(parked.count == 1)
        #expect(parked.first?.reason.contains("title: Value must be unique") == true, "\(parked)")
        #expect(try await device.rows("SELECT count(*) FROM sync_outbox") == ["1"])
    }

    @Test(
        "A PocketBase server that rejects batches, or accepts only small ones, gets the rows in other requests",
        arguments: [0, 2])
    func batches(_ most: Int) async throws {
        let space = try await PocketBaseServer.shared.space()
        let network = LimitedBatches(most)
        let device = try space.device(transport: network)
        for number in 1...7 { try await device.stack.insert("Task", values: ["title": .string("t\(number)")]) }
        try await device.engine.sync()
        #expect(try await space.rows(space.tasks).count == 7)
        #expect(try await device.leftovers() == [])
        // The engine tries a batch only once.
        if most == 0 { #expect(await network.refusals == 1) }
    }

    @Test("Rows with the same time are all pulled, page by page")
    func sameTime() async throws {
        let space = try await PocketBaseServer.shared.space()
        let requests = (0..<40).map { number -> JSONValue in
            [
                "method": "POST", "url": .string("/api/collections/\(space.tasks)/records"),
                "body": ["title": .string("t\(number)")],
            ]
        }
        try await space.send(.post, "batch", ["requests": .array(requests)])
        let times = Set(try await space.rows(space.tasks).compactMap { $0["updated"] })
        #expect(times.count < 40)
        let device = try space.device(pageSize: 3)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["40"])
    }

    @Test("A row committed late with a time before the last pull is pulled")
    func late() async throws {
        let space = try await PocketBaseServer.shared.space()
        var configuration = Device.configuration
        // A listing of all IDs would find it too.
        configuration.reconciliationInterval = .seconds(3600)
        let device = try Device(space.service(), schema: PocketBaseSpace.schema, configuration)
        try await device.engine.sync()
        // The result of a transaction that took ten seconds.
        let time = Date(timeIntervalSinceNow: -10).isoText.replacingOccurrences(of: "T", with: " ")
        try await space.changeCollection(
            .patch, "collections/\(space.tasks)",
            ["fields": .array(try await PocketBaseSpace.fields(space, withoutTimes: true))])
        try await space.add(
            space.tasks, ["id": "aaaaaaaaaaaaaa2", "title": "late", "updated": .string(time)])
        try await device.engine.pull()
        #expect(try await device.rows("SELECT title FROM Task") == ["late"])
    }

    @Test(
        "A remote change since the pull is merged, as rows are fetched before they are changed",
        arguments: [1, 2])
    func changedSincePull(_ edits: Int) async throws {
        let space = try await PocketBaseServer.shared.space()
        for number in 1...3 {
            try await space.add(space.tasks, ["id": .string("aaaaaaaaaaaaaa\(number)"), "title": "t", "points": 1])
        }
        let task = SyncedEntity("Task", conflictPolicy: .serverWins, deleteConflictPolicy: .editWins)
        let device = try Device(
            space.service(), schema: PocketBaseSpace.schema, entities: ["Project", task, "Tag"])
        try await device.engine.sync()
        // A single row is fetched by itself, several rows by a list.
        try await device.write("UPDATE Task SET title = 'ours', points = 5 WHERE remoteID <= 'aaaaaaaaaaaaaa\(edits)'")
        try await space.change(space.tasks, "aaaaaaaaaaaaaa1", ["title": "theirs"])
        try await device.engine.push()
        let merged = try await space.row(space.tasks, "aaaaaaaaaaaaaa1")
        #expect(merged["title"] == "theirs" && merged["points"] == 5)
        if edits == 2 { #expect(try await space.row(space.tasks, "aaaaaaaaaaaaaa2")["title"] == "ours") }
        #expect(try await device.rows("SELECT title, points FROM Task WHERE remoteID LIKE '%1'") == ["theirs 5"])
        let log = try await device.engine.conflicts()
        #expect(log.map(\.field) == ["title"] && log.first?.local == "ours" && log.first?.remote == "theirs")

        // A row to delete is fetched too.
        try await device.write("DELETE FROM Task WHERE remoteID LIKE '%3'")
        try await space.change(space.tasks, "aaaaaaaaaaaaaa3", ["title": "edited"])
        try await device.engine.push()
        #expect(try await space.row(space.tasks, "aaaaaaaaaaaaaa3")["title"] == "edited")
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title FROM Task WHERE remoteID LIKE '%3'") == ["edited"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A second pull from PocketBase requests changes since the first, and a listing finds deletions")
    func delta() async throws {
        let space = try await PocketBaseServer.shared.space()
        for number in 1...3 {
            try await space.add(space.tasks, ["id": .string("aaaaaaaaaaaaaa\(number)"), "title": "t"])
        }
        let network = NotingNetwork()
        let service = space.service(transport: network)
        var configuration = Device.configuration
        configuration.reconciliationInterval = .seconds(3600)
        let device = try Device(service, schema: PocketBaseSpace.schema, configuration)
        let began = Date(timeIntervalSinceNow: -1)
        try await device.engine.sync()
        let list = "/collections/\(space.tasks)/records"
        #expect(await network.asked(list).allSatisfy { $0.query["filter"] == nil })
        let ended = Date()
        await network.forget()
        try await space.change(space.tasks, "aaaaaaaaaaaaaa1", ["title": "edited"])
        try await space.add(space.tasks, ["id": "aaaaaaaaaaaaaa4", "title": "new"])
        try await space.remove(space.tasks, "aaaaaaaaaaaaaa2")
        let report = try await device.engine.sync()
        #expect(report.total.pulledUpdates == 1 && report.total.pulledInserts == 1)
        // There is no listing of IDs and no complete pull.
        let asked = await network.asked(list)
        #expect(asked.count == 1 && asked.first?.query["fields"] == nil)
        let filter = try #require(asked.first?.query["filter"])
        let time = try #require(filter.wholeMatch(of: /updated >= "(.{10}) (.{12}Z)"/))
        let since = try #require(Date(isoText: "\(time.1)T\(time.2)"))
        // The overlap is a minute.
        #expect(since >= began.addingTimeInterval(-61) && since <= ended.addingTimeInterval(-60))
        #expect(try await device.rows("SELECT title FROM Task ORDER BY remoteID") == ["edited", "t", "t", "new"])
        try await Device(device.stack, service).engine.sync()
        #expect(try await device.rows("SELECT title FROM Task ORDER BY remoteID") == ["edited", "t", "new"])
    }

    @Test(
        "A row whose key PocketBase does not accept is blocked, and other rows are created",
        arguments: ["short", "My own key is 1"])
    func unfitKey(_ key: String) async throws {
        let space = try await PocketBaseServer.shared.space()
        let device = try space.device()
        try await device.write("INSERT INTO Task (remoteID, title) VALUES ('\(key)', 'bad')")
        try await device.stack.insert("Task", values: ["title": "good"])
        try await device.engine.sync()
        let parked = try await device.engine.blockedChanges()
        #expect(parked.count == 1 && parked.first?.reason.contains("id: ") == true, "\(parked)")
        #expect(try await space.rows(space.tasks).map { $0["title"] } == ["good"])
    }

    @Test("An empty string means null, except in required string attributes")
    func empty() async throws {
        let space = try await PocketBaseServer.shared.space()
        let schema = """
            {"entities": {"Task": {"attributes": {"id": {"type": "string", "primaryKey": true},
              "title": {"type": "string", "optional": false}, "note": "string", "due": "date"},
              "relationships": {"project": {"entity": "Project"}}},
              "Project": {"attributes": {"id": {"type": "string", "primaryKey": true}, "name": "string"}}}}
            """
        try await space.add(space.projects, ["id": "ppppppppppppppp", "name": "p"])
        try await space.add(
            space.tasks,
            [
                "id": "ttttttttttttttt", "title": "t", "note": "n", "due": "2026-11-21 02:03:39.374Z",
                "project_id": "ppppppppppppppp",
            ])
        let device = try Device(space.service(), schema: schema, entities: ["Project", "Task"])
        try await device.engine.sync()
        let sql = "SELECT title, note, due, projectID FROM Task"
        #expect(try await device.rows(sql) == ["t n 2026-11-21 02:03:39.374 ppppppppppppppp"])
        try await space.change(
            space.tasks, "ttttttttttttttt", ["title": "", "note": "", "due": "", "project_id": ""])
        try await device.engine.sync()
        #expect(try await device.rows(sql) == [" nil nil nil"])
        #expect(try await device.rows("SELECT count(*) FROM sync_pending") == ["0"])
        try await device.write("UPDATE Task SET due = '2027-01-02 03:04:05.006', projectID = 'ppppppppppppppp'")
        try await device.engine.sync()
        let row = try await space.row(space.tasks, "ttttttttttttttt")
        #expect(row["due"] == "2027-01-02 03:04:05.006Z" && row["project_id"] == "ppppppppppppppp")
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test("A change of one nested field leaves the rest of its JSON field")
    func part() async throws {
        let space = try await PocketBaseServer.shared.space()
        let schema = """
            {"entities": {"Task": {"attributes": {"id": {"type": "string", "primaryKey": true},
              "street": {"type": "string", "remoteKey": "extra.street"}, "zip": {"type": "string", "remoteKey": "extra.zip"}}}}}
            """
        try await space.add(
            space.tasks, ["id": "sssssssssssssss", "extra": ["street": "High St", "zip": "111", "country": "DE"]])
        let device = try Device(space.service(), schema: schema, entities: ["Task"])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET street = 'Low St'")
        try await device.engine.sync()
        let extra = try await space.row(space.tasks, "sssssssssssssss")["extra"]
        #expect(extra?["street"] == "Low St" && extra?["zip"] == "111" && extra?["country"] == "DE")
    }

    @Test("A row that a required relation references is deleted after its referencing rows, or else blocked")
    func required() async throws {
        let space = try await PocketBaseServer.shared.space()
        let projects = try await space.create("req_\(space.projects)", [["name": "name", "type": "text"]])
        try await space.create(
            "req_\(space.tasks)",
            [
                ["name": "title", "type": "text"],
                ["name": "project_id", "type": "relation", "collectionId": projects, "maxSelect": 1, "required": true],
            ])
        let service = PocketBaseService(
            baseURL: space.url, paths: ["Project": "req_\(space.projects)", "Task": "req_\(space.tasks)"],
            credentials: .authorization(space.token))
        let schema = """
            {"entities": {"Project": {"attributes": {"id": {"type": "string", "primaryKey": true}, "name": "string"},
              "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "project", "deleteRule": "cascade"}}},
              "Task": {"attributes": {"id": {"type": "string", "primaryKey": true}, "title": "string"},
              "relationships": {"project": {"entity": "Project", "inverse": "tasks", "optional": false}}}}}
            """
        let device = try Device(service, schema: schema, entities: ["Task", "Project"])
        let project = try await device.stack.insert("Project", values: ["name": "p"])
        for number in 1...3 {
            try await device.stack.insert(
                "Task", values: ["title": .string("t\(number)")], relationships: ["project": [project]])
        }
        try await device.engine.sync()
        #expect(try await space.rows("req_\(space.tasks)").count == 3)
        try await device.write("DELETE FROM Project")
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
        try await device.engine.sync()
        #expect(try await space.rows("req_\(space.projects)").isEmpty)
        #expect(try await device.leftovers() == [])
        // An unknown row of another user references it.
        try await space.add("req_\(space.projects)", ["id": "qqqqqqqqqqqqqqq", "name": "q"])
        try await device.engine.sync()
        try await space.add("req_\(space.tasks)", ["title": "other", "project_id": "qqqqqqqqqqqqqqq"])
        try await device.write("DELETE FROM Project")
        try await device.engine.push()
        let parked = try await device.engine.blockedChanges()
        #expect(parked.first?.reason.contains("required relation") == true, "\(parked)")
        #expect(try await space.rows("req_\(space.projects)").count == 1)
    }

    @Test("A row that references a deleted row is sent again without it after the deletion is pulled")
    func missingTarget() async throws {
        let space = try await PocketBaseServer.shared.space()
        var configuration = Device.configuration
        configuration.reconciliationInterval = .seconds(3600)
        let device = try Device(space.service(), schema: PocketBaseSpace.schema, configuration)
        try await space.add(space.tags, ["id": "ggggggggggggggg", "name": "g"])
        try await space.add(space.tasks, ["id": "ttttttttttttttt", "title": "t"])
        try await device.engine.sync()
        try await space.remove(space.tags, "ggggggggggggggg")
        try await device.write("INSERT INTO Tag_tasks (taskID, tagID) VALUES ('ttttttttttttttt', 'ggggggggggggggg')")
        try await device.write("UPDATE Task SET title = 'edited'")
        try await device.engine.sync()
        let reasons = try await device.engine.blockedChanges().map(\.reason)
        #expect(reasons.count == 1 && reasons[0].contains("tag_ids"), "\(reasons)")
        // After an hour all IDs are listed.
        let again = try Device(device.stack, space.service())
        try await again.engine.sync()
        #expect(try await space.row(space.tasks, "ttttttttttttttt")["title"] == "edited")
        #expect(try await again.leftovers() == [])
    }
}

extension PocketBaseSpace {
    /// Returns the fields of the tasks, with the time of the last change as a field that tests can set if
    /// `withoutTimes`.
    static func fields(_ space: PocketBaseSpace, withoutTimes: Bool) async throws -> [JSONValue] {
        let collection = try await space.send(.get, "collections/\(space.tasks)", nil)
        guard case .array(let fields)? = collection["fields"] else { return [] }
        return fields.map { $0["name"] == "updated" && withoutTimes ? ["name": "updated", "type": "date"] : $0 }
    }
}

/// A server whose configuration allow no batches, or small ones.
actor LimitedBatches: HTTPTransport {
    private let most: Int
    private let transport = DefaultTransport()
    private(set) var refusals = 0

    init(_ most: Int) { self.most = most }

    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        guard request.path == "/api/batch", let body,
            case .array(let requests)? = try JSONValue(parsing: body)["requests"],
            requests.count > most
        else { return try await transport.send(request, body: body) }
        refusals += 1
        // The responses of PocketBase 0.40.6.
        let text =
            most == 0
            ? #"{"data":{},"message":"Batch requests are not allowed.","status":403}"#
            : #"{"data":{"requests":{"code":"validation_length_too_long","message":"The length must be no more than 2."}},"message":"Invalid batch request data.","status":400}"#
        return (HTTPResponse(status: most == 0 ? .forbidden : .badRequest), Data(text.utf8))
    }
}
