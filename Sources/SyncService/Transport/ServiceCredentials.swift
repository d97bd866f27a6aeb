import Foundation
public import HTTPTypes
import SyncCore

/// Where the header fields come from that say who the user is. They are asked for once, and again after a 401; never
/// logged, never stored.
public struct ServiceCredentials: Sendable {
    let fields: @Sendable (_ isRefresh: Bool) async throws -> [HTTPField.Name: String]

    /// - Parameter fields: Gives the header fields; `isRefresh` after the service refused those given before.
    public init(_ fields: @escaping @Sendable (_ isRefresh: Bool) async throws -> [HTTPField.Name: String]) {
        self.fields = fields
    }

    /// No credentials.
    public static let none = ServiceCredentials { _ in [:] }

    /// The value of `Authorization`, asked for again after the service refused it.
    public static func authorization(
        _ value: @escaping @Sendable (_ isRefresh: Bool) async throws -> String
    ) -> ServiceCredentials {
        ServiceCredentials { [.authorization: try await value($0)] }
    }

    /// The value of another header, asked for again after the service refused it.
    public static func header(
        _ name: String, _ value: @escaping @Sendable (_ isRefresh: Bool) async throws -> String
    ) -> ServiceCredentials {
        ServiceCredentials { isRefresh in
            guard let name = HTTPField.Name(name) else {
                throw ServiceError.unauthorized("'\(name)' is no name of a header")
            }
            return [name: try await value(isRefresh)]
        }
    }

    /// The same `Authorization` always.
    public static func authorization(_ value: String) -> ServiceCredentials {
        ServiceCredentials { _ in [.authorization: value] }
    }
}

/// The credentials in use, shared by the requests of a service.
actor CredentialCache {
    private let credentials: ServiceCredentials
    private var current: [HTTPField.Name: String]?
    private var generation = 0

    init(_ credentials: ServiceCredentials) { self.credentials = credentials }

    func fields() async throws -> (fields: [HTTPField.Name: String], generation: Int) {
        if let current { return (current, generation) }
        let fields = try await credentials.fields(false)
        current = fields
        return (fields, generation)
    }

    /// Other fields than those of a generation: of several requests that were refused the first asks for them.
    func refreshed(after used: Int) async throws -> [HTTPField.Name: String] {
        if used == generation || current == nil {
            let fields = try await credentials.fields(true)
            if used == generation {
                current = fields
                generation += 1
            }
        }
        return current ?? [:]
    }
}

/// The secrets that requests carry, so that no error shows one that a service sends back.
final class SecretKeeper: Sendable {
    /// What stands in the place of a secret.
    static let mask = "***"
    /// Shorter texts stand for themselves: words of any message would be hidden with them.
    private static let shortest = 4
    private static let schemes: Set<String> = ["basic", "bearer", "digest", "negotiate", "token", "apikey"]
    private static let words = ["auth", "key", "token", "secret", "cookie", "password", "session", "credential"]

    private let texts = Locked<Set<String>>([])

    /// Notes the values of headers of a configuration whose names say that they are secret.
    func record(configured headers: [HTTPField.Name: String]) {
        for (name, value) in headers {
            let isSecret = Self.words.contains { word in name.canonicalName.contains(word) }
            if isSecret { record(value) }
        }
    }

    /// Notes the value of a header that says who the user is, its parts, and what they look like in an address.
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

    /// The user and the password of `Basic`.
    private static func decoded(_ text: String) -> String? {
        let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
        return Data(base64Encoded: text + padding).flatMap { String(data: $0, encoding: .utf8) }
            .flatMap { $0.contains(":") ? $0 : nil }
    }

    /// The length of the longest secret.
    var longest: Int { texts.value.map(\.utf8.count).max() ?? 0 }

    /// The text with a mask in the place of each secret.
    func hiding(_ text: String) -> String {
        texts.value.sorted { $0.count > $1.count }.reduce(text) { text, secret in
            text.replacingOccurrences(of: secret, with: Self.mask, options: .caseInsensitive)
        }
    }
}
