import Foundation
package import GRDB

/// Keys made here for rows that have none of the service's yet.
package enum LocalKey {
    /// Every integer key below this is local.
    package static let integerBound: Int64 = -(1 << 62)
    private static let prefix = "local-"

    /// Whether a key column's value is a local key, which as an attribute reads as nil.
    package static func isLocal(_ value: DatabaseValue) -> Bool {
        switch value.storage {
        case .int64(let value): value < integerBound
        case .string(let text):
            text.utf8.count == prefix.utf8.count + 36 && text.hasPrefix(prefix)
                && UUID(uuidString: String(text.dropFirst(prefix.count))) != nil
        case .null, .double, .blob: false
        }
    }

    static func text() -> String { prefix + UUID().uuidString }
}
