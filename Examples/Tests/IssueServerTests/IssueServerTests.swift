import Foundation
import Hummingbird
import IssueServer
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Runs the server on loopback, on a port that is free, with clients that know nothing of it: URLSession and curl.
@Suite("The server of the example")
struct IssueServerTests {
    private struct Served: Sendable {
        let store: IssueStore
        let url: URL

        func send(_ method: String, _ path: String, _ body: String? = nil, _ headers: [String: String] = [:])
            async throws
            -> (status: Int, text: String)
        {
            var request = URLRequest(url: url.appendingPathComponent(path))
            request.httpMethod = method
            request.httpBody = body.map { Data($0.utf8) }
            for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
            let (data, response) = try await URLSession.shared.data(for: request)
            return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
        }
    }

    private func serving(_ body: @escaping @Sendable (Served) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try IssueStore(at: folder.appendingPathComponent("issues.sqlite").path)
        let (ports, running) = AsyncStream.makeStream(of: Int.self)
        let app = Application(
            router: IssueServer.router(store), configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                running.yield(channel.localAddress?.port ?? 0)
                running.finish()
            })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await app.runService(gracefulShutdownSignals: []) }
            let port = try #require(await ports.first { _ in true })
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            try await body(Served(store: store, url: url))
            group.cancelAll()
        }
    }

    @Test("takes webhooks once, polls a feed, and serves its rows")
    func webhooks() async throws {
        try await serving { server in
            let body = #"[{"id": 1, "title": "Crash", "author": {"id": 7, "name": "Ada"}}]"#
            let first = try await server.send("POST", "webhook", body, ["X-Delivery": "a"])
            #expect(first.status == 200)
            #expect(first.text.contains("Issue: 1 inserted"))
            #expect(try await server.send("POST", "webhook", body, ["X-Delivery": "a"]).text == "known already\n")
            let refused = try await server.send("POST", "webhook", "[{", ["X-Delivery": "b"])
            #expect(refused.status == 400)
            // What was refused was not delivered either: it may come again.
            let again = try await server.send("POST", "webhook", #"[{"id": 2, "title": "Slow"}]"#, ["X-Delivery": "b"])
            #expect(again.text.contains("Issue: 1 inserted"))
            let whole = try await server.send(
                "PUT", "issues", #"[{"id": 2, "state": "closed"}, {"id": 3, "title": "New"}]"#)
            #expect(whole.text.contains("Issue: 1 inserted, 1 updated, 1 deleted"))
            let rows = try await server.send("GET", "issues")
            #expect(rows.text.contains(#""title":"New""#))
            // A feed is another server: here its own rows, which change nothing.
            let polled = try await server.store.poll(server.url.appendingPathComponent("issues"))
            #expect(polled.isEmpty)
        }
    }

    @Test("streams what becomes of its rows as server-sent events")
    func events() async throws {
        try await serving { server in
            let curl = Process()
            curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            curl.arguments = [
                "curl", "--no-buffer", "--silent", server.url.appendingPathComponent("changes").absoluteString,
            ]
            let pipe = Pipe()
            curl.standardOutput = pipe
            try curl.run()
            defer { kill(curl.processIdentifier, SIGTERM) }
            var lines = Lines(pipe.fileHandleForReading)
            #expect(try await lines.next() == #"data: {"inserted":[],"removed":0,"updated":[]}"#.sortedJSON)
            _ = try await server.send("POST", "webhook", #"[{"id": 5, "title": "A"}]"#)
            #expect(try await lines.next() == #"data: {"inserted":[5],"removed":0,"updated":[]}"#.sortedJSON)
            _ = try await server.send("PUT", "issues", #"[{"id": 5, "title": "B"}, {"id": 6, "title": "C"}]"#)
            #expect(try await lines.next() == #"data: {"inserted":[6],"removed":0,"updated":[5]}"#.sortedJSON)
        }
    }
}

/// The lines of a stream that are not empty, members in the order of their names.
private struct Lines {
    private let handle: FileHandle
    private var rest = Data()

    init(_ handle: FileHandle) { self.handle = handle }

    mutating func next() async throws -> String {
        while true {
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
                rest = Data(rest[rest.index(after: end)...])
                if !line.isEmpty { return line.sortedJSON }
            }
            let handle = handle
            let more = await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: handle.availableData) }
            }
            guard !more.isEmpty else { throw CancellationError() }
            rest += more
        }
    }
}

extension String {
    /// An event with its members in order, whatever order they were written in.
    fileprivate var sortedJSON: String {
        guard hasPrefix("data: "), let value = try? JSONSerialization.jsonObject(with: Data(dropFirst(6).utf8)),
            let data = try? JSONSerialization.data(withJSONObject: value, options: .sortedKeys)
        else { return self }
        return "data: " + String(decoding: data, as: UTF8.self)
    }
}
