import Foundation
import GRDB
import SyncCore
import SyncStore

/// Grants the lease, with which one engine at a time may run. The lease of a process that died expires.
///
/// Each new lease has a higher token, and a transaction with a lower token fails. So a clock that jumps can end a run,
/// but two runs never write at the same time.
enum LeaseStore {
    /// How long a lease lasts after its last renewal, in milliseconds.
    private static let duration: Int64 = 120_000

    /// Takes the lease. Throws ``SyncError`` `engineBusy` if another engine holds the lease.
    static func acquire(_ name: String, in db: Database) throws -> EngineLease {
        let holder = LeaseHolder(name: name).text
        let now = try db.now()
        let row = try db.row("SELECT holder, token, until FROM sync_lease WHERE name = 'run'")
        let current: (holder: String, until: Int64) = try (row?.decode(atIndex: 0) ?? "", row?.decode(atIndex: 2) ?? 0)
        // A lease that ends after `now + duration` comes from a wrong clock.
        let isTaken = current.until > now && current.until <= now + duration
        if isTaken, current.holder != holder, !current.holder.isEmpty, !LeaseHolder(current.holder).isDead {
            throw SyncError(.engineBusy, "another engine is syncing this database; try again when it has finished")
        }
        let last: Int64? = try row?.decode(atIndex: 1)
        // The first token differs from the tokens of a removed sync state, so that its runs end.
        let token = (last ?? now) &+ 1
        try db.run(
            """
            INSERT INTO sync_lease (name, holder, token, until) VALUES ('run', ?, ?, ?)
            ON CONFLICT DO UPDATE SET holder = excluded.holder, token = excluded.token, until = excluded.until
            """, holder, token, now + duration)
        return EngineLease(token: token)
    }

    /// Extends a lease. A released lease stays released. Throws the errors of ``check(_:in:)``.
    static func renew(_ lease: EngineLease, in db: Database) throws {
        try check(lease, in: db)
        try db.run(
            "UPDATE sync_lease SET until = ? WHERE name = 'run' AND token = ? AND holder <> ''",
            db.now() + duration, lease.token)
    }

    /// Checks that no other run took the lease. Returns the current time and when the lease ends, in milliseconds since
    /// 1970. Throws ``SyncError`` `engineBusy` if another run has taken the lease.
    @discardableResult
    static func checkHolder(of lease: EngineLease, in db: Database) throws -> (now: Int64, end: Int64) {
        let row = try db.row("SELECT token, \(Database.nowSQL), until FROM sync_lease WHERE name = 'run'")
        let token: Int64? = try row?.decode(atIndex: 0)
        guard let row, token == lease.token else {
            throw SyncError(.engineBusy, "another engine took over the lease of this database; this engine run stops")
        }
        return try (row.decode(atIndex: 1), row.decode(atIndex: 2))
    }

    /// Checks that no other run took the lease. Extends the lease if less than half of its time is left. Throws
    /// ``SyncError`` `engineBusy` if another run has taken the lease.
    static func check(_ lease: EngineLease, in db: Database) throws {
        let (now, end) = try checkHolder(of: lease, in: db)
        if end < now + duration / 2 {
            try db.run("UPDATE sync_lease SET until = ? WHERE name = 'run'", now + duration)
        }
    }

    static func free(_ lease: EngineLease, in db: Database) throws {
        try db.run("UPDATE sync_lease SET holder = '', until = 0 WHERE name = 'run' AND token = ?", lease.token)
    }
}

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// The holder of a lease, as the text `host pid name`. If its process is known to be dead, another engine run may take
/// the lease before it expires.
struct LeaseHolder {
    let text: String

    init(_ text: String) { self.text = text }

    /// Creates the holder for one engine run of this process.
    init(name: String) { text = "\(Self.host) \(ProcessInfo.processInfo.processIdentifier) \(name)" }

    private static let host = ProcessInfo.processInfo.hostName.replacingOccurrences(of: " ", with: "-")

    /// Whether the process is known to be dead: it ran on this machine, and no process has its ID any more. If a new
    /// process has the ID, the value is false, and the lease must expire. On Windows the value is always false.
    var isDead: Bool {
        #if os(Windows)
            return false
        #else
            let parts = text.split(separator: " ")
            guard parts.count == 3, parts[0] == Self.host, let id = Int32(parts[1]), id > 0 else { return false }
            return kill(id, 0) != 0 && errno == ESRCH
        #endif
    }
}
