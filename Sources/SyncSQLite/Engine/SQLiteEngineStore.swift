import Foundation
import GRDB
package import SyncCore
package import SyncStore

/// What a two-way engine asks of a store: each call is one transaction, in a file of its own.
package struct SQLiteEngineStore: EngineStore {
    let stack: DataStack
    let registration: EngineRegistration
    /// In the order of the registration.
    let tables: [TrackedTable]
    /// Those of entities that other engines of the database keep in step.
    let otherTables: [TrackedTable]
    /// The tables whose rows a list in a record unlinks, and does not delete.
    var unlinkedTables: Set<TableID> { Set((tables + otherTables).map(\.entity.table)) }
    let tableByName: [String: TrackedTable]
    let memory = EngineMemory()

    init(
        _ stack: DataStack, _ registration: EngineRegistration, _ tables: [TrackedTable], others: [TrackedTable]
    ) {
        self.stack = stack
        self.registration = registration
        self.tables = tables
        otherTables = others
        tableByName = Dictionary(tables.map { ($0.entity.name, $0) }) { first, _ in first }
    }

    package var model: SyncModel { stack.model }
    package var memberPaths: [String: [[String]]] { tableByName.mapValues(\.memberPaths) }

    static var now: Int64 { Int64((Date().timeIntervalSince1970 * 1000).rounded()) }

    func table(_ entity: String) throws -> TrackedTable {
        guard let table = tableByName[entity] else {
            throw SyncError(.unknownEntity, "'\(entity)' is not registered with the engine", entity: entity)
        }
        return table
    }

    /// The registered table that a row is of which another one points to; nil for rows that are not kept in step.
    func table(
        _ destination: TableID?, holding key: DatabaseValue, in db: Database
    ) throws -> TrackedTable? {
        try table(destination, holding: key, among: tables, in: db)
    }

    /// The table among some that a row is of which another one points to.
    func table(
        _ destination: TableID?, holding key: DatabaseValue, among tables: [TrackedTable], in db: Database
    ) throws -> TrackedTable? {
        let tables = tables.filter { $0.entity.table == destination }
        if tables.count == 1, let table = tables.first, !table.isPart { return table }
        return try tables.first { try $0.isStored(key, in: db) }
    }

    /// What a row is called to which another one points.
    func id(_ key: DatabaseValue, of destination: TableID?, in db: Database) throws -> JSONValue {
        guard let table = try table(destination, holding: key, in: db) else { return key.json }
        return try table.recordKey(key, in: db).json
    }

    /// Where keys of a table stand as those of other rows: foreign keys, and both sides of join tables.
    func references(to table: TrackedTable) -> [(link: CompiledAssociation, names: LinkTable)] {
        model.compiled.links.flatMap { link in
            [CompiledAssociation.End.first, .second].compactMap { end in
                // A foreign key is at the first end, and holds a key of the second.
                guard link.side(end).table == table.entity.table, link.storage == .joinTable || end == .second else {
                    return nil
                }
                return (link, LinkTable(link, end, stack.layout))
            }
        }
    }

    /// Forgets edits of a row, and what is known of it.
    func forget(_ key: DatabaseValue, _ table: TrackedTable, isKnown: Bool = false, in db: Database) throws {
        for name in ["sync_change", "sync_base", "sync_tried"] + (isKnown ? [] : ["sync_known", "sync_unread"]) {
            try db.executeCached(sql: "DELETE FROM \(name) WHERE e = ? AND k = ?", arguments: [table.number, key])
        }
        if !isKnown {
            try db.executeCached(
                sql: "DELETE FROM sync_alias WHERE e = ? AND k = ?", arguments: [table.number, key])
        }
        for pairs in table.pairs {
            try db.executeCached(
                sql: "DELETE FROM sync_link WHERE link = ? AND owner = ?", arguments: [pairs.name, key])
        }
    }

    /// The server has a row: a creation of it that was refused, and might have been carried out before, was; and one that it took.
    func answerOpen(_ key: DatabaseValue, _ table: TrackedTable, in db: Database) throws {
        let open = "FROM sync_request WHERE e = ? AND k = ? AND kind = 'create' AND (attempts > 0 OR taken IS NOT NULL)"
        try db.executeCached(
            sql: "DELETE FROM sync_sent WHERE request IN (SELECT id \(open))", arguments: [table.number, key])
        try db.executeCached(sql: "DELETE \(open)", arguments: [table.number, key])
    }

    // MARK: Transactions

    /// One transaction of a run: refused to a run whose database another has taken meanwhile.
    ///
    /// - Parameter keepsMemory: Whether what the engine has in memory is true after it as before.
    func writing<T: Sendable>(
        _ lease: EngineLease, keepsMemory: Bool = false, _ body: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await transaction(keepsMemory: keepsMemory) { [stack] db in
            try stack.watch.bringingRowsBySyncs(db) {
                try LeaseStore.check(lease, in: db)
                return try body(db)
            }
        }
    }

    func reading<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await stack.reading { db in try EngineDamage.located(in: db) { try body(db) } }
    }

    func transaction<T: Sendable>(
        keepsMemory: Bool = false, _ body: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        let (watch, isAdopted) = (stack.watch, stack.isAdopted)
        return try await DatabaseErrorMapper.mapped(.storeFailure, "the store cannot be written") { [memory] in
            try await stack.database.write { db in
                try watch.check(db)
                return try EngineDamage.located(in: db) {
                    try memory.during(db, isKept: keepsMemory) {
                        try DeferredForeignKeys.during(db, isAdopted) { try body(db) }
                    }
                }
            }
        }
    }

    /// Writes that the triggers take no notice of: the row that says so is never committed, so no other connection sees it.
    func muted<T>(in db: Database, _ body: () throws -> T) throws -> T {
        var result: T?
        try db.inSavepoint {
            try CaptureSuppression.writing.set(in: db)
            result = try body()
            try db.executeCached(sql: "DELETE FROM \"sync_mute\"")
            return .commit
        }
        guard let result else { throw SyncError(.storeFailure, "the transaction ended early") }
        return result
    }
}

extension DataStack {
    /// Makes what an engine needs in the database, if it is not there: tables, triggers, and what stored rows count as.
    ///
    /// - Throws: ``SyncError`` `otherService`, `otherUser` for a database that is in step with another service or user;
    ///   `unknownEntity`, `invalidOption` for entities that cannot be kept in step.
    package func engine(_ registration: EngineRegistration) throws -> SQLiteEngineStore {
        var (tables, others): ([TrackedTable], [TrackedTable]) = ([], [])
        try DatabaseErrorMapper.mapped(.storeFailure, "the engine's tables cannot be created") {
            try database.write { db in
                try watch.check(db)
                try EngineDamage.located(in: db) {
                    (tables, others) = try EngineSetup(self, registration, db).open()
                }
            }
        }
        return SQLiteEngineStore(self, registration, tables, others: others)
    }
}
