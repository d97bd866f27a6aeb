package import GRDB
package import SyncCore

extension RowKey {
    /// Whether it was made here, because the row has no remote key yet.
    var isLocal: Bool { LocalKey.isLocal(databaseValue) }

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
