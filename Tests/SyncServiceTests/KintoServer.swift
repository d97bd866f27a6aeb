import Foundation
import HTTPTypes
import Sync

/// A Kinto server on a free port that the tests start and that ends with them.
actor KintoServer {
    /// The server of all tests. Each test has its own user, and so its own bucket.
    static let shared = KintoServer()

    /// Whether the server is available. CI requires it; elsewhere its tests are skipped without PyPI.
    static var isThere: Bool {
        get async {
            if ProcessInfo.processInfo.environment["CI"] == "true" { return true }
            return (try? await shared.url()) != nil
        }
    }

    private var starting: Task<URL, any Error>?
    private var process: Process?
    private let input = Pipe()
    private var users = 0

    /// Returns the address, up to `/v1`.
    func url() async throws -> URL {
        if let starting { return try await starting.value }
        let task = Task { try await start() }
        starting = task
        return try await task.value
    }

    /// Returns a service for a new user.
    func service(pageSize: Int = 1000) async throws -> KintoService {
        users += 1
        let name = Data("user\(users)-\(UUID().uuidString):secret".utf8).base64EncodedString()
        return try await service(authorization: "Basic \(name)", pageSize: pageSize)
    }

    func service(
        authorization: String, pageSize: Int = 1000, transport: any HTTPTransport = DefaultTransport()
    ) async throws -> KintoService {
        KintoService(
            baseURL: try await url(), pageSize: pageSize, credentials: .authorization(authorization),
            transport: transport)
    }

    private func start() async throws -> URL {
        let (process, output) = try LoopbackServer.python("kinto.py", input: input)
        self.process = process
        let url = try LoopbackServer.address(try await FirstLine.of(output), of: "Kinto").appendingPathComponent("v1")
        let heartbeat = url.appendingPathComponent("__heartbeat__")
        while process.isRunning {
            if let (response, _) = try? await DefaultTransport().send(
                .init(method: .get, url: heartbeat), body: nil),
                response.status == .ok
            {
                return url
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw ServerFailure(text: "Kinto ended")
    }
}

/// A failure of a test server to start.
struct ServerFailure: Error {
    let text: String
}
