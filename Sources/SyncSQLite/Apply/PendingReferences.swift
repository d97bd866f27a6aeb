import GRDB
import SyncCore

/// References to rows that are not there yet: those this payload makes, and whether the store remembers any.
struct PendingReferences {
    /// A reference as the store remembers it, but for its position in the list of ids.
    struct Reference: Hashable {
        var owner: StoredRow
        var ownerEntity: Int
        var relationship: String
        var targetEntity: Int
        var target: RowKey
    }

    /// Whether the store remembered references when the sync began.
    let hasStored: Bool
    private(set) var noted: [(assertion: LinkBatch.Assertion, link: Int)] = []

    init(_ db: Database) throws {
        hasStored = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM sync_pending)") ?? false
    }

    mutating func note(_ assertion: LinkBatch.Assertion, _ link: Int) { noted.append((assertion, link)) }
}
