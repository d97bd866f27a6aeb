import GRDB
import SyncCore
import SyncStore

/// Who may run: one process at a time. A run that died is over when its time is up; a clock that jumps costs a run, since
/// whoever takes the database raises the token, and the other's next transaction is refused.
enum LeaseStore {
    /// How long a run may be silent, in milliseconds.
    private static let duration: Int64 = 120_000

    /// - Throws: ``SyncError`` `engineBusy`.
    static func take(_ name: String, in db: Database) throws -> EngineLease {
        let holder = LeaseHolder(name: name).text
        let now = SQLiteEngineStore.now
        let row = try db.rowCached(sql: "SELECT holder, token, until FROM sync_lease WHERE name = 'run'")
        let current: (holder: String, until: Int64) = try (row?.decode(atIndex: 0) ?? "", row?.decode(atIndex: 2) ?? 0)
        // Nobody is given more time than that: a later end is of a clock that was wrong.
        let isTaken = current.until > now && current.until <= now + duration
        if isTaken, current.holder != holder, !current.holder.isEmpty, !LeaseHolder(current.holder).isDead {
            throw SyncError(.engineBusy, "another engine is syncing this database; try again once it is done")
        }
        let last: Int64? = try row?.decode(atIndex: 1)
        let token = (last ?? 0) &+ 1
        try db.executeCached(
            sql: """
                INSERT INTO sync_lease (name, holder, token, until) VALUES ('run', ?, ?, ?)
                ON CONFLICT DO UPDATE SET holder = excluded.holder, token = excluded.token, until = excluded.until
                """,
            arguments: [holder, token, now + duration])
        return EngineLease(token: token)
    }

    /// Says that a run goes on. One that is over stays over.
    ///
    /// - Throws: As ``check(_:in:)``.
    static func renew(_ lease: EngineLease, in db: Database) throws {
        try check(lease, in: db)
        try db.executeCached(
            sql: "UPDATE sync_lease SET until = ? WHERE name = 'run' AND token = ? AND holder <> ''",
            arguments: [SQLiteEngineStore.now + duration, lease.token])
    }

    /// - Throws: ``SyncError`` `engineBusy` for a run whose database another process has.
    static func check(_ lease: EngineLease, in db: Database) throws {
        let row = try db.rowCached(sql: "SELECT token, until FROM sync_lease WHERE name = 'run'")
        let token: Int64? = try row?.decode(atIndex: 0)
        guard let row, token == lease.token else {
            throw SyncError(.engineBusy, "another process took the database over; this run ends here")
        }
        let now = SQLiteEngineStore.now
        let until: Int64 = try row.decode(atIndex: 1)
        if until < now + duration / 2 {
            try db.execute(sql: "UPDATE sync_lease SET until = ? WHERE name = 'run'", arguments: [now + duration])
        }
    }

    static func free(_ lease: EngineLease, in db: Database) throws {
        try db.executeCached(
            sql: "UPDATE sync_lease SET holder = '', until = 0 WHERE name = 'run' AND token = ?",
            arguments: [lease.token])
    }
}
