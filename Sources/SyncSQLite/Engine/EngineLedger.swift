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

    /// Assigns the database to another service or user, and discards the delay that the former service caused.
    func setScope(service: String, user: String) throws {
        try db.run("UPDATE sync_engine SET service = ?, user = ?, not_before = NULL, attempts = 0", service, user)
    }

    // MARK: Entities

    /// Returns the registered entities with their numbers, in the order of the numbers.
    func entities() throws -> [(number: Int, name: String)] {
        try db.rows("SELECT e, name FROM sync_entity ORDER BY e").map {
            (try $0.decode(atIndex: 0), try $0.decode(atIndex: 1))
        }
    }

    /// Returns the number of an entity; nil if it is not registered.
    func number(of entity: String) throws -> Int? {
        try db.first(Int.self, "SELECT e FROM sync_entity WHERE name = ?", entity)
    }

    /// Registers an entity, and returns its number.
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
