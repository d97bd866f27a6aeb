import Foundation
import HTTPTypes
import Sync

@testable import SyncService

/// A PocketBase server on a free port that the tests start and that ends with them.
actor PocketBaseServer {
    /// The server of all tests. Each test has its own collections.
    static let shared = PocketBaseServer()

    /// Whether the server is available. CI requires it; elsewhere its tests are skipped without PyPI.
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

    /// Returns the address, without `/api`.
    func url() async throws -> URL {
        if let starting { return try await starting.value }
        let task = Task { try await start() }
        starting = task
        return try await task.value
    }

    /// Returns the token of the administrator.
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

    /// Creates collections for the entities of ``Device/schema``.
    ///
    /// - Parameter rules: The rules of the tasks by name, such as `listRule`; a missing rule allows everything.
    func space(rules: [String: JSONValue] = [:]) async throws -> PocketBaseSpace {
        let space = PocketBaseSpace(url: try await url(), token: try await token())
        // Creates them in turn, since the server looks up a referenced collection among those that it has loaded.
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
