/// The keys that a remote key leads through: a dot walks into an object, `\.` is a dot of the key itself, and `\\` a
/// backslash.
package enum RemoteKeyPath {
    /// `contact.email` → `contact`, `email`; `@odata\.etag` → `@odata.etag`.
    package static func keys(_ text: String) -> [String] {
        guard text.utf8.contains(.backslash) else {
            return text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        }
        var keys: [[UInt8]] = [[]]
        var isEscaped = false
        let bytes = Array(text.utf8)
        for (index, byte) in bytes.enumerated() {
            if isEscaped {
                keys[keys.count - 1].append(byte)
                isEscaped = false
            } else if byte == .backslash, index + 1 < bytes.count, isSpecial(bytes[index + 1]) {
                isEscaped = true
            } else if byte == .point {
                keys.append([])
            } else {
                keys[keys.count - 1].append(byte)
            }
        }
        return keys.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The remote key that leads through keys.
    package static func text(_ keys: some Sequence<String>) -> String {
        keys.map(escaped).joined(separator: ".")
    }

    /// The remote key that is one key, as it is.
    package static func escaped(_ key: String) -> String {
        guard key.utf8.contains(where: isSpecial) else { return key }
        let bytes = Array(key.utf8)
        var escaped: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isLast = index + 1 == bytes.count
            if byte == .point || byte == .backslash && (isLast || isSpecial(bytes[index + 1])) {
                escaped.append(.backslash)
            }
            escaped.append(byte)
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func isSpecial(_ byte: UInt8) -> Bool { byte == .point || byte == .backslash }
}
