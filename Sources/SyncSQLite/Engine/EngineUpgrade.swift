import Foundation
import GRDB
import SyncCore
import SyncStore

/// Upgrades the engine's tables of versions 1 and 2 to version 3, in the transaction that sets up an engine or migrates
/// the store.
///
/// Versions 1 and 2 had other names of tables and columns. They stored several states as numbers, or as texts for people.
/// The upgrade maps each of them to the value of a column.
struct EngineUpgrade {
    private let db: Database

    init(_ db: Database) { self.db = db }

    /// Upgrades the tables. Drops the triggers, which are created again when an engine is set up. Returns whether the
    /// tables were of an earlier version. Throws ``SyncError`` `cannotOpenStore` if the tables are of an unknown
    /// version.
    @discardableResult
    static func upgrade(in db: Database) throws -> Bool {
        let version = try EngineLedger(db).version()
        switch version {
        case EngineSchema.version?, nil:
            try addIdentity(in: db)
            return false
        case 1?, 2?:
            try EngineUpgrade(db).run()
            return true
        default: throw SyncError(.cannotOpenStore, "the engine's tables were created by another version of Sync")
        }
    }

    /// Adds the column of the identity to tables of version 3 that an earlier version of the library created.
    private static func addIdentity(in db: Database) throws {
        if try db.columns(in: "sync_engine", in: "main").contains(where: { $0.name == "identity" }) { return }
        try db.execute(sql: "ALTER TABLE sync_engine ADD COLUMN \"identity\" TEXT")
    }

    /// The former name of each table that version 3 renamed.
    private static let formerNames = [
        "sync_outbox": "sync_change", "sync_listed": "sync_seen", "sync_tombstone": "sync_gone",
        "sync_quarantine": "sync_inbound", "sync_former_key": "sync_alias", "sync_capture_off": "sync_mute",
        "sync_unreadable": "sync_unread",
    ]

    static func formerNames(in db: Database) throws -> EngineSchema.Names {
        let kept = ["sync_engine", "sync_entity", "sync_lease", "sync_capture_off"]
        let names = EngineSchema.tableNames.filter { !kept.contains($0) }.map { formerNames[$0] ?? $0 }
        return EngineSchema.Names(
            outbox: "sync_change", formerKeys: "sync_alias", captureOff: "sync_mute",
            entries: try names.filter { try db.tableExists($0, in: "main") })
    }

    private func run() throws {
        try EngineSchema.removeTriggers(from: db)
        var found: Set<String> = []
        for name in EngineSchema.tableNames {
            let former = Self.formerNames[name] ?? name
            guard try db.tableExists(former, in: "main") else { continue }
            found.insert(name)
            try db.execute(sql: "CREATE TEMP TABLE \(old(name)) AS SELECT * FROM main.\(former)")
            try db.execute(sql: "DROP TABLE main.\(former)")
        }
        try EngineSchema.create(in: db)
        for (name, select) in copies where found.contains(name) {
            try db.execute(sql: "INSERT INTO main.\(name) \(select)")
        }
        for name in found { try db.execute(sql: "DROP TABLE temp.\(old(name))") }
        try mapReasonsOfConflicts()
        try renameInTriggersOfTheApp()
        // A run of an earlier version of the library ends at its next transaction.
        try db.execute(sql: "UPDATE sync_lease SET token = token + 1, holder = '', until = 0")
        try db.execute(sql: "UPDATE sync_engine SET protocol = ?", arguments: [EngineSchema.version])
    }

    private func old(_ name: String) -> String { "old_\(name)" }

    /// The queries that return the rows of the new tables, in the order of their columns.
    private var copies: [(name: String, select: String)] {
        func rows(_ columns: String, _ name: String) -> (String, String) {
            (name, "SELECT \(columns) FROM temp.\(old(name))")
        }
        let requests = "temp.\(old("sync_request"))"
        return [
            rows("id, protocol, service, user, seq, clock, not_before, attempts, NULL", "sync_engine"),
            rows("e, name, triggers, columns", "sync_entity"),
            rows(
                """
                e, k, version, time,
                CASE WHEN seq < 0 AND whole <> 3 THEN 'preexisting' WHEN whole >= 3 THEN 'nested' ELSE 'pulled' END,
                CASE whole WHEN 1 THEN 'current' WHEN 2 THEN 'uncaptured' WHEN 4 THEN 'uncaptured' ELSE 'recheck' END,
                max(seq, 0), remote, \(hasColumn("name", "sync_known") ? "name" : "NULL")
                """, "sync_known"),
            (
                "sync_outbox",
                """
                (e, k, kind, creation_id, seq, cause, state, reason, message, rejections, contentions, judged)
                WITH c AS (
                  SELECT *, iif(\(isMarked), 'cascade', 'edit') AS cause,
                    CASE WHEN \(isMarked) THEN substr(reason, 9) ELSE reason END AS text
                  FROM temp.\(old("sync_outbox")))
                SELECT e, k, kind,
                  CASE kind WHEN 'update' THEN NULL WHEN 'create' THEN ifnull(birth, lower(hex(randomblob(16)))) ELSE birth END,
                  seq, cause, iif(state = 'parked', 'blocked', state),
                  CASE WHEN state = 'parked' THEN \(blockReason(requests)) END, iif(state = 'parked', text, NULL),
                  attempts, iif(rounds >= 3, 0, rounds), iif(attempts > 0, seq, NULL) FROM c
                """
            ),
            (
                "sync_base",
                """
                SELECT b.e, b.k, b.domain, b.value, iif(b.edited = 0, 'cascade', 'edit'),
                  iif(b.edited = 0, \(Database.nowSQL), b.edited), h.k IS NOT NULL, h.value
                FROM temp.\(old("sync_base")) AS b LEFT JOIN temp.\(old("sync_base")) AS h
                  ON h.e = b.e AND h.k = b.k AND h.domain = b.domain || ' when it was deleted'
                WHERE b.domain NOT LIKE '% when it was deleted'
                """
            ),
            ("sync_link", "SELECT link, owner, other, op, edited FROM temp.\(old("sync_link")) WHERE op <> 0"),
            rows(
                """
                id, e, k, kind, idem, remote, version, body, natural, seq, frozen, attempts,
                \(hasColumn("taken", "sync_request") ? "taken" : "NULL")
                """, "sync_request"),
            rows("request, domain, value", "sync_sent"), rows("id, e, k, domain, value", "sync_tried"),
            rows("e, k, domain, max(edited, 0), edited < 0", "sync_made"),
            rows("e, cursor, fingerprint, next, last_sync, swept, initial", "sync_cursor"),
            rows("e, seq", "sync_sweep"),
            rows("e, k", "sync_listed"),
            rows(
                "e, id, iif(guarded, 'missing', 'reported'), \(hasColumn("time", "sync_tombstone") ? "time" : "NULL")",
                "sync_tombstone"),
            rows("e, k, body, version, time, reason", "sync_quarantine"),
            rows(
                "id, at, e, k, domain, base, local, remote, iif(open, 'open', iif(winner = 'local', winner, 'remote')), why, NULL, 0",
                "sync_conflict"),
            rows("e, old, k", "sync_former_key"), rows("name, holder, token, until", "sync_lease"),
            rows("CASE n WHEN 1 THEN 'writing' WHEN 2 THEN 'cascading' ELSE 'deleting' END", "sync_capture_off"),
            rows("id, e, k, attribute, hash, name, type, reason, attempts", "sync_file"),
            rows("e, k, domain, value", "sync_unreadable"), rows("e, k", "sync_unsent"),
            rows("list, owner, other, place", "sync_parting"),
        ]
    }

    private func hasColumn(_ column: String, _ name: String) -> Bool {
        (try? db.columns(in: old(name), in: "temp").contains { $0.name == column }) ?? false
    }

    // MARK: Blocked changes

    /// The condition that the reason of a change begins with the mark of a cascade.
    private let isMarked = "substr(coalesce(reason, '') || char(31), 1, 8) = 'cascade' || char(31)"

    /// The beginnings of the texts that earlier versions stored as reason of a blocked change.
    private static let reasons: [(prefix: String, reason: PendingChange.BlockReason)] = [
        ("the service no longer has the row", .missing), ("the server does not have it any more", .missing),
        ("cycle: ", .cycle), ("a cycle: ", .cycle), ("contended: ", .contended),
        ("the service accepted the row but does not list it", .uncertain),
        ("the row has a temporary key", .unsendable), ("the composite key is incomplete", .unsendable),
        ("the value of '", .unsendable), ("unknown entity '", .unsendable), ("rows of '", .unsendable),
        ("its key is a local one", .unsendable), ("a part of its key is missing", .unsendable),
        ("what its '", .unsendable), ("its sync_entity '", .unsendable),
        ("the service does not store '", .misnamed), ("it was sent as '", .misnamed),
    ]

    /// Unblocks changes in tables of version 1 or 2. See ``EngineMigration/unblockRows(in:)``.
    static func unblockFormerRows(in db: Database) throws {
        let isMarked = EngineUpgrade(db).isMarked
        let isMissing = reasons.filter { $0.reason == .missing }.map { prefix, _ in
            "instr(coalesce(reason, ''), \(prefix.literal)) > 0"
        }
        try db.execute(
            sql: """
                UPDATE sync_change SET state = 'ready', reason = iif(\(isMarked), 'cascade', NULL), rounds = 0
                WHERE state = 'parked' AND NOT (\(isMissing.joined(separator: " OR "))) AND NOT EXISTS (
                  SELECT 1 FROM sync_request AS r WHERE r.e = sync_change.e AND r.k = sync_change.k)
                """)
    }

    private func blockReason(_ requests: String) -> String {
        let texts = Self.reasons.map { prefix, reason in
            "WHEN substr(text, 1, \(prefix.count)) = \(prefix.literal) THEN \(reason.rawValue.literal)"
        }
        return """
            CASE \(texts.joined(separator: " ")) WHEN rounds >= 3 THEN 'failing'
              WHEN kind = 'create' AND EXISTS (SELECT 1 FROM \(requests) AS r WHERE r.e = c.e AND r.k = c.k) THEN 'uncertain'
              ELSE 'rejected' END
            """
    }

    // MARK: Conflict log

    /// Replaces the texts that earlier versions stored as reason of a conflict.
    private func mapReasonsOfConflicts() throws {
        // Separate statements for each entry: the text of one entry may be the code of another.
        let update = try db.makeStatement(
            sql: "UPDATE sync_conflict SET reason = ?, note = ?, is_restored = ? WHERE id = ?")
        for row in try Row.fetchAll(db, sql: "SELECT id, reason FROM sync_conflict") {
            let logged = try SyncConflict.Reason.Logged(row.decode(String.self, atIndex: 1))
            try update.execute(
                arguments: [
                    logged.reason.code, logged.note, logged.isRestored, row.decode(Int64.self, atIndex: 0),
                ])
        }
    }

    /// Replaces the name of the table that triggers of the app may use to ignore writes of the engine.
    private func renameInTriggersOfTheApp() throws {
        let triggers = try Row.fetchAll(
            db,
            sql:
                "SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger' AND sql LIKE '%sync!_mute%' ESCAPE '!'"
        )
        for row in triggers {
            let (name, sql) = try (row.decode(String.self, atIndex: 0), row.decode(String.self, atIndex: 1))
            try db.execute(sql: "DROP TRIGGER main.\(name.quoted)")
            try db.execute(
                sql: sql.replacingOccurrences(of: "sync_mute", with: "sync_capture_off", options: .caseInsensitive))
        }
    }
}
