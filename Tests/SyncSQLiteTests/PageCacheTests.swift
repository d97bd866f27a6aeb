import GRDB
import Testing

@testable import SyncSQLite

@Suite("Page cache")
struct PageCacheTests {
    private func size(_ db: Database) throws -> Int? { try Int.fetchOne(db, sql: "PRAGMA cache_size") }

    @Test("The page cache grows for many rows until the transaction ends", arguments: [true, false])
    func growsUntilTransactionEnds(commits: Bool) throws {
        let queue = try DatabaseQueue(configuration: StoreFile.configuration())
        try queue.inDatabase { db in
            try db.inTransaction {
                try PageCache.grow(forInserting: 100, db)
                #expect(try size(db) == -PageCache.size)
                try PageCache.grow(forInserting: 1000, db)
                #expect(try size(db) == -4000)
                try PageCache.grow(forInserting: 100_000, db)
                #expect(try size(db) == -PageCache.insertionSize)
                try PageCache.grow(forInserting: 1_000_000, db)
                #expect(try size(db) == -15_625)
                try PageCache.grow(forInserting: 1_000_000_000, db)
                #expect(try size(db) == -PageCache.largeSize)
                return commits ? .commit : .rollback
            }
            #expect(try size(db) == -PageCache.size)
        }
    }

    @Test("Fewer rows do not shrink the page cache")
    func fewerRowsKeepSize() throws {
        let queue = try DatabaseQueue(configuration: StoreFile.configuration())
        try queue.inDatabase { db in
            try db.inTransaction {
                try PageCache.grow(to: PageCache.largeSize, db)
                try PageCache.grow(forInserting: 1_000_000, db)
                #expect(try size(db) == -PageCache.largeSize)
                return .commit
            }
        }
    }
}
