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
    private var changingCollections: Task<Void, Never>?
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
        try await space.create(rules)
        return space
    }

    /// Calls `change`, which creates or changes a collection, after all earlier changes have ended.
    ///
    /// The server reloads the list of its collections after each change. Of two changes at once, the first may load
    /// the list before the second is committed and replace the newer list with it. The second collection is then
    /// answered with "Missing or invalid collection context".
    func changeCollections(_ change: @escaping @Sendable () async throws -> JSONValue) async throws -> JSONValue {
        let earlier = changingCollections
        let task = Task {
            await earlier?.value
            return try await change()
        }
        changingCollections = Task { _ = await task.result }
        return try await task.value
    }

    private func start() async throws -> URL {
        let (process, output) = try LoopbackServer.python("pocketbase.py", input: input)
        self.process = process
        return try LoopbackServer.address(try await FirstLine.of(output), of: "PocketBase")
    }
}
