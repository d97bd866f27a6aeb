import GRDB
import SyncCore
import SyncStore

/// The engine's tables in the store: known rows, pending changes, requests, the conflict log and others.
/// `Docs/SyncProtocol.md` describes all tables except `sync_engine` and `sync_entity`.
///
/// A known row is a row that the service has, as far as the engine knows. The entries of a row are the rows of these
/// tables with its entity and key. The engine adds no columns to the tables of the model. Times are in milliseconds
/// since 1970.
enum EngineSchema {
    /// The version of the tables. Version 2 added `sync_known.name`.
    static let version = 2
    /// The prefix of the names of the change capture triggers.
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

    /// The files to upload, and why the service rejected uploads.
    private static let files = """
        CREATE TABLE IF NOT EXISTS "sync_file" (
          "id" INTEGER PRIMARY KEY,
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, "attribute" TEXT NOT NULL,
          "hash" TEXT NOT NULL, "name" TEXT NOT NULL, "type" TEXT NOT NULL,
          "reason" TEXT, "attempts" INTEGER NOT NULL DEFAULT 0,
          UNIQUE ("e", "k", "attribute")
        ) STRICT
        """

    /// Remote values that the model cannot read, as JSON.
    private static let unread = """
        CREATE TABLE IF NOT EXISTS "sync_unread" (
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, "domain" TEXT NOT NULL, "value" TEXT NOT NULL,
          PRIMARY KEY ("e", "k", "domain")
        ) STRICT, WITHOUT ROWID
        """

    /// New rows that were deleted before they were sent. The next run looks for rows that still reference them.
    private static let unsentDeletions = """
        CREATE TABLE IF NOT EXISTS "sync_unsent" (
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, PRIMARY KEY ("e", "k")
        ) STRICT, WITHOUT ROWID
        """

    /// Join rows that are removed while the engine deletes rows, for the conflict log.
    private static let parting = """
        CREATE TABLE IF NOT EXISTS "sync_parting" (
          "list" TEXT NOT NULL, "owner" ANY NOT NULL, "other" ANY NOT NULL, "place" ANY, PRIMARY KEY ("list", "owner", "other")
        ) STRICT, WITHOUT ROWID
        """

    /// The values of deleted requests that the service may have stored, although no response confirmed them.
    private static let tried = """
        CREATE TABLE IF NOT EXISTS "sync_tried" (
          "id" INTEGER PRIMARY KEY,
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, "domain" TEXT NOT NULL, "value" ANY
        ) STRICT
        """

    private static let triedRows = "CREATE INDEX IF NOT EXISTS \"sync_tried_row\" ON \"sync_tried\" (\"e\", \"k\")"

    /// When new rows were created, and when their columns were set.
    private static let made = """
        CREATE TABLE IF NOT EXISTS "sync_made" (
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, "domain" TEXT NOT NULL, "edited" INTEGER NOT NULL,
          PRIMARY KEY ("e", "k", "domain")
        ) STRICT, WITHOUT ROWID
        """

    /// The index that finds the former keys of a row when its entries are deleted or its key changes.
    private static let laterKeys =
        "CREATE INDEX IF NOT EXISTS \"sync_alias_later\" ON \"sync_alias\" (\"e\", \"k\")"

    private static let addedTableNames = [
        "sync_file", "sync_unread", "sync_unsent", "sync_parting", "sync_tried", "sync_made",
    ]

    /// The index of changes other than deletions. With it, SQLite need not scan the deletions, of which there may be
    /// many.
    private static let changedRows =
        "CREATE INDEX IF NOT EXISTS \"sync_change_row\" ON \"sync_change\" (\"e\", \"k\") WHERE \"kind\" <> 'delete'"

    /// The indexes that find edits by the row that they refer to: base values of foreign keys, and join edits. Only the
    /// first 64 characters of a base value are indexed, since it may be long.
    private static let namingEdits = [
        "CREATE INDEX IF NOT EXISTS \"sync_base_value\" ON \"sync_base\" (\"e\", \"domain\", substr(\"value\", 1, 64))",
        "CREATE INDEX IF NOT EXISTS \"sync_link_other\" ON \"sync_link\" (\"link\", \"other\")",
    ]

    /// Returns the SQL condition that a base value in `sync_base` equals a value.
    ///
    /// The statement must use `INDEXED BY sync_base_value`. Otherwise SQLite scans all base values of the entity.
    ///
    /// - Parameters:
    ///   - base: The alias of `sync_base` in the statement.
    ///   - value: The SQL of the value.
    static func isBase(_ base: String, _ value: String) -> String {
        "substr(\(base).\"value\", 1, 64) = substr(\(value), 1, 64) AND \(base).\"value\" = \(value)"
    }

    /// Creates the tables, indexes and columns that were added without a new ``version``.
    static func createAddedTables(in db: Database) throws {
        let tables = [files, unread, unsentDeletions, parting, tried, made]
        let indexes = [triedRows, laterKeys, changedRows] + namingEdits
        for statement in tables + indexes { try db.execute(sql: statement) }
        // `taken`: the edit counter when the service accepted a new row without returning it. `time`: when the service
        // deleted a row.
        for (table, column) in [("sync_request", "taken"), ("sync_gone", "time")]
        where try !db.columns(in: table).contains(where: { $0.name == column }) {
            try db.execute(sql: "ALTER TABLE \(table) ADD COLUMN \(column) INTEGER")
        }
    }

    /// Deletes all rows of the tables that ``createAddedTables(in:)`` creates.
    static func deleteLaterTables(in db: Database) throws {
        for name in addedTableNames where try db.tableExists(name, in: "main") {
            try db.execute(sql: "DELETE FROM \(name)")
        }
    }

    static let tableNames =
        [
            "sync_engine", "sync_entity", "sync_known", "sync_change", "sync_base", "sync_link", "sync_request",
            "sync_sent", "sync_cursor", "sync_sweep", "sync_seen", "sync_gone", "sync_inbound", "sync_conflict",
            "sync_alias", "sync_lease", "sync_mute",
        ] + addedTableNames

    /// The tables with entries of rows with surrogate keys, by entity and key. `sync_known` comes last, because it has
    /// the names that other statements look up.
    static let surrogateKeyTables = [
        "sync_change", "sync_base", "sync_request", "sync_conflict", "sync_seen", "sync_unread", "sync_tried",
        "sync_made", "sync_known",
    ]

    /// The tables that identify a row by entity (column `e`) and key (column `k`), except `sync_alias`.
    static let rowTables = surrogateKeyTables + ["sync_file", "sync_unsent"]

    /// The tables whose entries belong to an entity (column `e`).
    static let entityTables = rowTables + ["sync_cursor", "sync_sweep", "sync_gone", "sync_inbound", "sync_alias"]

    /// The columns whose values are always JSON or NULL, by table.
    static let jsonColumns: [String: Set<String>] = [
        "sync_request": ["remote", "body", "natural"], "sync_known": ["remote"], "sync_inbound": ["k", "body"],
        "sync_gone": ["id"], "sync_unread": ["value"],
    ]

    /// Returns the columns that identify an entry of a row besides its entity and key; nil if a row may have several
    /// entries that are not distinguished.
    static func identity(of table: String) -> [String]? {
        switch table {
        case "sync_conflict", "sync_tried": nil
        case "sync_base", "sync_made", "sync_unread": ["domain"]
        default: []
        }
    }

    /// The tables with the pending change of a row.
    static let changeTables = ["sync_change", "sync_base", "sync_tried"]
    /// The tables with what the engine knows of a row at the service.
    static let knownTables = ["sync_known", "sync_unread", "sync_alias"]
    /// The tables with the state of an entity's rows at the service.
    static let serviceTables = ["sync_request", "sync_change", "sync_base", "sync_known", "sync_tried", "sync_made"]
    /// The tables with the progress of an entity's pull.
    static let pullTables = ["sync_cursor", "sync_sweep", "sync_seen", "sync_gone", "sync_inbound"]

    static func isThere(in db: Database) throws -> Bool { try db.tableExists("sync_engine", in: "main") }

    /// The index of the names of rows with surrogate keys. See ``TrackedKey``.
    private static let knownNames =
        "CREATE UNIQUE INDEX \"sync_known_name\" ON \"sync_known\" (\"e\", \"name\") WHERE \"name\" IS NOT NULL"

    /// Upgrades the tables of an earlier version.
    ///
    /// - Throws: ``SyncError`` `cannotOpenStore` if the tables are of an unknown version.
    static func upgrade(from version: Int, in db: Database) throws {
        switch version {
        case Self.version: return
        case 1:
            try db.execute(sql: "ALTER TABLE sync_known ADD COLUMN name TEXT")
            try db.execute(sql: knownNames)
            try db.execute(sql: "UPDATE sync_engine SET protocol = ?", arguments: [Self.version])
        default:
            throw SyncError(.cannotOpenStore, "the engine's tables were created by another version of Sync")
        }
    }

    static func create(in db: Database) throws {
        for statement in tables { try db.execute(sql: statement) }
    }

    /// Drops the change capture triggers of all engines.
    static func removeTriggers(from db: Database) throws {
        let names = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name GLOB '\(triggerPrefix)*'")
        for name in names { try db.execute(sql: "DROP TRIGGER \(name.quoted)") }
    }

    /// Deletes all entries of rows and the pull state of all entities, and turns off change capture until
    /// ``unmute(in:)``. Does nothing if the engine's tables do not exist.
    static func removeRows(in db: Database) throws {
        guard try isThere(in: db) else { return }
        let names = [
            "sync_known", "sync_change", "sync_base", "sync_link", "sync_request", "sync_sent", "sync_cursor",
            "sync_sweep", "sync_seen", "sync_gone", "sync_inbound", "sync_conflict", "sync_alias",
        ]
        for name in names { try db.execute(sql: "DELETE FROM \(name)") }
        try deleteLaterTables(in: db)
        try CaptureSuppression.writing.set(in: db)
    }

    static func unmute(in db: Database) throws {
        if try isThere(in: db) { try CaptureSuppression.clearAll(in: db) }
    }
}
