import Foundation
import HTTPTypes
import Sync
import Testing

@testable import SyncService

/// Changes that a service rejects for a unique value that another row still has.
@Suite("Rejections for unique values")
struct RefusedUniqueValueTests {
    private let service = UniqueTitles()

    private func device(concurrentRequests: Int = 1) async throws -> Device {
        var options = RESTOptions()
        options.maxConcurrentRequests = concurrentRequests
        options.idempotencyHeader = "Idempotency-Key"
        let url = try #require(URL(string: "https://service.example/v1"))
        let device = try Device(RESTService(baseURL: url, options: options, transport: service), entities: ["Task"])
        try await device.engine.sync()
        return device
    }

    private func fill(_ titles: String...) async {
        for (index, title) in titles.enumerated() {
            await service.set(index + 1, title)
        }
    }

    @Test("A change that takes over the value of a later change is sent again", arguments: [1, 4])
    func chain(_ concurrentRequests: Int) async throws {
        await fill("x", "y")
        let device = try await device(concurrentRequests: concurrentRequests)
        try await device.write("UPDATE Task SET title = 'z' WHERE title = 'y'")
        try await device.write("UPDATE Task SET title = 'y' WHERE title = 'x'")
        let report = try await device.engine.sync()
        #expect(report.total.pushedUpdates == 2)
        #expect(report.total.blockedChanges == 0)
        #expect(await service.titles == ["y", "z"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A new row that takes over the value of a changed row is sent again, with another idempotency key")
    func newRow() async throws {
        await fill("x", "y")
        let device = try await device()
        try await device.write("UPDATE Task SET title = 'z' WHERE title = 'y'")
        try await device.write("UPDATE Task SET title = 'y' WHERE title = 'x'")
        try await device.stack.insert("Task", values: ["title": "x"])
        let report = try await device.engine.sync()
        #expect(report.total.pushedUpdates == 2 && report.total.pushedInserts == 1)
        #expect(report.total.blockedChanges == 0)
        #expect(await service.titles == ["y", "z", "x"])
        #expect(await service.keys.count == 2)
        #expect(try await device.leftovers() == [])
    }

    @Test("A long chain of values needs few more requests, whatever its direction", arguments: [true, false])
    func longChain(_ isUp: Bool) async throws {
        let count = 50
        for id in 1...count { await service.set(id, "\(id)") }
        let device = try await device()
        let step = isUp ? 1 : -1
        try await device.write("UPDATE Task SET title = CAST(CAST(title AS INTEGER) + \(step) AS TEXT)")
        #expect(try await device.engine.sync().total.pushedUpdates == count)
        #expect(await service.titles == (1...count).map { "\($0 + step)" })
        #expect(await service.changes < 2 * count)
        #expect(try await device.leftovers() == [])
    }

    @Test("A change is sent again after a deletion, also if the next attempt waits for another change")
    func afterDeletion() async throws {
        await fill("x", "y", "z")
        let device = try await device()
        try await device.write("DELETE FROM Task WHERE title = 'z'")
        try await device.write("UPDATE Task SET title = 'z' WHERE title = 'y'")
        try await device.write("UPDATE Task SET title = 'y' WHERE title = 'x'")
        #expect(try await device.engine.sync().total.blockedChanges == 0)
        #expect(await service.titles == ["y", "z"])
        #expect(try await device.leftovers() == [])
    }

    @Test("Changes that stay rejected are sent at most once more, and once after a later deletion")
    func staysRejected() async throws {
        await fill("x", "y", "taken")
        let device = try await device()
        try await device.write("UPDATE Task SET title = 'taken' WHERE title = 'x'")
        try await device.write("UPDATE Task SET title = 'z' WHERE title = 'y'")
        #expect(try await device.engine.sync().total.blockedChanges == 1)
        #expect(await service.changes == 3)
        #expect(try await device.engine.sync().total.blockedChanges == 0)
        #expect(await service.changes == 3)
        await service.remove(3)
        try await device.engine.sync()
        #expect(await service.titles == ["taken", "z"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A change is not sent again if only earlier changes and new rows were applied")
    func nothingLater() async throws {
        await fill("x", "y", "taken")
        let device = try await device()
        try await device.write("UPDATE Task SET title = 'z' WHERE title = 'x'")
        try await device.write("UPDATE Task SET title = 'taken' WHERE title = 'y'")
        try await device.stack.insert("Task", values: ["title": "new"])
        #expect(try await device.engine.sync().total.blockedChanges == 1)
        #expect(await service.changes == 3)
    }

    @Test("Rows that exchange their values stay blocked, until one of them gets a temporary value")
    func exchange() async throws {
        await fill("x", "y")
        let device = try await device()
        try await device.write("UPDATE Task SET title = iif(title = 'x', 'y', 'x')")
        #expect(try await device.engine.sync().total.blockedChanges == 2)
        #expect(await service.titles == ["x", "y"])
        try await device.write("UPDATE Task SET title = 'temporary' WHERE remoteID = 1")
        try await device.engine.sync()
        try await device.write("UPDATE Task SET points = 1 WHERE remoteID = 2")
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'y' WHERE remoteID = 1")
        try await device.engine.sync()
        #expect(await service.titles == ["y", "x"])
        #expect(try await device.leftovers() == [])
    }
}

/// A REST service of tasks with unique titles.
private actor UniqueTitles: HTTPTransport {
    private var rows: [Int: JSONValue] = [:]
    /// The number of requests that are not reads.
    private(set) var changes = 0
    /// The idempotency keys of all creates.
    private(set) var keys: Set<String> = []

    /// The titles in the order of the IDs.
    var titles: [String] { rows.sorted { $0.key < $1.key }.map { Self.title($0.value) } }

    func set(_ id: Int, _ title: String) { rows[id] = ["id": JSONValue(id), "title": .string(title)] }
    func remove(_ id: Int) { rows[id] = nil }

    private static func title(_ row: JSONValue) -> String {
        if case .string(let text)? = row["title"] { text } else { "" }
    }

    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        let id = request.path?.split(separator: "/").last.flatMap { Int($0) }
        let (status, json) = answer(request, id, try body.map { try JSONValue(parsing: $0) } ?? [:])
        return (HTTPResponse(status: .init(code: status)), Data(CanonicalJSON.bytes(json)))
    }

    private func answer(_ request: HTTPRequest, _ id: Int?, _ body: JSONValue) -> (Int, JSONValue) {
        if request.method == .get {
            guard let id else { return (200, .array(rows.sorted { $0.key < $1.key }.map(\.value))) }
            return rows[id].map { (200, $0) } ?? (404, [:])
        }
        changes += 1
        if request.method == .delete, let id {
            rows[id] = nil
            return (204, .null)
        }
        if request.method == .post {
            if let name = HTTPField.Name("Idempotency-Key"), let key = request.headerFields[name] { keys.insert(key) }
        }
        let title = Self.title(body)
        guard body["title"] == nil || !rows.contains(where: { $0.key != id && Self.title($0.value) == title }) else {
            return (422, ["message": "the title is taken"])
        }
        let id = id ?? (rows.keys.max() ?? 0) + 1
        var row = rows[id] ?? ["id": JSONValue(id)]
        for name in ["title", "points"] {
            if let value = body[name] { row = row.setting(value, at: [name]) }
        }
        rows[id] = row
        return (200, row)
    }
}
