import Foundation
package import SyncCore

/// Keys made here for rows that have none of the service's yet.
package enum LocalKey {
    /// Every integer key below this is local.
    package static let integerBound: Int64 = -(1 << 62)
    /// How a local text key begins. A UUID follows.
    package static let prefix = "local-"
    /// How many hexadecimal digits the parts of the UUID have. Hyphens separate the parts.
    package static let digits = [8, 4, 4, 4, 12]

    package static func text() -> String { prefix + UUID().uuidString }

    /// Whether a text is a local key: all that decides so in another way, as a condition in SQL, is made of the same parts.
    package static func isLocal(_ text: String) -> Bool {
        var rest = Substring(text).utf8
        guard rest.starts(with: prefix.utf8) else { return false }
        rest = rest.dropFirst(prefix.utf8.count)
        let parts = rest.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.map(\.count) == digits
            && parts.joined().allSatisfy { Unicode.Scalar($0).properties.isASCIIHexDigit }
    }
}

extension RowKey {
    /// Whether it was made here, because the row has no remote key yet.
    package var isLocal: Bool {
        switch self {
        case .integer(let value): value < LocalKey.integerBound
        case .text(let text): LocalKey.isLocal(text)
        case .real: false
        }
    }
}
