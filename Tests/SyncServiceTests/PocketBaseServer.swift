import Foundation
import HTTPTypes
import Sync

@testable import SyncService

/// A PocketBase server that the tests start, at a free port, and that ends with them.
actor PocketBaseServer {
    /// Shared by all tests, which keep apart by their collections.
    static let shared = PocketBaseServer()

    /// Whether it runs here. In CI it must: without PyPI elsewhere its tests are skipped.
    static var isThere: Bool {
        get async {
            if ProcessInfo.processInfo.environment["CI"] == "true" { return true }
            return (try? await shared.url()) != nil
        }
    }

    private var starting: Task<URL, any Error>?
    private var signingIn: Task<String, any Error>?
    private var creating: Task<Void, any Error>?
    private var process: Process?
    private let input = Pipe()

    /// Its address, without `/api`.
    func url() async throws -> URL {
        if let starting { return try await starting.value }
        let task = Task { try await start() }
        starting = task
        return try await task.value
    }

    /// The token of the administrator.
    func token() async throws -> String {
        if let signingIn { return try await signingIn.value }
        let url = try await url()
        let task = Task {
            let answer = try await PocketBaseSpace.send(
                .post, url, "collections/_superusers/auth-with-password",
                ["identity": "root@example.com", "password": "rootroot"], token: nil)
            guard case .string(let token)? = answer["token"] else { throw ServerFailure(text: "no token: \(answer)") }
            return token
        }
        signingIn = task
        return try await task.value
    }

    /// Collections of its own for the entities of ``Device/schema``.
    ///
    /// - Parameter rules: By name (`listRule` and so on) for the tasks; where none are given everybody may do everything.
    func space(rules: [String: JSONValue] = [:]) async throws -> PocketBaseSpace {
        let space = PocketBaseSpace(url: try await url(), token: try await token())
        // One after the other: a collection that another one points to is looked for among those that are known already.
        let others = creating
        let task = Task {
            _ = await others?.result
            try await space.create(rules)
        }
        creating = task
        try await task.value
        return space
    }

    private func start() async throws -> URL {
        let (process, output) = try LoopbackServer.python("pocketbase.py", input: input)
        self.process = process
        return try LoopbackServer.address(try await FirstLine.of(output), of: "PocketBase")
    }
}
