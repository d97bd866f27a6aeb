import GRDB
import SyncTesting

/// Does to a store what nobody should do to it: damages what it keeps for its fingerprints, and keeps it from noticing
/// writes.
enum FingerprintVandal {
    private static let tables = ["sync_fingerprints", "sync_fingerprint", "sync_fingerprint_seal", "sync_written"]

    /// Something done to one of the tables, or to a trigger.
    static func damage(_ random: inout SplitMix64, in db: Database) throws {
        let table = random.pick(tables)
        guard try db.tableExists(table) else { return }
        let column = try random.pick(db.columns(in: table)).name.quotedDatabaseIdentifier
        let row = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)").map { random.below(max($0, 1)) } ?? 0
        let one = "WHERE \(column) IN (SELECT \(column) FROM \(table) LIMIT 1 OFFSET \(row))"
        let damages = [
            "UPDATE OR IGNORE \(table) SET \(column) = substr(\(column), 1, 3) \(one)",
            "UPDATE OR IGNORE \(table) SET \(column) = zeroblob(length(\(column))) \(one)",
            "UPDATE OR IGNORE \(table) SET \(column) = \(column) || 'x' \(one)",
            "UPDATE OR IGNORE \(table) SET \(column) = \(column) + 1 \(one)",
            "UPDATE OR IGNORE \(table) SET \(column) = x'FF00FF' \(one)",
            "DELETE FROM \(table) \(one)",
            "DELETE FROM \(table)",
            "INSERT OR IGNORE INTO sync_fingerprint VALUES ('Nobody', 0, x'', x'', x'', x'')",
            "INSERT OR IGNORE INTO sync_fingerprints VALUES ('Nobody', x'', x'', 1, '[]', '{}', x'')",
            "INSERT OR IGNORE INTO sync_written VALUES (1, x'00')",
            "INSERT OR IGNORE INTO sync_written VALUES (-1, 0)",
            "DROP TABLE \(table)",
            "ALTER TABLE \(table) RENAME COLUMN \(column) TO \"other\"",
            "ALTER TABLE \(table) DROP COLUMN \(column)",
            "ALTER TABLE \(table) ADD COLUMN \"other\"",
            "ALTER TABLE \(table) RENAME TO \"sync_other\"; CREATE VIEW \(table) AS SELECT 1 AS a",
            "CREATE TABLE sync_copy AS SELECT * FROM \(table); DROP TABLE \(table); "
                + "ALTER TABLE sync_copy RENAME TO \(table)",
        ]
        // What SQLite does not let anybody do is no damage.
        try? db.inSavepoint {
            try db.execute(sql: random.pick(damages))
            return .commit
        }
        if random.chance(10) { try Triggers(db).drop(in: db, but: random.below(4)) }
    }

    /// How somebody writes.
    enum Way {
        case plainly
        /// With the triggers out of the way meanwhile.
        case withoutTriggers
        /// And then has the store forget what was written.
        case forgetting

        init(_ random: inout SplitMix64) {
            self = random.chance(70) ? .plainly : random.chance(50) ? .withoutTriggers : .forgetting
        }

        func execute(_ sql: String, in db: Database) throws {
            let triggers = try Triggers(db)
            if self == .withoutTriggers { try triggers.drop(in: db) }
            try db.execute(sql: sql)
            if self == .withoutTriggers { try triggers.make(in: db) }
            if self == .forgetting, try db.tableExists("sync_written") {
                try db.execute(sql: "INSERT OR IGNORE INTO sync_written VALUES (-1, 0)")
                for _ in 1...2 { try db.execute(sql: "DELETE FROM sync_written WHERE place >= 0") }
                for _ in 1...2 { try db.execute(sql: "DELETE FROM sync_written") }
            }
        }
    }

    private struct Triggers {
        private let triggers: [(name: String, sql: String)]

        init(_ db: Database) throws {
            triggers = try Row.fetchAll(
                db, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'sync_written*'"
            ).map { ($0[0], $0[1]) }
        }

        func drop(in db: Database, but kept: Int = 0) throws {
            for trigger in triggers.dropFirst(kept) {
                try db.execute(sql: "DROP TRIGGER IF EXISTS \(trigger.name.quotedDatabaseIdentifier)")
            }
        }

        func make(in db: Database) throws {
            for trigger in triggers { try db.execute(sql: trigger.sql) }
        }
    }
}
