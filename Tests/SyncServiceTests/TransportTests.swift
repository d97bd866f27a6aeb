import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

@Suite("HTTP headers and URLs")
struct TransportTests {
    @Test(
        "The Link header with the relation 'next' has the URL of the next page",
        arguments: [
            ("<https://a/b?page=2>; rel=\"next\", <https://a/b?page=9>; rel=\"last\"", "https://a/b?page=2"),
            ("<https://a/b?ids=1,2;3>; title=\"x\"; rel=next", "https://a/b?ids=1,2;3"),
            ("</b?page=1>; rel=\"prev first\", </b?page=3>; rel=\"next nofollow\"", "/b?page=3"),
            ("<https://a/b>; rel=\"last\"", nil), ("", nil),
        ] as [(String, String?)])
    func linkHeader(_ header: String, _ next: String?) { #expect(LinkHeader([header]).next == next) }

    @Test(
        "The date of a header is parsed, and other text is rejected",
        arguments: [
            ("Mon, 23 Nov 2026 16:34:43 GMT", 1_795_451_683), ("Mon, 23 Nov 2026 16:34:43 UTC", 1_795_451_683),
            // The weekday is ignored.
            ("Sun, 23 Nov 2026 16:34:43 GMT", 1_795_451_683), ("Montag 23 Nov 2026 16:34:43 GMT", 1_795_451_683),
            ("Tue,  3 Nov 2026 9:05:03 GMT", 1_793_696_703), ("Tue, 03 nov 2026 09:05:03 GMT", 1_793_696_703),
            ("Mon, 23 Nov 2026 18:34:43 +0200", 1_795_451_683), ("Mon, 23 Nov 2026 16:34:43 EST", nil),
            ("Mon, 23 Nov 2026 16:34:60 GMT", nil), ("Mon, 31 Nov 2026 16:34:43 GMT", nil),
            ("Mon, 23 Nov 26 16:34:43 GMT", nil), ("Mon, 23 Nov 2026 16:34:43", nil),
            ("Mon, 23 Nov 2026 16:34 GMT", nil), ("Mon, 23 Növ 2026 16:34:43 GMT", nil),
            ("Mon, ２３ Nov 2026 16:34:43 GMT", nil), ("Monday, 23-Nov-26 16:34:43 GMT", nil),
            ("Mon Nov 23 16:34:43 2026", nil), ("2026-11-23T16:34:43Z", nil), ("soon", nil), ("", nil),
        ] as [(String, Double?)])
    func dates(_ text: String, _ seconds: Double?) {
        #expect(Date(headerText: text)?.timeIntervalSince1970 == seconds)
    }

    @Test(
        "Bytes other than letters, digits and -._~ are percent-encoded",
        arguments: [
            ("AZaz09-._~", "AZaz09-._~"), ("a b+c/d?e=f&g#h%20", "a%20b%2Bc%2Fd%3Fe%3Df%26g%23h%2520"), ("", ""),
            ("\0\n\u{7F}", "%00%0A%7F"),
            ("!*'();:@,[]{}|\\^`\"<>$", "%21%2A%27%28%29%3B%3A%40%2C%5B%5D%7B%7D%7C%5C%5E%60%22%3C%3E%24"),
            // Strings are not normalized.
            ("\u{E9}e\u{301}", "%C3%A9e%CC%81"), ("日本", "%E6%97%A5%E6%9C%AC"), ("😀\r\n", "%F0%9F%98%80%0D%0A"),
            ("ａ０\u{661}", "%EF%BD%81%EF%BC%90%D9%A1"), ("\u{FFFD}\u{FFFF}", "%EF%BF%BD%EF%BF%BF"),
        ])
    func percentEncoding(_ text: String, _ escaped: String) { #expect(text.escapedForURL == escaped) }

    @Test("Parts of a path and query values are encoded, and a next page on another origin is rejected")
    func urls() throws {
        let exchange = ServiceHTTPClient(
            try #require(URL(string: "https://a.example/v1/")), headers: [:], ScriptedTransport([]), .none)
        let url = try exchange.url(["tasks", "a/b c"], [("since", "2026-11-23T16:34:43+00:00"), ("q", "ü&=")])
        #expect(
            url.absoluteString
                == "https://a.example/v1/tasks/a%2Fb%20c?since=2026-11-23T16%3A34%3A43%2B00%3A00&q=%C3%BC%26%3D")
        #expect(throws: ServiceError.self) { try exchange.url(following: "https://b.example/v1/tasks", from: url) }
        #expect(throws: ServiceError.self) { try exchange.url(following: "http://a.example/v1/tasks", from: url) }
        #expect(try exchange.url(following: "?page=2", from: url).query == "page=2")
    }

    @Test("A 401 response requests new credentials once, and a second one is an error")
    func unauthorized() async throws {
        let transport = ScriptedTransport([(401, [:]), (200, [:]), (401, [:]), (401, [:])])
        let asked = Counter()
        let exchange = ServiceHTTPClient(
            try #require(URL(string: "https://a.example")), headers: [:], transport,
            .authorization { isRefresh in "token \(await asked.next()) \(isRefresh)" })
        #expect(try await exchange.send(.get, exchange.url(["x"])).status == 200)
        #expect(await transport.authorizations == ["token 1 false", "token 2 true"])
        await #expect(throws: ServiceError.unauthorized("")) { try await exchange.send(.get, exchange.url(["x"])) }
    }

    @Test("Requests that are rejected at the same time request new credentials once")
    func refreshedTogether() async throws {
        let asked = Counter()
        let cache = CredentialCache(
            .authorization { isRefresh in
                let number = await asked.next()
                // All calls arrive before the answer.
                for _ in 0..<100 { await Task.yield() }
                return "token \(number) \(isRefresh)"
            })
        async let first = cache.fields()
        async let second = cache.fields()
        let used = try await [first, second]
        #expect(used.map(\.fields[.authorization]) == ["token 1 false", "token 1 false"])
        async let third = cache.refreshed(after: used[0].generation)
        async let fourth = cache.refreshed(after: used[1].generation)
        #expect(try await [third, fourth].map(\.[.authorization]) == ["token 2 true", "token 2 true"])
        #expect(try await cache.fields().fields[.authorization] == "token 2 true")
    }

    @Test("Credentials that could not be refreshed are requested again")
    func failedRefresh() async throws {
        let asked = Counter()
        let cache = CredentialCache(
            .authorization { _ in
                let number = await asked.next()
                if number == 2 { throw ServiceError.unauthorized("locked") }
                return "token \(number)"
            })
        let used = try await cache.fields()
        await #expect(throws: ServiceError.self) { try await cache.refreshed(after: used.generation) }
        #expect(try await cache.refreshed(after: used.generation)[.authorization] == "token 3")
    }

    @Test("The Retry-After header is read as seconds or as a date")
    func retryAfter() async throws {
        let transport = ScriptedTransport([
            (429, [.retryAfter: "7"]),
            (503, [.retryAfter: "Mon, 23 Nov 2026 16:34:53 GMT", .date: "Mon, 23 Nov 2026 16:34:43 GMT"]),
        ])
        let exchange = ServiceHTTPClient(try #require(URL(string: "https://a.example")), headers: [:], transport, .none)
        for seconds in [7, 10] {
            await #expect(throws: (any Error).self) {
                do {
                    _ = try await exchange.send(.get, exchange.url(["x"]))
                } catch ServiceError.retryLater(let after, _) {
                    #expect(after == .seconds(seconds))
                    throw ServiceError.payloadTooLarge
                }
            }
        }
    }

    @Test("A run makes as many attempts as allowed, and a later success resets the backoff")
    func attempts() async throws {
        let service = InMemoryService()
        await service.setFault { _, _ in .busy }
        var configuration = Device.configuration
        configuration.maxAttempts = 3
        let device = try Device(service, configuration)
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
        #expect(await service.requests.count == 3)
        await service.setFault(nil)
        #expect(try await device.engine.sync().isEmpty)
        #expect(try await device.rows("SELECT attempts, not_before FROM sync_engine") == ["0 nil"])
    }

    @Test("Entities that cannot be synced are rejected")
    func registration() async throws {
        func code(_ entities: [SyncedEntity], _ service: any SyncService = InMemoryService()) -> SyncError.Code? {
            #expect(throws: SyncError.self) { try Device(service, entities: entities) }?.code
        }
        #expect(code([]) == .invalidOption)
        #expect(code(["Task", "Task"]) == .invalidOption)
        #expect(code(["Nobody"]) == .unknownEntity)
        let timeless = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .listing, createIdempotency: .matchByContent,
                supportsPreconditions: false, providesModificationTimes: false))
        #expect(code([SyncedEntity("Task", conflictPolicy: .lastWriterWins)], timeless) == .invalidOption)
        var options = RESTOptions()
        options.preconditionHeader = "If-Match"
        let url = try #require(URL(string: "https://api.example.com"))
        #expect(code(["Task"], RESTService(baseURL: url, options: options)) == .invalidOption)
        options.versionField = "version"
        #expect(throws: Never.self) { try Device(RESTService(baseURL: url, options: options), entities: ["Task"]) }
        let device = try Device(InMemoryService())
        try await device.engine.sync()
        #expect(throws: SyncError.self) { try Device(device.stack, InMemoryService(identity: "another")) }
    }

    actor Counter {
        private var count = 0
        func next() -> Int {
            count += 1
            return count
        }
    }
}

/// Responses from a list.
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
