import Foundation
import GRDB
import SyncCore
import SyncStore

/// The owner of the engine's entries of rows: the outbox, requests, known rows, base values, join edits and the progress
/// of pulls.
///
/// All statements that read or write these tables are in extensions of this type, in ``ChangeCaptureTriggers`` or in
/// ``EngineSchema``. Each method runs inside the transaction of its caller. The entries of a row have the number of its
/// entity (column `e`) and its key (column `k`, see ``TrackedKey``).
struct EngineLedger {
    let db: Database

    init(_ db: Database) { self.db = db }

    // MARK: Edit counter and clock

    /// Returns the edit counter. Each edit and each start of a listing increases it.
    func edit() throws -> Int64 { try db.first(Int64.self, "SELECT seq FROM sync_engine") ?? 0 }

    func increaseEdit() throws { try db.run("UPDATE sync_engine SET seq = seq + 1") }

    /// Returns the difference between the service's clock and the local clock, in milliseconds.
    func clockOffset() throws -> Int64 { try db.first(Int64.self, "SELECT clock FROM sync_engine") ?? 0 }

    func setClockOffset(_ offset: Int64) throws { try db.run("UPDATE sync_engine SET clock = ?", offset) }

    // MARK: Backoff

    /// Stores the delay before the next request. See ``EngineStore/finish(_:notBefore:attempts:_:)``.
    func setBackoff(notBefore: Int64?, attempts: Int) throws {
        try db.run(
            "UPDATE sync_engine SET not_before = ?, attempts = ? WHERE not_before IS NOT ? OR attempts <> ?", notBefore,
            attempts, notBefore, attempts)
    }

    /// Returns the edit counter, and the delay before the next request.
    func start() throws -> (edit: Int64, notBefore: Int64?, attempts: Int) {
        let row = try db.row("SELECT seq, not_before, attempts FROM sync_engine")
        return (try row?.decode(atIndex: 0) ?? 0, try row?.decode(atIndex: 1), try row?.decode(atIndex: 2) ?? 0)
    }

    // MARK: Service and user

    /// Returns the version of the engine's tables; nil if the entry is missing.
    func version() throws -> Int? { try db.first(Int.self, "SELECT protocol FROM sync_engine") }

    /// Returns the version of the tables, and the service and user that the database is synced with. Throws
    /// ``SyncError`` `databaseError` if the entry is missing.
    func scope() throws -> (version: Int, service: String, user: String) {
        guard let row = try db.row("SELECT protocol, service, user FROM sync_engine") else {
            throw SyncError(.databaseError, "the engine's tables are damaged: sync_engine has no row")
        }
        return (try row.decode(atIndex: 0), try row.decode(atIndex: 1), try row.decode(atIndex: 2))
    }

    func insertScope(service: String, user: String) throws {
        try db.run(
            "INSERT INTO sync_engine (id, protocol, service, user) VALUES (1, ?, ?, ?)", EngineSchema.version, service,
            user)
    }

    /// Assigns the database to another service or user, and discards the delay that the former service caused. Engines
    /// of the former service or user fail from then on.
    func setScope(service: String, user: String) throws {
        try db.run(
            "UPDATE sync_engine SET service = ?, user = ?, not_before = NULL, attempts = 0, identity = NULL", service,
            user)
    }

    /// Returns the identity of the sync state. Each new sync state, and each change of the service or user, has another
    /// identity. Nil if no engine was set up since.
    func identity() throws -> String? { try db.first(String.self, "SELECT identity FROM sync_engine") }

    /// Returns the identity of the sync state. Creates the identity if there is none.
    func createIdentity() throws -> String {
        if let identity = try identity() { return identity }
        let identity = try db.randomUUID().uuidString
        try db.run("UPDATE sync_engine SET identity = ?", identity)
        return identity
    }

    // MARK: Entities

    func entities() throws -> [(number: Int, name: String)] {
        try db.rows("SELECT e, name FROM sync_entity ORDER BY e").map {
            (try $0.decode(atIndex: 0), try $0.decode(atIndex: 1))
        }
    }

    func number(of entity: String) throws -> Int? {
        try db.first(Int.self, "SELECT e FROM sync_entity WHERE name = ?", entity)
    }

    func insertEntity(_ name: String) throws -> Int {
        try db.run("INSERT INTO sync_entity (name) VALUES (?)", name)
        return Int(db.lastInsertedRowID)
    }

    func renameEntity(_ number: Int, to name: String) throws {
        try db.run("UPDATE sync_entity SET name = ? WHERE e = ?", name, number)
    }

    func deleteEntity(_ number: Int) throws { try db.run("DELETE FROM sync_entity WHERE e = ?", number) }

    /// Returns the checksums of the triggers of an entity, as text. See ``TriggerChecksums``.
    func triggerChecksums(of number: Int) throws -> String {
        try db.first(String.self, "SELECT triggers FROM sync_entity WHERE e = ?", number) ?? ""
    }

    func setTriggerChecksums(_ text: String, of number: Int) throws {
        try db.run("UPDATE sync_entity SET triggers = ? WHERE e = ?", text, number)
    }

    /// Returns the recorded columns of an entity, as text. See ``PulledColumn``.
    func pulledColumns(of number: Int) throws -> String {
        try db.first(String.self, "SELECT columns FROM sync_entity WHERE e = ?", number) ?? ""
    }

    /// - Returns: Whether the text differs from the stored text.
    @discardableResult
    func setPulledColumns(_ text: String, of number: Int) throws -> Bool {
        try db.run("UPDATE sync_entity SET columns = ? WHERE e = ? AND columns <> ?", text, number, text)
        return db.changesCount > 0
    }
}

// Entries that get another key, and entries that are deleted with their row or their entity.
extension EngineLedger {
    // MARK: Deleting entries

    /// Deletes the entries of a row. See ``deleteEntries(of:_:isKnown:)-([DatabaseValue],_,_)``.
    func deleteEntries(of key: DatabaseValue, _ table: TrackedTable, isKnown: Bool = false) throws {
        try deleteEntries(of: [key], table, isKnown: isKnown)
    }

    /// Deletes the pending changes, base values, attempted values and join edits of rows. `isKnown` is whether the rows
    /// stay known. If false, their known versions, unreadable values and former keys are deleted too.
    func deleteEntries(of keys: [DatabaseValue], _ table: TrackedTable, isKnown: Bool = false) throws {
        for name in EngineSchema.changeTables + (isKnown ? [] : EngineSchema.knownTables) {
            try db.run("DELETE FROM \(name) WHERE e = \(table.number) AND k IN ", keys: keys)
        }
        guard !table.joinTables.isEmpty else { return }
        try db.run("DELETE FROM sync_link WHERE link IN (\(table.joinTableNames)) AND owner IN ", keys: keys)
    }

    /// Forgets the rows that were deleted before they were sent.
    func deleteUnsent() throws { try db.run("DELETE FROM sync_unsent") }

    /// Deletes all entries of an entity, except its row in `sync_entity` and its join edits. ``deleteJoinEdits(of:)``
    /// deletes the join edits.
    func deleteEntries(of number: Int) throws {
        try deleteEntries(in: EngineSchema.entityTables, of: number)
        try deleteOrphanedSentValues()
    }

    /// Deletes all entries of an entity's rows at the service: requests, changes, base values and known rows.
    func deleteServiceEntries(of number: Int) throws {
        try deleteEntries(in: EngineSchema.serviceTables, of: number)
        try deleteOrphanedSentValues()
    }

    /// Deletes the cursor, listing, tombstones and quarantined records of an entity.
    func deletePullEntries(of number: Int) throws { try deleteEntries(in: EngineSchema.pullTables, of: number) }

    /// Deletes the entries of a row whose key does not fit a new model, except in the conflict log.
    func deleteUnmappedEntries(of key: DatabaseValue, _ number: Int) throws {
        try deleteEntries(in: EngineSchema.rowTables.filter { $0 != "sync_conflict" }, of: number, key)
    }

    private func deleteEntries(in names: [String], of number: Int, _ key: DatabaseValue? = nil) throws {
        for name in names {
            let ofEntity = "DELETE FROM \(name) WHERE e = ?"
            if let key { try db.run("\(ofEntity) AND k = ?", number, key) } else { try db.run(ofEntity, number) }
        }
    }

    // MARK: Replacing keys

    func keys(of number: Int) throws -> [DatabaseValue] {
        let selects = EngineSchema.rowTables.map { "SELECT k FROM \($0) WHERE e = \(number)" }
        return try db.values(selects.joined(separator: " UNION "))
    }

    /// Replaces the key of a row in all its entries, when the store gets another model.
    func migrateKey(_ old: DatabaseValue, to new: DatabaseValue, _ number: Int) throws {
        for name in EngineSchema.rowTables + ["sync_former_key"] {
            try db.run("UPDATE OR REPLACE \(name) SET k = ? WHERE e = ? AND k = ?", new, number, old)
        }
    }

    /// Replaces the key of a row in all entries, also in base values and sent values of rows that reference it. Records
    /// the former key. `tables` has the tables whose rows may reference the row.
    func rekey(_ old: DatabaseValue, to new: DatabaseValue, _ table: TrackedTable, among tables: [TrackedTable]) throws
    {
        let e = table.number
        // Log entries of a deletion belong to an earlier row with the same key.
        try moveEntries(in: EngineSchema.rowTables, from: old, to: new, e, " AND NOT \(ConflictLog.isDeletion)")
        for other in tables {
            for column in other.columns where column.destination == table.entity.table {
                try rekeyReferences(in: column, of: other, from: old, to: new)
            }
            for joinTable in other.joinTables {
                if other.entity.table == table.entity.table {
                    try rekeyJoinEdits(of: joinTable, .owner, from: old, to: new)
                }
                if joinTable.destination == table.entity.table {
                    try rekeyBaseOrders(of: joinTable, other, from: old, to: new)
                    try rekeyJoinEdits(of: joinTable, .other, from: old, to: new)
                }
            }
        }
        try db.run("UPDATE sync_former_key SET k = ? WHERE e = ? AND k = ?", new, e, old)
        try db.run(
            "INSERT INTO sync_former_key (e, old, k) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET k = excluded.k", e, old,
            new)
    }

    func deleteFormerKey(_ old: DatabaseValue, of table: TrackedTable) throws {
        try db.run("DELETE FROM sync_former_key WHERE e = ? AND old = ?", table.number, old)
    }

    /// Returns the current key of the row that had this key before; nil if no row had it. `entities` is the SQL of the
    /// numbers of the entities that the row may belong to: a list or a query.
    func laterKey(
        than key: DatabaseValue, ofEntities entities: String, from table: String = "sync_former_key"
    ) throws -> DatabaseValue? { try db.value("SELECT k FROM \(table) WHERE e IN (\(entities)) AND old = ?", key) }

    /// Corrects the entries after surrogate keys changed while changes were not captured. SQLite may have given the key
    /// of a deleted row to another row. `tables` has the tables whose rows may reference rows of the table.
    func repairSurrogateKeys(of table: TrackedTable, among tables: [TrackedTable]) throws {
        guard table.key.isSurrogate else { return }
        let moved = try movedSurrogateKeys(of: table)
        guard !moved.isEmpty else { return }
        for other in tables { try rekeyReferences(moved, to: table.entity.table, of: other) }
        // Move to unused keys first, since rows may have exchanged their keys.
        for (old, _) in moved { try moveSurrogateKey(old, to: "moved \(old)".databaseValue, table, among: tables) }
        for (old, new) in moved { try moveSurrogateKey("moved \(old)".databaseValue, to: new, table, among: tables) }
    }

    private func moveSurrogateKey(
        _ old: DatabaseValue, to new: DatabaseValue, _ table: TrackedTable, among tables: [TrackedTable]
    ) throws {
        try moveEntries(in: EngineSchema.surrogateKeyTables, from: old, to: new, table.number)
        for joinTable in table.joinTables { try rekeyJoinEdits(of: joinTable, .owner, from: old, to: new) }
        for joinTable in tables.flatMap(\.joinTables) where joinTable.destination == table.entity.table {
            try rekeyJoinEdits(of: joinTable, .other, from: old, to: new)
        }
    }

    /// Replaces the key of a row in tables. `ofLog` is the SQL condition of the entries of the conflict log.
    private func moveEntries(
        in names: [String], from old: DatabaseValue, to new: DatabaseValue, _ number: Int, _ ofLog: String = ""
    ) throws {
        for name in names {
            let condition = name == "sync_conflict" ? ofLog : ""
            try db.run("UPDATE OR REPLACE \(name) SET k = ? WHERE e = ? AND k = ?\(condition)", new, number, old)
        }
    }
}
