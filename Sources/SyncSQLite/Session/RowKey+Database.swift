package import GRDB
package import SyncCore
import SyncStore

extension RowKey {
    package var databaseValue: DatabaseValue {
        switch self {
        case .integer(let value): value.databaseValue
        case .real(let value): value.databaseValue
        case .text(let text): text.databaseValue
        }
    }

    package init?(_ value: DatabaseValue) {
        switch value.storage {
        case .int64(let value): self = .integer(value)
        case .double(let value): self = .real(value)
        case .string(let text): self = .text(text)
        case .null, .blob: return nil
        }
    }
}

extension LocalKey {
    /// Whether a key column's value is a local key, which as an attribute reads as nil.
    static func isLocal(_ value: DatabaseValue) -> Bool { RowKey(value)?.isLocal ?? false }
}
