import Foundation
import HTTPTypes
import Sync

/// The REST server of `Tests/Servers/REST`, which the tests start at a free port, and which ends with them.
actor RESTServer {
    /// Shared by all tests, which keep apart by their spaces.
    static let shared = RESTServer()

    /// The program: `SYNC_REST_SERVER`, or where `make services` builds it.
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

    /// A space of its own.
    func space(_ settings: JSONValue) async throws -> RESTSpace {
        if starting == nil { starting = Task { try await start() } }
        guard let url = try await starting?.value else { throw ServerFailure(text: "no server") }
        spaces += 1
        let space = RESTSpace(url: url.appendingPathComponent("space\(spaces)-\(UUID().uuidString.prefix(8))"))
        try await space.put("_settings", settings)
        return space
    }

    private func start() async throws -> URL {
        let (process, output) = try LoopbackServer.run(Self.program, ["--port", "0"], input: input)
        self.process = process
        return try LoopbackServer.address(try await FirstLine.of(output), of: "the REST server")
    }
}

/// A space of the server, as a test sets it up and looks at it.
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

    /// Rows as another client puts them.
    func put(_ rows: [JSONValue], in collection: String) async throws {
        try await send(.post, "_rows/\(collection)", .array(rows))
    }

    /// The rows there are, those left out that were deleted.
    func rows(_ collection: String) async throws -> [JSONValue] {
        guard case .array(let rows) = try await send(.get, "_rows/\(collection)", nil) else { return [] }
        return rows.filter { ($0["deleted_at"] ?? .null) == .null }
    }

    /// What the server answers to a query, as it answers anybody.
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

    /// The requests so far.
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

/// The first line that a program prints.
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
