import GRDB
import SyncCore
import SyncStore

/// The tables that an engine keeps beside the rows: what the server is known to have, what was edited here, what is on its
/// way. None of them is a column of a user's table. Times are milliseconds since 1970.
enum EngineSchema {
    /// 2 since `sync_known` has names.
    static let version = 2
    /// The triggers that fill the outbox. They write to the engine's tables alone.
    static let triggerPrefix = "sync_outbox_"

    static let tables = [
        """
        CREATE TABLE "sync_engine" (
          "id" INTEGER PRIMARY KEY CHECK ("id" = 1),
          "protocol" INTEGER NOT NULL,
          "service" TEXT NOT NULL,
          "user" TEXT NOT NULL,
          "seq" INTEGER NOT NULL DEFAULT 0,
          "clock" INTEGER NOT NULL DEFAULT 0,
          "not_before" INTEGER,
          "attempts" INTEGER NOT NULL DEFAULT 0
        ) STRICT
        """,
        """
        CREATE TABLE "sync_entity" (
          "e" INTEGER PRIMARY KEY,
          "name" TEXT NOT NULL UNIQUE,
          "triggers" TEXT NOT NULL DEFAULT '', "columns" TEXT NOT NULL DEFAULT ''
        ) STRICT
        """,
        """
        CREATE TABLE "sync_known" (
          "e" INTEGER NOT NULL, "k" ANY NOT NULL,
          "version" TEXT, "time" INTEGER, "whole" INTEGER NOT NULL DEFAULT 1, "seq" INTEGER NOT NULL, "remote" TEXT, "name" TEXT,
          PRIMARY KEY ("e", "k")
        ) STRICT, WITHOUT ROWID
        """,
        knownNames,
        """
        CREATE TABLE "sync_change" (
          "e" INTEGER NOT NULL, "k" ANY NOT NULL,
          "kind" TEXT NOT NULL CHECK ("kind" IN ('create', 'update', 'delete')),
          "birth" TEXT, "seq" INTEGER NOT NULL,
          "state" TEXT NOT NULL DEFAULT 'ready' CHECK ("state" IN ('ready', 'conflicted', 'parked')),
          "reason" TEXT, "attempts" INTEGER NOT NULL DEFAULT 0, "rounds" INTEGER NOT NULL DEFAULT 0,
          PRIMARY KEY ("e", "k")
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE "sync_base" (
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, "domain" TEXT NOT NULL,
          "value" ANY, "edited" INTEGER NOT NULL,
          PRIMARY KEY ("e", "k", "domain")
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE "sync_link" (
          "link" TEXT NOT NULL, "owner" ANY NOT NULL, "other" ANY NOT NULL,
          "op" INTEGER NOT NULL, "edited" INTEGER NOT NULL,
          PRIMARY KEY ("link", "owner", "other")
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE "sync_request" (
          "id" INTEGER PRIMARY KEY,
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, "kind" TEXT NOT NULL,
          "idem" TEXT NOT NULL, "remote" TEXT, "version" TEXT, "body" TEXT NOT NULL, "natural" TEXT,
          "seq" INTEGER NOT NULL, "frozen" INTEGER NOT NULL, "attempts" INTEGER NOT NULL DEFAULT 0, "taken" INTEGER
        ) STRICT
        """,
        """
        CREATE UNIQUE INDEX "sync_request_row" ON "sync_request" ("e", "k")
        """,
        """
        CREATE TABLE "sync_sent" (
          "request" INTEGER NOT NULL, "domain" TEXT NOT NULL, "value" ANY,
          PRIMARY KEY ("request", "domain")
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE "sync_cursor" (
          "e" INTEGER PRIMARY KEY,
          "cursor" TEXT, "fingerprint" TEXT NOT NULL DEFAULT '', "next" TEXT, "last_sync" INTEGER,
          "swept" INTEGER, "initial" INTEGER NOT NULL DEFAULT 0
        ) STRICT
        """,
        """
        CREATE TABLE "sync_sweep" (
          "e" INTEGER PRIMARY KEY, "seq" INTEGER NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE "sync_seen" (
          "e" INTEGER NOT NULL, "k" ANY NOT NULL,
          PRIMARY KEY ("e", "k")
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE "sync_gone" (
          "e" INTEGER NOT NULL, "id" TEXT NOT NULL, "guarded" INTEGER NOT NULL,
          PRIMARY KEY ("e", "id")
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE "sync_inbound" (
          "e" INTEGER NOT NULL, "k" TEXT NOT NULL,
          "body" TEXT NOT NULL, "version" TEXT, "time" INTEGER, "reason" TEXT NOT NULL,
          PRIMARY KEY ("e", "k")
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE "sync_conflict" (
          "id" INTEGER PRIMARY KEY,
          "at" INTEGER NOT NULL, "e" INTEGER NOT NULL, "k" ANY NOT NULL, "domain" TEXT NOT NULL,
          "base" ANY, "local" ANY, "remote" ANY,
          "winner" TEXT NOT NULL, "why" TEXT NOT NULL, "open" INTEGER NOT NULL DEFAULT 0
        ) STRICT
        """,
        """
        CREATE INDEX "sync_conflict_row" ON "sync_conflict" ("e", "k")
        """,
        """
        CREATE TABLE "sync_alias" (
          "e" INTEGER NOT NULL, "old" ANY NOT NULL, "k" ANY NOT NULL,
          PRIMARY KEY ("e", "old")
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE "sync_lease" (
          "name" TEXT PRIMARY KEY NOT NULL,
          "holder" TEXT NOT NULL, "token" INTEGER NOT NULL, "until" INTEGER NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE "sync_mute" (
          "n" INTEGER PRIMARY KEY
        ) STRICT
        """,
    ]

    /// Files that wait to be sent.
    private static let files = """
        CREATE TABLE IF NOT EXISTS "sync_file" (
          "id" INTEGER PRIMARY KEY,
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, "attribute" TEXT NOT NULL,
          "hash" TEXT NOT NULL, "name" TEXT NOT NULL, "type" TEXT NOT NULL,
          "reason" TEXT, "attempts" INTEGER NOT NULL DEFAULT 0,
          UNIQUE ("e", "k", "attribute")
        ) STRICT
        """

    /// Members of records that the model cannot read, as JSON.
    private static let unread = """
        CREATE TABLE IF NOT EXISTS "sync_unread" (
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, "domain" TEXT NOT NULL, "value" TEXT NOT NULL,
          PRIMARY KEY ("e", "k", "domain")
        ) STRICT, WITHOUT ROWID
        """

    /// Rows that were deleted and never sent, until the next run has looked whom they left behind.
    private static let unsent = """
        CREATE TABLE IF NOT EXISTS "sync_unsent" (
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, PRIMARY KEY ("e", "k")
        ) STRICT, WITHOUT ROWID
        """

    /// The pairs of rows that are being deleted.
    private static let parting = """
        CREATE TABLE IF NOT EXISTS "sync_parting" (
          "list" TEXT NOT NULL, "owner" ANY NOT NULL, "other" ANY NOT NULL, "place" ANY, PRIMARY KEY ("list", "owner", "other")
        ) STRICT, WITHOUT ROWID
        """

    /// What was sent and may have been carried out, though no answer said so.
    private static let tried = """
        CREATE TABLE IF NOT EXISTS "sync_tried" (
          "id" INTEGER PRIMARY KEY,
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, "domain" TEXT NOT NULL, "value" ANY
        ) STRICT
        """

    private static let triedRows = "CREATE INDEX IF NOT EXISTS \"sync_tried_row\" ON \"sync_tried\" (\"e\", \"k\")"

    /// When rows that the server does not know were made, and columns of theirs set.
    private static let made = """
        CREATE TABLE IF NOT EXISTS "sync_made" (
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, "domain" TEXT NOT NULL, "edited" INTEGER NOT NULL,
          PRIMARY KEY ("e", "k", "domain")
        ) STRICT, WITHOUT ROWID
        """

    /// Whoever forgets a row, or gives it another key, asks which keys it had.
    private static let laterKeys =
        "CREATE INDEX IF NOT EXISTS \"sync_alias_later\" ON \"sync_alias\" (\"e\", \"k\")"

    private static let laterNames = [
        "sync_file", "sync_unread", "sync_unsent", "sync_parting", "sync_tried", "sync_made",
    ]

    /// The rows that are to be sent, beside which there may be many deletions.
    private static let changedRows =
        "CREATE INDEX IF NOT EXISTS \"sync_change_row\" ON \"sync_change\" (\"e\", \"k\") WHERE \"kind\" <> 'delete'"

    /// The edits that name a row: rows that pointed to it, and pairs with it. Of a value, which may be a long text, the beginning is
    /// enough to find it by.
    private static let namingEdits = [
        "CREATE INDEX IF NOT EXISTS \"sync_base_value\" ON \"sync_base\" (\"e\", \"domain\", substr(\"value\", 1, 64))",
        "CREATE INDEX IF NOT EXISTS \"sync_link_other\" ON \"sync_link\" (\"link\", \"other\")",
    ]

    /// The condition that a line of `sync_base` has a value. SQLite would look at all lines of an entity if the statement did not
    /// name the index `sync_base_value`.
    ///
    /// - Parameters:
    ///   - base: What the line is called in the statement.
    ///   - value: The SQL of the value.
    static func isBase(_ base: String, _ value: String) -> String {
        "substr(\(base).\"value\", 1, 64) = substr(\(value), 1, 64) AND \(base).\"value\" = \(value)"
    }

    /// Makes what databases of earlier versions lack.
    static func createLater(in db: Database) throws {
        let tables = [files, unread, unsent, parting, tried, made]
        let indexes = [triedRows, laterKeys, changedRows] + namingEdits
        for statement in tables + indexes { try db.execute(sql: statement) }
        // When a row was taken, and when the server deleted one.
        for (table, column) in [("sync_request", "taken"), ("sync_gone", "time")]
        where try !db.columns(in: table).contains(where: { $0.name == column }) {
            try db.execute(sql: "ALTER TABLE \(table) ADD COLUMN \(column) INTEGER")
        }
    }

    /// Forgets what they say.
    static func forgetLater(in db: Database) throws {
        for name in laterNames where try db.tableExists(name, in: "main") {
            try db.execute(sql: "DELETE FROM \(name)")
        }
    }

    static let tableNames =
        [
            "sync_engine", "sync_entity", "sync_known", "sync_change", "sync_base", "sync_link", "sync_request",
            "sync_sent", "sync_cursor", "sync_sweep", "sync_seen", "sync_gone", "sync_inbound", "sync_conflict",
            "sync_alias", "sync_lease", "sync_mute",
        ] + laterNames

    /// The tables that say something of a row, by its entity and key.
    static let rowTables = HiddenKeys.tables + ["sync_file", "sync_unsent"]

    /// The tables that say something of an entity.
    private static let entityTables =
        rowTables + ["sync_cursor", "sync_sweep", "sync_gone", "sync_inbound", "sync_alias"]

    /// Forgets all that is known of an entity, but its number. Of its lists see ``SQLiteEngineStore/removeLinks(of:in:)``.
    static func forgetEntity(_ number: Int, in db: Database) throws {
        try db.execute(
            sql: "DELETE FROM sync_sent WHERE request IN (SELECT id FROM sync_request WHERE e = ?)",
            arguments: [number])
        for name in entityTables {
            try db.execute(sql: "DELETE FROM \(name) WHERE e = ?", arguments: [number])
        }
    }

    static func isThere(in db: Database) throws -> Bool { try db.tableExists("sync_engine", in: "main") }

    /// Of rows whose key in their table is hidden. See ``TrackedKey``.
    private static let knownNames =
        "CREATE UNIQUE INDEX \"sync_known_name\" ON \"sync_known\" (\"e\", \"name\") WHERE \"name\" IS NOT NULL"

    /// Brings the tables of an earlier version to this one.
    ///
    /// - Throws: ``SyncError`` `unreadableStore` for those of a later one.
    static func upgrade(from version: Int, in db: Database) throws {
        switch version {
        case Self.version: return
        case 1:
            try db.execute(sql: "ALTER TABLE sync_known ADD COLUMN name TEXT")
            try db.execute(sql: knownNames)
            try db.execute(sql: "UPDATE sync_engine SET protocol = ?", arguments: [Self.version])
        default:
            throw SyncError(.unreadableStore, "the engine's tables were made by another version of this library")
        }
    }

    static func create(in db: Database) throws {
        for statement in tables { try db.execute(sql: statement) }
    }

    /// The triggers of the outbox that are there, whoever made them.
    static func removeTriggers(from db: Database) throws {
        let names = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name GLOB '\(triggerPrefix)*'")
        for name in names { try db.execute(sql: "DROP TRIGGER \(name.quoted)") }
    }

    /// Forgets all that is known of rows, and takes no notice of what is done to them until ``unmute(in:)``.
    static func removeRows(in db: Database) throws {
        guard try isThere(in: db) else { return }
        let names = [
            "sync_known", "sync_change", "sync_base", "sync_link", "sync_request", "sync_sent", "sync_cursor",
            "sync_sweep", "sync_seen", "sync_gone", "sync_inbound", "sync_conflict", "sync_alias",
        ]
        for name in names { try db.execute(sql: "DELETE FROM \(name)") }
        try forgetLater(in: db)
        try CaptureSuppression.writing.set(in: db)
    }

    static func unmute(in db: Database) throws {
        if try isThere(in: db) { try db.execute(sql: "DELETE FROM sync_mute") }
    }
}
