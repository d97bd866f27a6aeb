import Foundation
package import SyncCore

/// Keys made here for rows that have none of the service's yet.
package enum LocalKey {
    /// Every integer key below this is local.
    package static let integerBound: Int64 = -(1 << 62)
    private static let prefix = "local-"

    package static func text() -> String { prefix + UUID().uuidString }

    fileprivate static func isLocal(_ text: String) -> Bool {
        text.utf8.count == prefix.utf8.count + 36 && text.hasPrefix(prefix)
            && UUID(uuidString: String(text.dropFirst(prefix.count))) != nil
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
