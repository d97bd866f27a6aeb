import GRDB
import SyncCore
import Testing

@testable import SyncSQLite

@Suite("Store monitor")
struct StoreMonitorTests {
    private typealias Moment = StoreMonitor.Moment
    private let stack: DataStack
    private let tables: Set<TableID> = [TableID(1), TableID(2)]

    init() throws { stack = try DataStack.inMemory(Models.links()) }

    private func settle(_ tables: Set<TableID>, in db: Database, isOwn: Bool = true) throws {
        try stack.watch.visit(db, isOwn: isOwn).setResolvedTables(tables, since: Moment(db))
    }

    private func settled(isOwn: Bool = true) throws -> Set<TableID> {
        try stack.write { db in try stack.watch.visit(db, isOwn: isOwn).resolvedTables(at: Moment(db)) }
    }

    private func insert(_ id: Int, in db: Database) throws {
        try db.execute(sql: "INSERT INTO Photo (id) VALUES (?)", arguments: [id])
    }

    // MARK: Settled tables

    @Test("Tables are settled until anything is written")
    func tablesAreSettledUntilWrite() throws {
        #expect(try settled().isEmpty)
        try stack.write { db in try settle(tables, in: db) }
        #expect(try settled() == tables)
        try stack.write { db in try insert(1, in: db) }
        #expect(try settled().isEmpty)
    }

    @Test("Tables stay settled if the writes of a sync are rolled back")
    func rolledBackSyncKeepsSettledTables() throws {
        struct Refusal: Error {}
        try stack.write { db in try settle(tables, in: db) }
        #expect(throws: Refusal.self) {
            try stack.write { db in
                let (visit, start) = (try stack.watch.visit(db, isOwn: true), try Moment(db))
                try insert(1, in: db)
                visit.setResolvedTables([], since: start)
                throw Refusal()
            }
        }
        #expect(try settled() == tables)
    }

    @Test("Tables are not settled after a rollback if other writes came before the sync")
    func otherWritesUnsettleTables() throws {
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

    @Test("Nothing is remembered of a caller's transaction")
    func forgetsCallersTransaction() throws {
        try stack.write { db in
            try settle(tables, in: db, isOwn: false)
            try stack.watch.visit(db, isOwn: false)
                .storeValidLinks(
                    StoreMonitor.ValidLinks(checked: [AssociationID(1)], valid: [AssociationID(1)]), at: Moment(db))
        }
        #expect(try settled().isEmpty && links().valid.isEmpty)
        try stack.write { db in try settle(tables, in: db) }
        #expect(try settled(isOwn: false).isEmpty)
    }

    // MARK: Engine runs

    @Test("Tables stay settled in a transaction in which only syncs add rows")
    func onlySyncsAddRows() throws {
        try stack.write { db in try settle(tables, in: db) }
        try stack.write { db in
            try stack.watch.insertingRowsOnlyBySyncs(db, since: StoreMonitor.Moment(db)) {
                try insert(1, in: db)
                #expect(try stack.watch.visit(db, isOwn: true).resolvedTables(at: Moment(db)) == tables)
            }
        }
        #expect(try settled() == tables)
    }

    @Test("Tables are not settled after a row was added by other means", arguments: [false, true])
    func otherRowsUnsettleTables(aSyncWasBefore: Bool) throws {
        try stack.write { db in try settle(tables, in: db) }
        try stack.write { db in
            try stack.watch.insertingRowsOnlyBySyncs(db, since: StoreMonitor.Moment(db)) {
                if aSyncWasBefore { try settle(tables, in: db) }
                try insert(1, in: db)
                stack.watch.recordArrival(in: db)
                #expect(try stack.watch.visit(db, isOwn: true).resolvedTables(at: Moment(db)).isEmpty)
            }
        }
        #expect(try settled().isEmpty)
    }

    @Test("A sync after such a row settles the tables again")
    func laterSyncSettlesTables() throws {
        try stack.write { db in
            try stack.watch.insertingRowsOnlyBySyncs(db, since: StoreMonitor.Moment(db)) {
                try settle([], in: db)
                try insert(1, in: db)
                stack.watch.recordArrival(in: db)
                try settle(tables, in: db)
                try insert(2, in: db)
            }
        }
        #expect(try settled() == tables)
    }

    // MARK: Valid links

    private func links() throws -> StoreMonitor.ValidLinks {
        try stack.write { db in try stack.watch.visit(db, isOwn: true).validLinks(at: Moment(db)) }
    }

    private func keep(_ links: Set<AssociationID>, dataVersion: Int = 0, in db: Database) throws {
        var moment = try Moment(db)
        moment.dataVersion += dataVersion
        try stack.watch.visit(db, isOwn: true).storeValidLinks(
            StoreMonitor.ValidLinks(checked: links, valid: links), at: moment)
    }

    @Test("Links stay valid until another connection commits")
    func linksStayValidUntilOtherCommit() throws {
        try stack.write { db in
            try keep([AssociationID(1)], in: db)
            try insert(1, in: db)
            try keep([AssociationID(2)], in: db)
        }
        #expect(try links().valid == [AssociationID(1), AssociationID(2)])
        try stack.write { db in try keep([AssociationID(3)], dataVersion: 1, in: db) }
        #expect(try links().valid.isEmpty)
    }

    @Test("Links stay valid until this connection commits with foreign keys off", arguments: [false, true])
    func linksStayValidWithForeignKeys(areOn: Bool) throws {
        try stack.write { db in try keep([AssociationID(1)], in: db) }
        try stack.database.writer.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = \(areOn ? "ON" : "OFF")")
            try insert(1, in: db)
            try db.execute(sql: "PRAGMA foreign_keys = ON")
        }
        let expected: Set<AssociationID> = areOn ? [AssociationID(1)] : []
        #expect(try links().valid == expected)
    }

    @Test("Links that were repaired in a rolled back transaction are not valid")
    func rolledBackRepairIsForgotten() throws {
        struct Refusal: Error {}
        #expect(throws: Refusal.self) {
            try stack.write { db in
                try keep([AssociationID(1)], in: db)
                throw Refusal()
            }
        }
        #expect(try links().valid.isEmpty)
    }

    // MARK: Unique indexes

    /// Returns the number of the app's indexes while unique indexes are deferred, and afterwards.
    private func indexes() throws -> (during: Int, after: Int) {
        try stack.write { db in
            func count() throws -> Int {
                try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema WHERE name = 'mine'") ?? 0
            }
            let visit = try stack.watch.visit(db, isOwn: true)
            return (try visit.deferringUniqueIndexes(of: stack.layout, count), try count())
        }
    }

    @Test("A unique index that the app adds between two transactions is deferred in the second")
    func defersAddedUniqueIndex() throws {
        #expect(try indexes() == (0, 0))
        try stack.write { db in try db.execute(sql: "CREATE UNIQUE INDEX mine ON User (name)") }
        #expect(try indexes() == (0, 1))
        #expect(try indexes() == (0, 1))
        try stack.write { db in try db.execute(sql: "DROP INDEX mine; CREATE INDEX mine ON User (name)") }
        #expect(try indexes() == (1, 1))
    }
}
