import SyncCore
import SyncSQLite

/// A stored row as the matcher sees it.
struct FoundRow: Sendable {
    /// The row's own entity, which may be a child of the one it was fetched as.
    var entity: String
    /// By attribute name; nil attributes are there as null.
    var values: [String: StoredValue]
    /// The record it was made from, to follow its links.
    var record: SyncRecord?
}

/// Follows the links of rows.
protocol RowSource: Sendable {
    /// The rows a relationship leads to, in the order of the relationship.
    func targets(of row: FoundRow, along relationship: String) async throws -> [FoundRow]
}
