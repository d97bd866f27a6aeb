import Foundation
import GRDB
import SyncCore

/// How much of a store SQLite keeps in memory, per connection.
enum PageCache {
    /// What a connection has, in KiB.
    static let size = 8192
    /// What the writer has while it writes very many rows or reads a payload in pieces, in KiB.
    static let largeSize = 65_536
    /// Bytes per new row: about an entry of each of its indexes, which are entered out of order.
    private static let bytesPerRow = 16

    static func set(_ size: Int, _ db: Database) throws {
        try db.execute(sql: "PRAGMA cache_size = -\(size)")
    }

    /// Makes room for the indexes of new rows, until the transaction ends: a page that an index needs again and that was
    /// let go meanwhile is written to the log and read from it each time.
    static func grow(forInserting rowCount: Int, _ db: Database) throws {
        let wanted = min(rowCount * bytesPerRow / 1024, largeSize)
        if wanted > size { try grow(to: wanted, db) }
    }

    /// Enlarges the cache until the transaction ends, if it is smaller.
    static func grow(to size: Int, _ db: Database) throws {
        // In KiB if it is negative, else in pages.
        let current = try Int.fetchOne(db, sql: "PRAGMA cache_size") ?? 0
        let pageSize = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 4096
        guard (current < 0 ? -current : current * pageSize / 1024) < size else { return }
        try set(size, db)
        let connection = ObjectIdentifier(db)
        guard grown.withLock({ $0.insert(connection).inserted }) else { return }
        // Not what it is until then: it may grow once more.
        let restore: @Sendable (Database) -> Void = { db in
            grown.withLock { $0.remove(connection) }
            try? db.execute(sql: "PRAGMA cache_size = \(current)")
        }
        db.afterNextTransaction(onCommit: restore, onRollback: restore)
    }

    /// The connections whose cache is larger than it was, until their transaction ends.
    private static let grown = Locked<Set<ObjectIdentifier>>([])
}
