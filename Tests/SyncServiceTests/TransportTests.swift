import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

@Suite("What stands in headers and addresses")
struct TransportTests {
    @Test(
        "a Link header has the next page",
        arguments: [
            ("<https://a/b?page=2>; rel=\"next\", <https://a/b?page=9>; rel=\"last\"", "https://a/b?page=2"),
            ("<https://a/b?ids=1,2;3>; title=\"x\"; rel=next", "https://a/b?ids=1,2;3"),
            ("</b?page=1>; rel=\"prev first\", </b?page=3>; rel=\"next nofollow\"", "/b?page=3"),
            ("<https://a/b>; rel=\"last\"", nil), ("", nil),
        ] as [(String, String?)])
    func link(_ header: String, _ next: String?) { #expect(LinkHeader([header]).next == next) }

    @Test("dates are read, and what is none is not")
    func dates() {
        #expect(HTTPDate.date("Mon, 23 Nov 2026 16:34:43 GMT")?.timeIntervalSince1970 == 1_795_451_683)
        #expect(HTTPDate.date("soon") == nil)
    }

    @Test("everything is escaped that a service may take for something else")
    func escaping() throws {
        let exchange = HTTPExchange(
            try #require(URL(string: "https://a.example/v1/")), headers: [:], ScriptedTransport([]), .none)
        let url = try exchange.url(["tasks", "a/b c"], [("since", "2026-11-23T16:34:43+00:00"), ("q", "ü&=")])
        #expect(
            url.absoluteString
                == "https://a.example/v1/tasks/a%2Fb%20c?since=2026-11-23T16%3A34%3A43%2B00%3A00&q=%C3%BC%26%3D")
        #expect(throws: ServiceFailure.self) { try exchange.url(following: "https://b.example/v1/tasks", from: url) }
        #expect(throws: ServiceFailure.self) { try exchange.url(following: "http://a.example/v1/tasks", from: url) }
        #expect(try exchange.url(following: "?page=2", from: url).query == "page=2")
    }

    @Test("a 401 has new credentials asked for once, and then it is said")
    func unauthorized() async throws {
        let transport = ScriptedTransport([(401, [:]), (200, [:]), (401, [:]), (401, [:])])
        let asked = Counter()
        let exchange = HTTPExchange(
            try #require(URL(string: "https://a.example")), headers: [:], transport,
            .authorization { isRefresh in "token \(await asked.next()) \(isRefresh)" })
        #expect(try await exchange.send(.get, exchange.url(["x"])).status == 200)
        #expect(await transport.authorizations == ["token 1 false", "token 2 true"])
        await #expect(throws: ServiceFailure.unauthorized("")) { try await exchange.send(.get, exchange.url(["x"])) }
    }

    @Test("a service that asks to be left alone is, for as long as it says")
    func retryAfter() async throws {
        let transport = ScriptedTransport([
            (429, [.retryAfter: "7"]),
            (503, [.retryAfter: "Mon, 23 Nov 2026 16:34:53 GMT", .date: "Mon, 23 Nov 2026 16:34:43 GMT"]),
        ])
        let exchange = HTTPExchange(try #require(URL(string: "https://a.example")), headers: [:], transport, .none)
        for seconds in [7, 10] {
            await #expect(throws: (any Error).self) {
                do {
                    _ = try await exchange.send(.get, exchange.url(["x"]))
                } catch ServiceFailure.busy(let after, _) {
                    #expect(after == .seconds(seconds))
                    throw ServiceFailure.tooLarge
                }
            }
        }
    }

    @Test("a run waits as long as it may, then says until when, and the next one keeps to it")
    func patience() async throws {
        let service = FakeService()
        await service.setFault { _, _ in .busy }
        var settings = Device.settings
        settings.attempts = 3
        let device = try Device(service, settings)
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
        #expect(await service.requests.count == 3)
        await service.setFault(nil)
        #expect(try await device.engine.sync().isEmpty)
        #expect(try await device.rows("SELECT attempts, not_before FROM sync_engine") == ["0 nil"])
    }

    @Test("entities that cannot be kept in step are refused")
    func registration() async throws {
        func code(_ entities: [SyncedEntity], _ service: any SyncService = FakeService()) -> SyncError.Code? {
            #expect(throws: SyncError.self) { try Device(service, entities: entities) }?.code
        }
        #expect(code([]) == .invalidOption)
        #expect(code(["Task", "Task"]) == .invalidOption)
        #expect(code(["Nobody"]) == .unknownEntity)
        let timeless = FakeService(
            ServiceCapabilities(
                ids: .server, deletions: .sweep, createIdempotency: .probe, hasPreconditions: false, givesTimes: false))
        #expect(code([SyncedEntity("Task", policy: .lastWriterWins)], timeless) == .invalidOption)
        let device = try Device(FakeService())
        try await device.engine.sync()
        #expect(throws: SyncError.self) { try Device(device.stack, FakeService(identity: "another")) }
    }

    actor Counter {
        private var count = 0
        func next() -> Int {
            count += 1
            return count
        }
    }
}

/// Answers that a test wrote down.
actor ScriptedTransport: HTTPTransport {
    private var answers: [(status: Int, headers: HTTPFields)]
    private(set) var authorizations: [String] = []

    init(_ answers: [(Int, [HTTPField.Name: String])]) {
        self.answers = answers.map { status, headers in
            var fields = HTTPFields()
            for (name, value) in headers { fields[name] = value }
            return (status, fields)
        }
    }

    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        if let value = request.headerFields[.authorization] { authorizations.append(value) }
        let answer = answers.removeFirst()
        return (HTTPResponse(status: .init(code: answer.status), headerFields: answer.headers), Data())
    }
}
