import GRDB

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
        // In KiB if it is negative.
        let current = try Int.fetchOne(db, sql: "PRAGMA cache_size") ?? 0
        guard -current < size else { return }
        try set(size, db)
        db.afterNextTransaction(onCommit: { try? set(Self.size, $0) }, onRollback: { try? set(Self.size, $0) })
    }
}
