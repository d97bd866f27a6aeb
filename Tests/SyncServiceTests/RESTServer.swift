import Foundation
import HTTPTypes
import Sync

/// The REST server of `Tests/Servers/REST` on a free port. The tests start it, and it ends with them.
actor RESTServer {
    /// The server of all tests. Each test has its own space.
    static let shared = RESTServer()

    /// The path of the program: `SYNC_REST_SERVER`, or the product of `make services`.
    private static var program: String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return ProcessInfo.processInfo.environment["SYNC_REST_SERVER"]
            ?? root.appendingPathComponent(".build/typed/debug/RESTServer").path
    }

    /// Whether it was built.
    static var isThere: Bool { FileManager.default.isExecutableFile(atPath: program) }

    private var starting: Task<URL, any Error>?
    private var process: Process?
    private let input = Pipe()
    private var spaces = 0

    /// Creates a space.
    func space(_ configuration: JSONValue) async throws -> RESTSpace {
        if starting == nil { starting = Task { try await start() } }
        guard let url = try await starting?.value else { throw ServerFailure(text: "no server") }
        spaces += 1
        let space = RESTSpace(url: url.appendingPathComponent("space\(spaces)-\(UUID().uuidString.prefix(8))"))
        try await space.put("_settings", configuration)
        return space
    }

    private func start() async throws -> URL {
        let (process, output) = try LoopbackServer.run(Self.program, ["--port", "0"], input: input)
        self.process = process
        return try LoopbackServer.address(try await FirstLine.of(output), of: "the REST server")
    }
}

/// A space of the server, which a test sets up and inspects.
struct RESTSpace: Sendable {
    let url: URL
    private let transport = DefaultTransport()

    init(url: URL) { self.url = url }

    @discardableResult
    private func send(_ method: HTTPRequest.Method, _ path: String, _ body: JSONValue?) async throws -> JSONValue {
        var request = HTTPRequest(method: method, url: url.appendingPathComponent(path))
        if body != nil { request.headerFields[.contentType] = "application/json" }
        let data = try body.map { try JSONEncoder().encode($0) }
        let (response, answer) = try await transport.send(request, body: data)
        guard (200..<300).contains(response.status.code) else {
            throw ServerFailure(
                text: "\(method) \(path): \(response.status) \(String(decoding: answer, as: UTF8.self))")
        }
        return answer.isEmpty ? .null : try JSONValue(parsing: answer)
    }

    func put(_ path: String, _ body: JSONValue) async throws { try await send(.put, path, body) }

    /// Stores rows as another client does.
    func put(_ rows: [JSONValue], in collection: String) async throws {
        try await send(.post, "_rows/\(collection)", .array(rows))
    }

    /// Returns the rows without deleted ones.
    func rows(_ collection: String) async throws -> [JSONValue] {
        guard case .array(let rows) = try await send(.get, "_rows/\(collection)", nil) else { return [] }
        return rows.filter { ($0["deleted_at"] ?? .null) == .null }
    }

    /// Returns the answer of the server to a query, as any client gets it.
    func get(_ path: String, _ query: [URLQueryItem], headers: HTTPFields = [:]) async throws -> JSONValue {
        var request = HTTPRequest(method: .get, url: url.appendingPathComponent(path).appending(queryItems: query))
        request.headerFields = headers
        let (response, answer) = try await transport.send(request, body: nil)
        guard response.status.kind == .successful else { throw ServerFailure(text: "GET \(path): \(response.status)") }
        return try JSONValue(parsing: answer)
    }

    func remove(_ id: Int, from collection: String) async throws {
        try await send(.delete, "_rows/\(collection)/\(id)", nil)
    }

    /// Returns the requests so far.
    func log() async throws -> [String] {
        guard case .array(let entries) = try await send(.get, "_log", nil) else { return [] }
        return entries.map { entry in
            guard case .string(let method)? = entry["method"], case .string(let path)? = entry["path"] else {
                return ""
            }
            return "\(method) \(path)"
        }
    }

    func forgetLog() async throws { try await send(.delete, "_log", nil) }
}

/// Reads the first line that a program prints.
enum FirstLine {
    static func of(_ pipe: Pipe) async throws -> String {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var line = Data()
                while let byte = try? pipe.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data([10]) {
                    line += byte
                }
                continuation.resume(returning: String(decoding: line, as: UTF8.self))
            }
        }
    }
}
