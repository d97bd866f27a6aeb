import GRDB
import SyncCore
import Testing

@testable import SyncSQLite

@Suite("What a store knows from one transaction to the next")
struct StoreMonitorTests {
    private typealias Moment = StoreMonitor.Moment
    private let stack: DataStack
    private let tables: Set<TableID> = [TableID(1), TableID(2)]

    init() throws { stack = try DataStack.inMemory(Models.links()) }

    private func settle(_ tables: Set<TableID>, in db: Database, isOwn: Bool = true) throws {
        try stack.watch.visit(db, isOwn: isOwn).settle(tables, since: Moment(db))
    }

    private func settled(isOwn: Bool = true) throws -> Set<TableID> {
        try stack.write { db in try stack.watch.visit(db, isOwn: isOwn).settled(at: Moment(db)) }
    }

    private func insert(_ id: Int, in db: Database) throws {
        try db.execute(sql: "INSERT INTO Photo (id) VALUES (?)", arguments: [id])
    }

    // MARK: Settled tables

    @Test("Tables are settled until anything is written")
    func settledTables() throws {
        #expect(try settled().isEmpty)
        try stack.write { db in try settle(tables, in: db) }
        #expect(try settled() == tables)
        try stack.write { db in try insert(1, in: db) }
        #expect(try settled().isEmpty)
    }

    @Test("They still are when what a sync wrote is taken back")
    func takenBack() throws {
        struct Refusal: Error {}
        try stack.write { db in try settle(tables, in: db) }
        #expect(throws: Refusal.self) {
            try stack.write { db in
                let (visit, start) = (try stack.watch.visit(db, isOwn: true), try Moment(db))
                try insert(1, in: db)
                visit.settle([], since: start)
                throw Refusal()
            }
        }
        #expect(try settled() == tables)
    }

    @Test("They are not if others had written before")
    func writtenBefore() throws {
        struct Refusal: Error {}
        try stack.write { db in try settle(tables, in: db) }
        #expect(throws: Refusal.self) {
            try stack.write { db in
                try insert(1, in: db)
                try settle([], in: db)
                throw Refusal()
            }
        }
        #expect(try settled().isEmpty)
    }

    @Test("What is learnt in a caller's transaction is forgotten")
    func callers() throws {
        try stack.write { db in
            try settle(tables, in: db, isOwn: false)
            try stack.watch.visit(db, isOwn: false)
                .keep(StoreMonitor.ValidLinks(checked: [AssociationID(1)], sound: [AssociationID(1)]), at: Moment(db))
        }
        #expect(try settled().isEmpty && links().sound.isEmpty)
        try stack.write { db in try settle(tables, in: db) }
        #expect(try settled(isOwn: false).isEmpty)
    }

    // MARK: Runs of an engine

    @Test("They stay settled in a transaction to which rows come by syncs alone")
    func run() throws {
        try stack.write { db in try settle(tables, in: db) }
        try stack.write { db in
            try stack.watch.bringingRowsBySyncs(db) {
                try insert(1, in: db)
                #expect(try stack.watch.visit(db, isOwn: true).settled(at: Moment(db)) == tables)
            }
        }
        #expect(try settled() == tables)
    }

    @Test("They are settled no more once a row came by other means", arguments: [false, true])
    func arrival(aSyncWasBefore: Bool) throws {
        try stack.write { db in try settle(tables, in: db) }
        try stack.write { db in
            try stack.watch.bringingRowsBySyncs(db) {
                if aSyncWasBefore { try settle(tables, in: db) }
                try insert(1, in: db)
                stack.watch.recordArrival(in: db)
                #expect(try stack.watch.visit(db, isOwn: true).settled(at: Moment(db)).isEmpty)
            }
        }
        #expect(try settled().isEmpty)
    }

    @Test("They are settled by a sync after that")
    func syncAfterArrival() throws {
        try stack.write { db in
            try stack.watch.bringingRowsBySyncs(db) {
                try settle([], in: db)
                try insert(1, in: db)
                stack.watch.recordArrival(in: db)
                try settle(tables, in: db)
                try insert(2, in: db)
            }
        }
        #expect(try settled() == tables)
    }

    // MARK: Sound links

    private func links() throws -> StoreMonitor.ValidLinks {
        try stack.write { db in try stack.watch.visit(db, isOwn: true).soundLinks(at: Moment(db)) }
    }

    private func keep(_ links: Set<AssociationID>, dataVersion: Int = 0, in db: Database) throws {
        var moment = try Moment(db)
        moment.dataVersion += dataVersion
        try stack.watch.visit(db, isOwn: true).keep(StoreMonitor.ValidLinks(checked: links, sound: links), at: moment)
    }

    @Test("Links stay sound when this connection writes, and until another commits")
    func soundLinks() throws {
        try stack.write { db in
            try keep([AssociationID(1)], in: db)
            try insert(1, in: db)
            try keep([AssociationID(2)], in: db)
        }
        #expect(try links().sound == [AssociationID(1), AssociationID(2)])
        try stack.write { db in try keep([AssociationID(3)], dataVersion: 1, in: db) }
        #expect(try links().sound.isEmpty)
    }

    @Test("Links that were mended in a transaction which is taken back are not sound")
    func mendedLinks() throws {
        struct Refusal: Error {}
        #expect(throws: Refusal.self) {
            try stack.write { db in
                try keep([AssociationID(1)], in: db)
                throw Refusal()
            }
        }
        #expect(try links().sound.isEmpty)
    }

    // MARK: Unique indexes

    /// What is there of indexes while those of others are deferred.
    private func indexes() throws -> (during: Int, after: Int) {
        try stack.write { db in
            func count() throws -> Int {
                try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema WHERE name = 'mine'") ?? 0
            }
            let visit = try stack.watch.visit(db, isOwn: true)
            return (try visit.deferringUniqueIndexes(of: stack.layout, count), try count())
        }
    }

    @Test("A unique index that others make between two transactions is deferred in the second")
    func addedIndex() throws {
        #expect(try indexes() == (0, 0))
        try stack.write { db in try db.execute(sql: "CREATE UNIQUE INDEX mine ON User (name)") }
        #expect(try indexes() == (0, 1))
        #expect(try indexes() == (0, 1))
        try stack.write { db in try db.execute(sql: "DROP INDEX mine; CREATE INDEX mine ON User (name)") }
        #expect(try indexes() == (1, 1))
    }
}
