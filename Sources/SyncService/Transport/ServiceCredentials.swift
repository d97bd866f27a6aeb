import Foundation
public import HTTPTypes
import SyncCore

/// The header fields that authenticate the user. A ``ServiceHTTPClient`` gets the fields before the first request, and
/// again after the service rejects the fields. The client keeps the fields only in memory, and never logs the fields.
public struct ServiceCredentials: Sendable {
    let fields: @Sendable (_ isRefresh: Bool) async throws -> [HTTPField.Name: String]

    /// Creates credentials.
    ///
    /// - Parameter fields: A closure that returns the header fields. `isRefresh` is true if the service rejected the
    ///   previous fields. If the closure throws an error, the request fails with that error.
    public init(_ fields: @escaping @Sendable (_ isRefresh: Bool) async throws -> [HTTPField.Name: String]) {
        self.fields = fields
    }

    /// No credentials.
    public static let none = ServiceCredentials { _ in [:] }

    /// Creates credentials for the `Authorization` header.
    ///
    /// - Parameter value: A closure that returns the value of the header. `isRefresh` is true if the service rejected
    ///   the previous value.
    public static func authorization(
        _ value: @escaping @Sendable (_ isRefresh: Bool) async throws -> String
    ) -> ServiceCredentials {
        ServiceCredentials { [.authorization: try await value($0)] }
    }

    /// Creates credentials for a header.
    ///
    /// - Parameters:
    ///   - name: The name of the header. If the name is not valid, requests fail with
    ///     ``ServiceError/unauthorized(_:)``.
    ///   - value: A closure that returns the value of the header. `isRefresh` is true if the service rejected the
    ///     previous value.
    public static func header(
        _ name: String, _ value: @escaping @Sendable (_ isRefresh: Bool) async throws -> String
    ) -> ServiceCredentials {
        ServiceCredentials { isRefresh in
            guard let name = HTTPField.Name(name) else {
                throw ServiceError.unauthorized("'\(name)' is not a valid header name")
            }
            return [name: try await value(isRefresh)]
        }
    }

    /// Creates credentials with a constant value of the `Authorization` header.
    public static func authorization(_ value: String) -> ServiceCredentials {
        ServiceCredentials { _ in [.authorization: value] }
    }
}

/// The current credentials, shared by the requests of a service. Concurrent requests cause one call of the app.
actor CredentialCache {
    private let credentials: ServiceCredentials
    private var current: [HTTPField.Name: String]?
    private var generation = 0
    /// The call of the app that is in progress.
    private var call: Task<[HTTPField.Name: String], any Error>?

    init(_ credentials: ServiceCredentials) { self.credentials = credentials }

    func fields() async throws -> (fields: [HTTPField.Name: String], generation: Int) {
        if let current { return (current, generation) }
        return (try await request(isRefresh: false), generation)
    }

    /// Returns fields that are newer than those of a generation. If the service rejects several requests at once, one
    /// refresh counts for all of them.
    func refreshed(after used: Int) async throws -> [HTTPField.Name: String] {
        if used != generation, let current { return current }
        return try await request(isRefresh: true)
    }

    private func request(isRefresh: Bool) async throws -> [HTTPField.Name: String] {
        if let call { return try await call.value }
        let call = Task {
            defer { self.call = nil }
            let fields = try await credentials.fields(isRefresh)
            current = fields
            if isRefresh { generation += 1 }
            return fields
        }
        self.call = call
        return try await call.value
    }
}

/// The secrets of requests. Error messages must not contain them, but a response that an error quotes may repeat them.
final class SecretKeeper: Sendable {
    /// The replacement for a secret.
    static let mask = "***"
    /// The length of the shortest secret that is masked. Shorter texts occur in ordinary words.
    private static let shortest = 4
    private static let schemes: Set<String> = ["basic", "bearer", "digest", "negotiate", "token", "apikey"]
    private static let words = ["auth", "key", "token", "secret", "cookie", "password", "session", "credential"]

    private let texts = Locked<Set<String>>([])

    /// Adds the values of configured headers whose names indicate a secret.
    func record(configured headers: [HTTPField.Name: String]) {
        for (name, value) in headers {
            let isSecret = Self.words.contains { word in name.canonicalName.contains(word) }
            if isSecret { record(value) }
        }
    }

    /// Adds the value of an authentication header and its parts, each also with URL escapes.
    func record(_ value: String) {
        if texts.value.contains(value) { return }
        let parts = value.split { " ;,=\"".contains($0) }.map(String.init)
        let inner = parts.compactMap(Self.decoded)
        let passwords = inner.map { user in String(user.drop { $0 != ":" }.dropFirst()) }
        let secrets = ([value] + parts + inner + passwords).filter {
            $0.count >= Self.shortest && !Self.schemes.contains($0.lowercased())
        }
        let escaped = secrets.map { $0.escapedForURL }
        texts.withLock { $0.formUnion(secrets + escaped) }
    }

    /// Decodes the credentials of `Basic` authentication to `user:password`; returns nil for any other text.
    private static func decoded(_ text: String) -> String? {
        let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
        return Data(base64Encoded: text + padding).flatMap { String(data: $0, encoding: .utf8) }
            .flatMap { $0.contains(":") ? $0 : nil }
    }

    /// The length of the longest secret, in UTF-8 bytes.
    var longest: Int { texts.value.map(\.utf8.count).max() ?? 0 }

    /// Returns the text with a mask instead of each secret.
    func hiding(_ text: String) -> String {
        texts.value.sorted { $0.count > $1.count }.reduce(text) { text, secret in
            text.replacingOccurrences(of: secret, with: Self.mask, options: .caseInsensitive)
        }
    }
}
