import Foundation
import HTTPTypes
import SyncCore

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
    func note(configured headers: [HTTPField.Name: String]) {
        for (name, value) in headers {
            let isSecret = Self.words.contains { word in name.canonicalName.contains(word) }
            if isSecret { note(value) }
        }
    }

    /// Notes the value of a header that says who the user is, its parts, and what they look like in an address.
    func note(_ value: String) {
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
