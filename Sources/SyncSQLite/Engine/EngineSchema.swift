import Foundation
import GRDB
import SyncCore
import SyncStore

/// The engine's tables in the store: known rows, pending changes, requests, the conflict log and others.
/// `Docs/SyncProtocol.md` describes all tables except `sync_engine` and `sync_entity`.
///
/// A known row is a row that the service has, as far as the engine knows. The entries of a row are the rows of these
/// tables with its entity (column `e`) and key (column `k`). The engine adds no columns to the tables of the model. Times
/// are in milliseconds since 1970. The column `seq` has the edit counter of the last edit.
enum EngineSchema {
    /// The version of the tables. Version 2 added the names of known rows. Version 3 renamed tables and columns, and gave
    /// each state a column of its own. See ``EngineUpgrade``.
    static let version = 3
    /// The prefix of the names of the change capture triggers.
    static let triggerPrefix = "sync_outbox_"

    private static let tables = """
        CREATE TABLE "sync_engine" (
          "id" INTEGER PRIMARY KEY CHECK ("id" = 1),
          "protocol" INTEGER NOT NULL,
          "service" TEXT NOT NULL,
          "user" TEXT NOT NULL,
          "seq" INTEGER NOT NULL DEFAULT 0,
          "clock" INTEGER NOT NULL DEFAULT 0,
          "not_before" INTEGER,
          "attempts" INTEGER NOT NULL DEFAULT 0,
          "identity" TEXT
        ) STRICT;
        CREATE TABLE "sync_entity" (
          "e" INTEGER PRIMARY KEY,
          "name" TEXT NOT NULL UNIQUE,
          "triggers" TEXT NOT NULL DEFAULT '', "columns" TEXT NOT NULL DEFAULT ''
        ) STRICT;
        CREATE TABLE "sync_known" (
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, "version" TEXT, "time" INTEGER,
          "origin" TEXT NOT NULL CHECK (\(isOne("origin", of: "pulled", "nested", "preexisting"))),
          "trust" TEXT NOT NULL DEFAULT 'recheck' CHECK (\(isOne("trust", of: "current", "recheck", "uncaptured"))),
          "heard" INTEGER NOT NULL, "remote" TEXT, "name" TEXT,
          PRIMARY KEY ("e", "k")
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE "sync_outbox" (
          "e" INTEGER NOT NULL, "k" ANY NOT NULL,
          "kind" TEXT NOT NULL CHECK (\(isOne("kind", of: "create", "update", "delete"))),
          "creation_id" TEXT, "seq" INTEGER NOT NULL,
          "cause" TEXT NOT NULL DEFAULT 'edit' CHECK ("cause" IN ('edit', 'cascade')),
          "state" TEXT NOT NULL DEFAULT 'ready' CHECK (\(isOne("state", of: "ready", "conflicted", "blocked"))),
          "reason" TEXT CHECK ("reason" ISNULL OR "reason" IN (\(PendingChange.BlockReason.sqlList))), "message" TEXT,
          "rejections" INTEGER NOT NULL DEFAULT 0, "contentions" INTEGER NOT NULL DEFAULT 0, "judged" INTEGER,
          PRIMARY KEY ("e", "k"),
          CHECK (("state" = 'blocked') = ("reason" NOTNULL)),
          CHECK ("kind" <> 'create' OR "creation_id" NOTNULL),
          CHECK ("kind" <> 'update' OR "creation_id" ISNULL)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE "sync_base" (
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, "field" TEXT NOT NULL, "value" ANY,
          "cause" TEXT NOT NULL DEFAULT 'edit' CHECK ("cause" IN ('edit', 'cascade')), "edited" INTEGER NOT NULL,
          "is_held" INTEGER NOT NULL DEFAULT 0 CHECK ("is_held" IN (0, 1)), "held" ANY,
          PRIMARY KEY ("e", "k", "field")
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE "sync_link" (
          "link" TEXT NOT NULL, "owner" ANY NOT NULL, "other" ANY NOT NULL,
          "op" INTEGER NOT NULL CHECK ("op" IN (1, -1)), "edited" INTEGER NOT NULL,
          PRIMARY KEY ("link", "owner", "other")
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE "sync_request" (
          "id" INTEGER PRIMARY KEY,
          "e" INTEGER NOT NULL, "k" ANY NOT NULL,
          "kind" TEXT NOT NULL CHECK (\(isOne("kind", of: "create", "update", "delete"))),
          "idempotency_key" TEXT NOT NULL, "remote" TEXT, "version" TEXT, "body" TEXT NOT NULL, "natural_key" TEXT,
          "seq" INTEGER NOT NULL, "prepared_at" INTEGER NOT NULL, "attempts" INTEGER NOT NULL DEFAULT 0,
          "accepted_seq" INTEGER
        ) STRICT;
        CREATE TABLE "sync_sent" (
          "request" INTEGER NOT NULL, "field" TEXT NOT NULL, "value" ANY, PRIMARY KEY ("request", "field")
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE "sync_tried" (
          "id" INTEGER PRIMARY KEY, "e" INTEGER NOT NULL, "k" ANY NOT NULL, "field" TEXT NOT NULL, "value" ANY
        ) STRICT;
        CREATE TABLE "sync_made" (
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, "field" TEXT NOT NULL, "edited" INTEGER NOT NULL,
          "is_restored" INTEGER NOT NULL DEFAULT 0 CHECK ("is_restored" IN (0, 1)),
          PRIMARY KEY ("e", "k", "field")
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE "sync_cursor" (
          "e" INTEGER PRIMARY KEY,
          "cursor" TEXT, "filter" TEXT NOT NULL DEFAULT '', "next" TEXT, "last_sync" INTEGER, "listed_at" INTEGER,
          "initial" INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE "sync_sweep" ("e" INTEGER PRIMARY KEY, "seq" INTEGER NOT NULL) STRICT;
        CREATE TABLE "sync_listed" (
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, PRIMARY KEY ("e", "k")
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE "sync_tombstone" (
          "e" INTEGER NOT NULL, "id" TEXT NOT NULL,
          "source" TEXT NOT NULL CHECK ("source" IN ('reported', 'missing')), "time" INTEGER,
          PRIMARY KEY ("e", "id")
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE "sync_quarantine" (
          "e" INTEGER NOT NULL, "k" TEXT NOT NULL,
          "body" TEXT NOT NULL, "version" TEXT, "time" INTEGER, "message" TEXT NOT NULL,
          PRIMARY KEY ("e", "k")
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE "sync_conflict" (
          "id" INTEGER PRIMARY KEY,
          "at" INTEGER NOT NULL, "e" INTEGER NOT NULL, "k" ANY NOT NULL, "field" TEXT NOT NULL,
          "base" ANY, "local" ANY, "remote" ANY,
          "winner" TEXT NOT NULL CHECK ("winner" IN ('local', 'remote', 'open')),
          "reason" TEXT NOT NULL, "note" TEXT,
          "is_restored" INTEGER NOT NULL DEFAULT 0 CHECK ("is_restored" IN (0, 1))
        ) STRICT;
        CREATE TABLE "sync_former_key" (
          "e" INTEGER NOT NULL, "old" ANY NOT NULL, "k" ANY NOT NULL, PRIMARY KEY ("e", "old")
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE "sync_lease" (
          "name" TEXT PRIMARY KEY NOT NULL,
          "holder" TEXT NOT NULL, "token" INTEGER NOT NULL, "until" INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE "sync_capture_off" (
          "mode" TEXT PRIMARY KEY NOT NULL CHECK ("mode" IN ('writing', 'cascading', 'deleting'))
        ) STRICT;
        CREATE TABLE "sync_file" (
          "id" INTEGER PRIMARY KEY,
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, "attribute" TEXT NOT NULL,
          "hash" TEXT NOT NULL, "name" TEXT NOT NULL, "type" TEXT NOT NULL,
          "reason" TEXT, "attempts" INTEGER NOT NULL DEFAULT 0,
          UNIQUE ("e", "k", "attribute")
        ) STRICT;
        CREATE TABLE "sync_unreadable" (
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, "field" TEXT NOT NULL, "value" TEXT NOT NULL,
          PRIMARY KEY ("e", "k", "field")
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE "sync_unsent" (
          "e" INTEGER NOT NULL, "k" ANY NOT NULL, PRIMARY KEY ("e", "k")
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE "sync_parting" (
          "list" TEXT NOT NULL, "owner" ANY NOT NULL, "other" ANY NOT NULL, "place" ANY, PRIMARY KEY ("list", "owner", "other")
        ) STRICT, WITHOUT ROWID;
        """

    private static let indexes = [
        // Finds the names of rows with surrogate keys. See ``TrackedKey``.
        "CREATE UNIQUE INDEX \"sync_known_name\" ON \"sync_known\" (\"e\", \"name\") WHERE \"name\" IS NOT NULL",
        // Changes other than deletions. Without the index, SQLite would also scan the deletions, which may be many.
        "CREATE INDEX \"sync_outbox_row\" ON \"sync_outbox\" (\"e\", \"k\") WHERE \"kind\" <> 'delete'",
        // Finds edits by the row that they refer to: base values of foreign keys, and join edits. Only the first 64
        // characters of a base value are indexed, since it may be long.
        "CREATE INDEX \"sync_base_value\" ON \"sync_base\" (\"e\", \"field\", substr(\"value\", 1, 64))",
        "CREATE INDEX \"sync_link_other\" ON \"sync_link\" (\"link\", \"other\")",
        "CREATE UNIQUE INDEX \"sync_request_row\" ON \"sync_request\" (\"e\", \"k\")",
        "CREATE INDEX \"sync_tried_row\" ON \"sync_tried\" (\"e\", \"k\")",
        "CREATE INDEX \"sync_conflict_row\" ON \"sync_conflict\" (\"e\", \"k\")",
        // Finds the former keys of a row when its entries are deleted or its key changes.
        "CREATE INDEX \"sync_former_key_now\" ON \"sync_former_key\" (\"e\", \"k\")",
    ]

    /// Returns the SQL condition that a column has one of several values. For `IN` with more than two values, SQLite
    /// fills a temporary table in each statement, which doubles the time of an insert.
    private static func isOne(_ column: String, of values: String...) -> String {
        values.map { "\"\(column)\" = '\($0)'" }.joined(separator: " OR ")
    }

    /// Returns the SQL condition that a base value in `sync_base` equals a value. The statement must use `INDEXED BY
    /// sync_base_value`. Otherwise SQLite scans all base values of the entity. `base` is the alias of `sync_base` in
    /// the statement. `value` is the SQL of the value.
    static func isBase(_ base: String, _ value: String) -> String {
        "substr(\(base).\"value\", 1, 64) = substr(\(value), 1, 64) AND \(base).\"value\" = \(value)"
    }

    static func create(in db: Database) throws {
        for statements in [tables] + indexes { try db.execute(sql: statements) }
    }

    // MARK: Names

    static let tableNames = tables.components(separatedBy: "CREATE TABLE \"").dropFirst().map {
        String($0.prefix { $0 != "\"" })
    }

    /// The tables with entries of rows with surrogate keys, by entity and key. `sync_known` comes last, because it has
    /// the names that other statements look up.
    static let surrogateKeyTables = [
        "sync_outbox", "sync_base", "sync_request", "sync_conflict", "sync_listed", "sync_unreadable", "sync_tried",
        "sync_made", "sync_known",
    ]

    /// The tables that identify a row by entity (column `e`) and key (column `k`), except `sync_former_key`.
    static let rowTables = surrogateKeyTables + ["sync_file", "sync_unsent"]

    /// The tables whose entries belong to an entity (column `e`).
    static let entityTables =
        rowTables + ["sync_cursor", "sync_sweep", "sync_tombstone", "sync_quarantine", "sync_former_key"]

    /// The tables with the pending change of a row.
    static let changeTables = ["sync_outbox", "sync_base", "sync_tried"]
    /// The tables with what the engine knows of a row at the service.
    static let knownTables = ["sync_known", "sync_unreadable", "sync_former_key"]
    /// The tables with the state of an entity's rows at the service.
    static let serviceTables = ["sync_request", "sync_outbox", "sync_base", "sync_known", "sync_tried", "sync_made"]
    /// The tables with the progress of an entity's pull.
    static let pullTables = ["sync_cursor", "sync_sweep", "sync_listed", "sync_tombstone", "sync_quarantine"]

    /// The columns whose values are always JSON or NULL, by table.
    static let jsonColumns: [String: Set<String>] = [
        "sync_request": ["remote", "body", "natural_key"], "sync_known": ["remote"], "sync_quarantine": ["k", "body"],
        "sync_tombstone": ["id"], "sync_unreadable": ["value"],
    ]

    /// Returns the columns that identify an entry of a row besides its entity and key; nil if a row may have several
    /// entries that are not distinguished.
    static func identity(of table: String) -> [String]? {
        switch table {
        case "sync_conflict", "sync_tried": nil
        case "sync_base", "sync_made", "sync_unreadable": ["field"]
        default: []
        }
    }

    /// The names of the tables that calls outside of an engine use. A database of an earlier version keeps its names
    /// until an engine is set up.
    struct Names {
        let outbox: String
        let formerKeys: String
        let captureOff: String
        /// The tables with entries of rows, and with the progress of pulls.
        let entries: [String]
    }

    /// Returns the names of the engine's tables in a database; nil if there are none.
    static func names(in db: Database) throws -> Names? {
        guard try db.tableExists("sync_engine", in: "main") else { return nil }
        guard try isCurrent(in: db) else { return try EngineUpgrade.formerNames(in: db) }
        return Names(
            outbox: "sync_outbox", formerKeys: "sync_former_key", captureOff: "sync_capture_off",
            entries: entityTables + ["sync_link", "sync_sent", "sync_parting"])
    }

    static func isCurrent(in db: Database) throws -> Bool { try db.tableExists("sync_outbox", in: "main") }

    /// Returns whether the database has the table of the lease, even if another connection has changed the schema.
    static func hasLeaseTable(in db: Database) throws -> Bool {
        try db.finds("SELECT 1 FROM main.sqlite_schema WHERE name = 'sync_lease'")
    }

    // MARK: Removing entries

    /// Drops the change capture triggers of all engines.
    static func removeTriggers(from db: Database) throws {
        for trigger in try triggers(in: db) { try db.execute(sql: "DROP TRIGGER \(trigger.name.quoted)") }
    }

    /// Returns the change capture triggers of all engines.
    static func triggers(in db: Database) throws -> [(name: String, sql: String)] {
        try db.rows("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name GLOB '\(triggerPrefix)*'")
            .map { (try $0.decode(atIndex: 0), try $0.decode(atIndex: 1)) }
    }

    /// Returns whether the database has other triggers than those of engines, which may delete written rows.
    static func hasOtherTriggers(in db: Database) throws -> Bool {
        try db.finds(
            """
            SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name NOT GLOB '\(triggerPrefix)*'
            UNION ALL SELECT 1 FROM sqlite_temp_schema WHERE type = 'trigger'
            """)
    }

    /// Deletes all entries of rows and the pull state of all entities, while `body` deletes the rows. Changes are not
    /// captured meanwhile.
    static func removingEntries(in db: Database, _ body: () throws -> Void) throws {
        guard let names = try names(in: db) else { return try body() }
        for name in names.entries { try db.execute(sql: "DELETE FROM \(name)") }
        let mode = names.captureOff == "sync_capture_off" ? "'writing'" : "1"
        try db.execute(sql: "INSERT INTO \(names.captureOff) VALUES (\(mode)) ON CONFLICT DO NOTHING")
        try body()
        try db.execute(sql: "DELETE FROM \(names.captureOff)")
    }
}

// MARK: - Invalid values

/// Finds invalid values in the engine's tables.
///
/// The tables are STRICT, so a value of a wrong type comes from a damaged file or from a program that edited the
/// schema.
enum EngineTableCheck {
    /// An error for a value in the engine's tables that does not have the expected type, or is no JSON or no state.
    fileprivate struct InvalidValue: LocalizedError {
        let errorDescription: String?
    }

    /// Runs `body`. If `body` cannot decode a value, the error names the table, row and column of the first invalid
    /// value. Throws ``SyncError`` `databaseError` for such a value, and if the tables were removed; other errors of
    /// `body`.
    static func located<T>(in db: Database, _ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let failure where failure is RowDecodingError || failure is InvalidValue {
            throw error(in: db)
        } catch let failure as DatabaseError
            where isOfMissingTable(failure) && (try? EngineSchema.hasLeaseTable(in: db)) == false
        {
            throw removed(failure)
        }
    }

    /// Returns the error for an engine whose sync state was removed, or assigned to another service or user.
    static func removed(_ error: DatabaseError? = nil) -> SyncError {
        SyncError(
            .databaseError, "the sync state of this engine was removed (removeSyncState)", underlyingError: error,
            suggestion: "Create a new SyncEngine.")
    }

    private static func isOfMissingTable(_ error: DatabaseError) -> Bool {
        ["no such table: sync_", "no such table: main.sync_"].contains { error.message?.hasPrefix($0) == true }
    }

    /// Parses JSON that the engine stored. Call this method inside ``located(in:_:)``, which reports invalid JSON.
    static func json(_ text: String) throws -> JSONValue {
        guard let value = try? JSONValue(parsing: text) else {
            throw InvalidValue(errorDescription: "a value in the engine's tables is not JSON")
        }
        return value
    }

    private static func error(in db: Database) -> SyncError {
        let position = (try? firstDamage(in: db)) ?? "a value does not have the type of its column"
        return SyncError(.databaseError, "the engine's tables are damaged: \(position)")
    }

    // MARK: Search

    private static func firstDamage(in db: Database) throws -> String? {
        for (name, columns) in try declaredTables() where try db.tableExists(name, in: "main") {
            let stored = Set(try db.columns(in: name, in: "main").map(\.name))
            let key = columns.filter { $0.primaryKeyIndex > 0 }
                .map { "'\($0.name) ' || substr(quote(\($0.name.quoted)), 1, 80)" }.joined(separator: " || ', ' || ")
            for column in columns {
                guard stored.contains(column.name) else { return "\(name) has no column '\(column.name)'" }
                let isJSON = EngineSchema.jsonColumns[name]?.contains(column.name) ?? false
                let row = try String.fetchOne(
                    db, sql: "SELECT \(key) FROM main.\(name) WHERE \(isWrong(column, isJSON: isJSON)) LIMIT 1")
                let fault = isJSON ? "is not JSON" : "is not of the type \(column.type)"
                if let row { return "\(name), row \(row): '\(column.name)' \(fault)" }
            }
        }
        return nil
    }

    private static func isWrong(_ column: ColumnInfo, isJSON: Bool) -> String {
        let (name, isRequired) = (column.name.quoted, column.isNotNull || column.primaryKeyIndex > 0)
        var types = column.type == "ANY" ? [] : ["'\(column.type.lowercased())'"]
        if !isRequired, !types.isEmpty { types.append("'null'") }
        var conditions = types.isEmpty ? [] : ["typeof(\(name)) NOT IN (\(types.joined(separator: ", ")))"]
        if isRequired { conditions.append("\(name) IS NULL") }
        if isJSON { conditions.append("\(name) IS NOT NULL AND json_valid(\(name)) = 0") }
        return conditions.isEmpty ? "false" : conditions.joined(separator: " OR ")
    }

    /// Returns the tables as this version declares them, read from an empty database.
    private static func declaredTables() throws -> [(name: String, columns: [ColumnInfo])] {
        try DatabaseQueue().write { db in
            try EngineSchema.create(in: db)
            return try EngineSchema.tableNames.map { ($0, try db.columns(in: $0)) }
        }
    }
}

extension ResultRow {
    /// Returns the value of a column. Call this method inside ``EngineTableCheck/located(in:_:)``.
    func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, atIndex index: Int
    ) throws -> Value {
        guard let value = Value.fromDatabaseValue(self[index]) else {
            throw EngineTableCheck.InvalidValue(
                errorDescription: "a value in the engine's tables does not have the type of its column")
        }
        return value
    }

    func state<State: RawRepresentable<String>>(atIndex index: Int) throws -> State {
        guard let state = State(rawValue: try decode(atIndex: index)) else {
            throw EngineTableCheck.InvalidValue(errorDescription: "invalid state in the engine's tables")
        }
        return state
    }
}
