import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Tests with the real REST server of `Tests/Servers/REST`.
@Suite("REST services", .enabled(if: RESTServer.isThere, "make services builds the server"))
struct RESTServiceTests {
    /// A style of lists, with its configuration for the service and for the server.
    struct Style: Sendable, CustomTestStringConvertible {
        let name: String
        let configuration: [JSONValue.Member]
        let paging: RESTOptions.Paging
        let records: String
        var testDescription: String { name }
    }

    static let styles = [
        Style(name: "none", configuration: [], paging: .none, records: ""),
        Style(
            name: "page", configuration: [.init("envelope", "data")],
            paging: .page(size: "per_page", limit: 3, total: "total_pages"), records: "data"),
        Style(name: "page, bare", configuration: [], paging: .page(size: "per_page", limit: 3), records: ""),
        Style(
            name: "page, ends with 404", configuration: [.init("endIs404", true)],
            paging: .page(size: "per_page", limit: 1), records: ""),
        Style(
            name: "offset", configuration: [.init("envelope", "data.items")], paging: .offset(limit: 4, total: "total"),
            records: "data.items"),
        Style(name: "offset, bare", configuration: [], paging: .offset(limit: 4), records: ""),
        Style(name: "link", configuration: [], paging: .link(size: "limit", limit: 3), records: ""),
        Style(
            name: "next", configuration: [.init("envelope", "data")], paging: .next("next", size: "limit", limit: 3),
            records: "data"),
        Style(
            name: "cursor", configuration: [.init("envelope", "data")],
            paging: .cursor(cursor: "cursor", next: "next_cursor", size: "limit", limit: 3), records: "data"),
    ]

    private func space(_ style: Style, _ more: [JSONValue.Member] = []) async throws -> RESTSpace {
        let name = style.name.split(separator: ",").first.map(String.init) ?? "none"
        return try await RESTServer.shared.space(.object([.init("paging", .string(name))] + style.configuration + more))
    }

    private func options(_ style: Style) -> RESTOptions {
        var options = RESTOptions()
        options.paging = style.paging
        options.recordsKeyPath = style.records
        return options
    }

    @Test("A REST service passes the conformance suite with each style of paging", arguments: styles)
    func conformance(_ style: Style) async throws {
        let space = try await space(style)
        let service = RESTService(baseURL: space.url, options: options(style))
        let failures = await ServiceConformance(service, entity: "Task", member: "title", other: "note").run()
        #expect(failures == [])
    }

    @Test("A REST service passes the conformance suite with versions, keys, soft deletion and delta pulls")
    func everything() async throws {
        let style = Self.styles[1]
        let space = try await space(
            style,
            [
                .init("since", "updated_since"), .init("softDelete", true), .init("preconditions", true),
                .init("idempotency", "Idempotency-Key"), .init("updates", "put"), .init("token", "secret"),
            ])
        var options = options(style)
        options.sinceParameter = "updated_since"
        options.deletedField = "deleted_at"
        options.versionField = "version"
        options.preconditionHeader = "If-Match"
        options.idempotencyHeader = "Idempotency-Key"
        options.updateMethod = .put
        let tokens = Tokens(["old", "secret"])
        let service = RESTService(
            baseURL: space.url, options: options,
            credentials: .authorization { isRefresh in "Bearer \(await tokens.next(isRefresh))" })
        // Version numbers are not times.
        let failures = await ServiceConformance(service, entity: "Task", member: "title", other: "note").run()
        #expect(failures.map(\.errorDescription) == ["creation: the row has no modification time"])
        #expect(await tokens.asked == 2)
    }

    @Test("A REST service passes the conformance suite with client IDs")
    func clientIDs() async throws {
        let space = try await space(Self.styles[0], [.init("ids", "client")])
        var options = RESTOptions()
        options.idAssignment = .client
        let service = RESTService(baseURL: space.url, options: options)
        let failures = await ServiceConformance(service, entity: "Task", member: "title", other: "note").run()
        #expect(failures == [])
    }

    actor Tokens {
        private var tokens: [String]
        private(set) var asked = 0

        init(_ tokens: [String]) { self.tokens = tokens }

        func next(_ isRefresh: Bool) -> String {
            asked += 1
            if isRefresh { tokens.removeFirst() }
            return tokens.first ?? ""
        }
    }

    // MARK: Devices

    @Test("A REST service syncs two devices with each style of paging", arguments: styles)
    func twoDevices(_ style: Style) async throws {
        let space = try await space(style)
        func device() throws -> Device { try Device(RESTService(baseURL: space.url, options: options(style))) }
        let (one, two) = (try device(), try device())
        let project = try await one.stack.insert("Project", values: ["name": "p"])
        for number in 1...7 {
            try await one.stack.insert(
                "Task", values: ["title": .string("t\(number)")], relationships: ["project": [project]])
        }
        try await one.engine.sync()
        try await two.engine.sync()
        try await one.write("UPDATE Task SET title = 'one' WHERE title = 't1'")
        try await two.write("UPDATE Task SET points = 7 WHERE title = 't1'")
        try await one.write("DELETE FROM Task WHERE title = 't2'")
        for device in [one, two, one] { try await device.engine.sync() }
        for device in [one, two] {
            #expect(
                try await device.rows("SELECT title, points, projectID FROM Task ORDER BY title")
                    == ["one 7 1", "t3 nil 1", "t4 nil 1", "t5 nil 1", "t6 nil 1", "t7 nil 1"])
            #expect(try await device.leftovers() == [])
            #expect(try await device.engine.sync().isEmpty)
        }
        #expect(try await space.rows("tasks").count == 6)
    }

    @Test(
        "A fault of any request to a REST service neither loses nor duplicates a row",
        arguments: ["drop-before", "drop-after", "cut", "html", "empty", "malformed", "status"],
        ["key", "marker", "nothing"])
    func faults(_ kind: String, _ knownBy: String) async throws {
        for number in 1...8 {
            let space = try await space(
                Self.styles[1], knownBy == "key" ? [.init("idempotency", "Idempotency-Key")] : [])
            var options = options(Self.styles[1])
            if knownBy == "key" { options.idempotencyHeader = "Idempotency-Key" }
            if knownBy == "marker" { options.markerField = "client_ref" }
            var configuration = Device.configuration
            configuration.inDoubtTimeout = .zero
            try await space.put([["id": 50, "title": "there", "points": 1]], in: "tasks")
            let device = try Device(RESTService(baseURL: space.url, options: options), configuration)
            try await device.engine.sync()
            try await device.stack.insert("Task", values: ["title": "here 1"])
            try await device.stack.insert("Task", values: ["title": "here 2"])
            try await device.write("UPDATE Task SET points = 2 WHERE title = 'there'")
            var fault: JSONValue = ["at": JSONValue(number), "kind": .string(kind)]
            if kind == "status" {
                fault = ["at": JSONValue(number), "kind": "status", "status": 503, "retryAfter": "0"]
            }
            try await space.put("_faults", [fault])
            // A response that cannot be read ends the run; the next run continues.
            for _ in 0..<2 { do { try await device.engine.sync() } catch {} }
            try await device.engine.sync()
            let titles = try await space.rows("tasks").compactMap { $0["title"] }
            #expect(
                Set(titles) == ["there", "here 1", "here 2"] && titles.count == 3,
                "\(kind) at request \(number): \(titles)")
            #expect(try await space.rows("tasks").contains { $0["points"] == 2 })
            let left = try await device.leftovers()
            #expect(left == [], "\(kind) at request \(number)")
            #expect(try await device.rows("SELECT count(*) FROM Task") == ["3"])
        }
    }

    /// Returns a device whose create was not answered.
    private func creation(
        _ title: String, _ fate: NotingNetwork.Fate, marker: String? = nil
    ) async throws -> (RESTSpace, Device, NotingNetwork) {
        let space = try await space(Self.styles[0])
        var options = RESTOptions()
        options.markerField = marker
        var configuration = Device.impatient
        configuration.inDoubtTimeout = .zero
        let network = NotingNetwork()
        let device = try Device(RESTService(baseURL: space.url, options: options, transport: network), configuration)
        try await device.engine.sync()
        try await device.stack.insert("Task", values: ["title": .string(title)])
        await network.breakDown(fate)
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
        await network.comeBack()
        return (space, device, network)
    }

    @Test("A row whose create was not answered is found by its marker, even if another row has equal values")
    func marker() async throws {
        let (space, device, _) = try await creation("same", .unanswered, marker: "client_ref")
        // A row of another client.
        try await space.put([["id": 40, "title": "same", "done": .null, "points": .null]], in: "tasks")
        let mine = try #require(try await space.rows("tasks").first { $0["client_ref"] != nil }?["id"])
        try await device.write("UPDATE Task SET points = 5")
        try await device.engine.sync()
        #expect(try await space.rows("tasks").count == 2)
        #expect(
            try await device.rows("SELECT remoteID, points FROM Task ORDER BY points IS NULL") == [
                "\(mine) 5", "40 nil",
            ])
        #expect(try await device.leftovers() == [])
    }

    @Test("Without key and marker, a row with equal values is taken for the one whose create was not answered")
    func alike() async throws {
        let (space, device, _) = try await creation("same", .lost)
        try await space.put(
            [["id": 40, "title": "same", "done": .null, "points": .null, "project_id": .null, "tag_ids": []]],
            in: "tasks")
        try await device.engine.sync()
        #expect(try await space.rows("tasks").count == 1)
        #expect(try await device.rows("SELECT remoteID FROM Task") == ["40"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A create that is carried out after the wait for it duplicates the row", arguments: [true, false])
    func tooLate(_ hasMarker: Bool) async throws {
        let (space, device, network) = try await creation("late", .late, marker: hasMarker ? "client_ref" : nil)
        try await device.engine.sync()
        #expect(try await space.rows("tasks").count == 1)
        try await network.deliver()
        #expect(try await space.rows("tasks").count == 2)
    }

    @Test(
        "With preconditions a push keeps remote changes since the pull; without, it overwrites shared fields",
        arguments: [true, false])
    func lostUpdate(_ hasPreconditions: Bool) async throws {
        let space = try await space(Self.styles[0], hasPreconditions ? [.init("preconditions", true)] : [])
        var options = RESTOptions()
        if hasPreconditions { (options.versionField, options.preconditionHeader) = ("version", "If-Match") }
        try await space.put([["id": 1, "title": "t", "points": 1], ["id": 2, "title": "u"]], in: "tasks")
        let task = SyncedEntity("Task", conflictPolicy: .serverWins, deleteConflictPolicy: .editWins)
        let device = try Device(
            RESTService(baseURL: space.url, options: options), entities: ["Project", task, "Tag"])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'ours' WHERE remoteID = 1; DELETE FROM Task WHERE remoteID = 2")
        try await space.put([["id": 1, "title": "theirs", "points": 7], ["id": 2, "title": "edited"]], in: "tasks")
        try await device.engine.push()
        let rows = try await space.rows("tasks")
        #expect(rows.first { $0["id"] == 1 }?["title"] == (hasPreconditions ? "theirs" : "ours"))
        #expect(rows.first { $0["id"] == 1 }?["points"] == 7)
        #expect(rows.first { $0["id"] == 2 }?["title"] == (hasPreconditions ? "edited" : JSONValue?.none))
        try await device.engine.sync()
        #expect(
            try await device.rows("SELECT title, points FROM Task ORDER BY remoteID")
                == (hasPreconditions ? ["theirs 7", "edited nil"] : ["ours 7"]))
        #expect(try await device.leftovers() == [])
    }

    @Test("A change that a REST service rejects is blocked, and others are sent")
    func refused() async throws {
        let space = try await space(Self.styles[0], [.init("required", ["title"]), .init("unique", "points")])
        let device = try Device(RESTService(baseURL: space.url))
        try await device.stack.insert("Task", values: ["points": 1])
        try await device.stack.insert("Task", values: ["title": "good", "points": 2])
        let report = try await device.engine.sync()
        #expect(report.total.pushedInserts == 1)
        #expect(report.total.blockedChanges == 1)
        let parked = try await device.engine.blockedChanges()
        #expect(parked.count == 1)
        #expect(parked.first?.reason.contains("title is missing") == true)
        try await device.write("UPDATE Task SET title = 'mended' WHERE points = 1")
        #expect(try await device.engine.sync().total.pushedInserts == 1)
        #expect(try await device.leftovers() == [])
    }

    @Test("A row rejected for a unique value of a deleted row is sent again")
    func freedUniqueValue() async throws {
        let space = try await space(Self.styles[0], [.init("unique", "title")])
        try await space.put([["id": 1, "title": "the title"]], in: "tasks")
        let device = try Device(RESTService(baseURL: space.url))
        try await device.engine.sync()
        try await device.write("DELETE FROM Task")
        try await device.stack.insert("Task", values: ["title": "the title"])
        try await device.engine.sync()
        #expect(try await space.rows("tasks").map { $0["title"] } == ["the title"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A delta pull without changes takes one request for each entity")
    func nothingNew() async throws {
        let space = try await space(Self.styles[0], [.init("since", "updated_since"), .init("softDelete", true)])
        var options = RESTOptions()
        options.sinceParameter = "updated_since"
        options.deletedField = "deleted_at"
        options.versionField = "updated_at"
        let device = try Device(RESTService(baseURL: space.url, options: options))
        try await space.put([["id": 1, "title": "t"]], in: "tasks")
        try await device.engine.sync()
        try await space.forgetLog()
        #expect(try await device.engine.sync().isEmpty)
        #expect(try await space.log() == ["GET /projects", "GET /tasks", "GET /tags"])
        #expect(try await !device.engine.hasRemoteChanges())
        try await space.put([["id": 2, "title": "u"]], in: "tasks")
        #expect(try await device.engine.hasRemoteChanges())
    }

    @Test("A paged import reads all pages of an entity and deletes rows that they omit")
    func importPages() async throws {
        let space = try await space(Self.styles[6])
        try await space.put((1...10).map { ["id": JSONValue($0), "title": .string("t\($0)")] }, in: "tasks")
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Device.schema.utf8)))
        let service = RESTService(baseURL: space.url, options: options(Self.styles[6]))
        let first = try await Sync.importPages(from: service, entity: "Task", stack: stack)
        #expect(first.total.pulledInserts == 10)
        try await space.remove(3, from: "tasks")
        try await space.put([["id": 4, "title": "new"]], in: "tasks")
        let second = try await Sync.importPages(from: service, entity: "Task", stack: stack)
        #expect(second.total.pulledDeletes == 1)
        #expect(second.total.pulledUpdates == 1)
        #expect(try await stack.count("Task") == 9)
    }
}
