import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Services that answer a request with 413 (Content Too Large).
@Suite("Requests that are too large")
struct ContentTooLargeTests {
    /// A service with the tasks 1 and 2 that answers chosen requests with 413.
    private actor Service {
        private var rows: [Int: JSONValue] = [1: ["id": 1, "title": "one"], 2: ["id": 2, "title": "two"]]
        private var isTooLarge: @Sendable (HTTPRequest) -> Bool = { _ in false }
        private(set) var refusals = 0

        func refuse(_ isTooLarge: @escaping @Sendable (HTTPRequest) -> Bool) { self.isTooLarge = isTooLarge }
        var titles: Set<JSONValue> { Set(rows.values.compactMap { $0["title"] }) }

        func answer(_ request: HTTPRequest, _ body: JSONValue?) -> (Int, [String: String], JSONValue) {
            if isTooLarge(request) {
                refusals += 1
                return (413, [:], ["message": "too large"])
            }
            let id = Int(request.path?.split(separator: "/").last ?? "")
            switch (request.method, id) {
            case (.get, nil): return (200, [:], .array(rows.sorted { $0.key < $1.key }.map(\.value)))
            case (.get, let id?): return rows[id].map { (200, [:], $0) } ?? (404, [:], .null)
            case (.delete, let id?):
                rows[id] = nil
                return (204, [:], .null)
            default:
                let id = id ?? 3
                rows[id] = ["id": JSONValue(id), "title": body?["title"] ?? .null]
                return (id == 3 ? 201 : 200, [:], rows[id] ?? .null)
            }
        }
    }

    private func device(_ server: Service, lost: LostOnce? = nil) throws -> Device {
        let url = try #require(URL(string: "https://service.example/v1"))
        var options = RESTOptions()
        options.idempotencyHeader = "Idempotency-Key"
        let transport = Served { request, body in await server.answer(request, body) }
        let service = RESTService(
            baseURL: url, options: options, transport: lost.map { $0.over(transport) } ?? transport)
        return try Device(service, entities: ["Task"], Device.configuration)
    }

    @Test("A deletion that is answered with 413 is sent again with the next run and holds back no changes")
    func deletion() async throws {
        let server = Service()
        let device = try device(server)
        try await device.engine.sync()
        await server.refuse { $0.method == .delete }
        try await device.write("DELETE FROM Task WHERE remoteID = 1")
        try await device.write("UPDATE Task SET title = 'edited'")
        let report = try await device.engine.sync()
        #expect(report.total.blockedChanges == 1 && report.total.pushedUpdates == 1)
        #expect(await server.titles == ["one", "edited"])
        #expect(await server.refusals == 1)
        await server.refuse { _ in false }
        #expect(try await device.engine.sync().total.pushedDeletes == 1)
        #expect(await server.titles == ["edited"])
        #expect(try await device.leftovers() == [])
    }

    @Test("An edit that is answered with 413 is blocked until the row is edited")
    func edit() async throws {
        let server = Service()
        let device = try device(server)
        try await device.engine.sync()
        await server.refuse { $0.method == .patch && $0.path?.hasSuffix("/1") == true }
        try await device.write("UPDATE Task SET title = 'large' WHERE remoteID = 1")
        try await device.engine.sync()
        await server.refuse { _ in false }
        try await device.engine.sync()
        #expect(
            try await device.engine.blockedChanges().map(\.reason) == [
                "the service rejected the request as too large (HTTP 413)"
            ])
        try await device.write("UPDATE Task SET title = 'small' WHERE remoteID = 1")
        try await device.engine.sync()
        #expect(await server.titles == ["small", "two"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A create with a lost answer whose repeat is answered with 413 is blocked, and the run continues")
    func again() async throws {
        let (server, lost) = (Service(), LostOnce(.post))
        let device = try device(server, lost: lost)
        try await device.engine.sync()
        await server.refuse { $0.method == .post }
        try await device.stack.insert("Task", values: ["title": "large"])
        try await device.write("UPDATE Task SET title = 'edited' WHERE remoteID = 2")
        let report = try await device.engine.sync()
        #expect(report.total.blockedChanges == 1 && report.total.pushedUpdates == 1)
        #expect(await server.titles == ["one", "edited"])
        #expect(
            try await device.engine.blockedChanges().map(\.reason) == [
                "the service rejected the request as too large (HTTP 413)"
            ])
    }

    @Test(
        "PocketBase deletions answered with 413 are sent again, in batches and one by one",
        .enabled("PocketBase comes from PyPI, which cannot be reached") { await PocketBaseServer.isThere },
        arguments: [1, 50])
    func pocketBase(_ batchSize: Int) async throws {
        let space = try await PocketBaseServer.shared.space()
        let network = Refusing { $0.method == .delete || $0.path == "/api/batch" }
        let service = space.service(batchSize: batchSize, transport: network)
        let device = try Device(service, schema: PocketBaseSpace.schema)
        for number in 1...3 { try await space.add(space.tasks, ["title": .string("t\(number)")]) }
        try await device.engine.sync()
        try await device.write("DELETE FROM Task")
        await network.set(true)
        #expect(try await device.engine.sync().total.blockedChanges == 3)
        #expect(try await space.rows(space.tasks).count == 3)
        await network.set(false)
        #expect(try await device.engine.sync().total.pushedDeletes == 3)
        #expect(try await space.rows(space.tasks).isEmpty)
        #expect(try await device.leftovers() == [])
    }
}

/// A network that loses the first request of a method.
final class LostOnce: @unchecked Sendable {
    private struct Lost: Error {}
    private struct Network: HTTPTransport {
        let lost: LostOnce
        let inner: any HTTPTransport

        func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
            if lost.takes(request) { throw Lost() }
            return try await inner.send(request, body: body)
        }
    }

    private let lock = NSLock()
    private let method: HTTPRequest.Method
    private var isDone = false

    init(_ method: HTTPRequest.Method) { self.method = method }

    func over(_ inner: any HTTPTransport) -> any HTTPTransport { Network(lost: self, inner: inner) }

    private func takes(_ request: HTTPRequest) -> Bool {
        lock.withLock {
            guard request.method == method, !isDone else { return false }
            isDone = true
            return true
        }
    }
}

/// A network that answers some requests with 413.
actor Refusing: HTTPTransport {
    private let isTooLarge: @Sendable (HTTPRequest) -> Bool
    private var isOn = false
    private let transport = DefaultTransport()

    init(_ isTooLarge: @escaping @Sendable (HTTPRequest) -> Bool) { self.isTooLarge = isTooLarge }

    func set(_ isOn: Bool) { self.isOn = isOn }

    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        if isOn, isTooLarge(request) { return (HTTPResponse(status: .contentTooLarge), Data()) }
        return try await transport.send(request, body: body)
    }
}
