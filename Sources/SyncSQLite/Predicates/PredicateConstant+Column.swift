import GRDB
import SyncCore

extension PredicateConstant {
    /// The value as a column holds it.
    var columnValue: DatabaseValue {
        switch self {
        case .integer(let value): value.databaseValue
        case .exact(let value): value.text.map(\.databaseValue) ?? .null
        case .double(let value): value.databaseValue
        case .boolean(let value): (value ? 1 : 0).databaseValue
        case .instant(let milliseconds): DateText.string(milliseconds).databaseValue
        case .text(let text): text.databaseValue
        case .bytes(let data): data.databaseValue
        }
    }
}
