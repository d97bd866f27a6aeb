import Foundation
public import GRDB
import GRDBSQLite
public import SyncCore
import SyncStore

/// A store in an app database, with its tables beside those of the app.
struct AppDatabaseStore {
    let writer: any DatabaseWriter

    /// Creates the tables of a model, or migrates the tables of an earlier model to it. Existing tables are only
    /// checked.
    func open(_ given: SyncModel, policy: MigrationPolicy) throws -> OpenStore {
        let message = "cannot create the tables of the model in the database"
        let (hasExistingTables, model) = try DatabaseErrorMapper.mapped(.databaseError, message) {
            try writer.read { db in
                guard try !StoredModel.hasExistingTables(db) else { return (true, given) }
                let kept = policy == .never ? try StoredModel.schema(db, or: .appDatabase) : nil
                return (false, try kept?.modelWithoutMigration(given) ?? given)
            }
        }
        if hasExistingTables { return try ExistingTablesStore(writer: writer).open(given) }
        let version = try DatabaseErrorMapper.mapped(.databaseError, message) {
            try writer.writeWithoutTransaction { db in
                SQLFunctionInstaller.install(in: db)
                try AppConnectionCheck.checkDatabase(db)
                if try AppConnectionCheck.isReadOnly(db) {
                    if try StoredModel.schema(db, or: .appDatabase)?.needsMigration(to: model) == false {
                        return try StoreMonitor.schemaVersion(db)
                    }
                    try AppConnectionCheck.check(db)
                }
                return try StoredModel.createOrMigrate(model, policy: policy, in: db)
            }
        }
        return OpenStore(model: model, database: writer, schemaVersion: version, isAppDatabase: true)
    }
}

/// Checks the settings that a sync requires of a connection.
enum AppConnectionCheck {
    /// Checks a database before tables are created in it.
    static func checkDatabase(_ db: Database) throws {
        try checkForeignKeys(db)
        let encoding = try String.fetchOne(db, sql: "PRAGMA encoding") ?? ""
        guard encoding == "UTF-8" else {
            throw SyncError(
                .incompatibleConnection,
                "the database has the encoding \(encoding), and a sync requires UTF-8; create the database with "
                    + "'PRAGMA encoding = \"UTF-8\"'")
        }
    }

    /// Checks a connection before it writes. SQLite begins a write transaction on a read-only connection without an
    /// error.
    static func check(_ db: Database) throws {
        if try isReadOnly(db) { throw SyncError(.databaseReadOnly, "this connection to the database is read-only") }
        try checkForeignKeys(db)
    }

    /// Returns whether the connection is read-only. This includes the connection of a `DatabaseQueue` during a read.
    static func isReadOnly(_ db: Database) throws -> Bool {
        try db.configuration.readonly || sqlite3_db_readonly(db.sqliteConnection, "main") == 1
            || Bool.fetchOne(db.cachedStatement(sql: "PRAGMA query_only")) == true
    }

    /// Returns whether foreign keys are on. The setting cannot change inside a transaction.
    static func hasForeignKeysOn(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db.cachedStatement(sql: "PRAGMA foreign_keys")) == true
    }

    private static func checkForeignKeys(_ db: Database) throws {
        if try hasForeignKeysOn(db) { return }
        throw SyncError(
            .incompatibleConnection,
            "foreign keys are disabled on this connection, so deletions could leave dangling links; "
                + "set 'configuration.foreignKeysEnabled = true', and in a DatabaseMigrator "
                + "'registerMigration(_, foreignKeyChecks: .immediate)'")
    }
}

/// Installs the SQL functions of compiled conditions on each connection once, including connections that the app's pool
/// opens later.
///
/// `@unchecked Sendable`: `known` is only accessed while `lock` is held.
final class SQLFunctionInstaller: @unchecked Sendable {
    private struct Connection {
        weak var db: Database?
    }

    private static let shared = SQLFunctionInstaller()

    private let lock = NSLock()
    private var known: [ObjectIdentifier: Connection] = [:]

    /// Installs the functions, unless the connection has them. SQLite cannot replace a function while a statement runs.
    static func install(in db: Database) {
        if shared.isNew(db) { PredicateSQL.install(in: db) }
    }

    private func isNew(_ db: Database) -> Bool {
        lock.withLock {
            if known[ObjectIdentifier(db)]?.db === db { return false }
            known = known.filter { $0.value.db != nil }
            known[ObjectIdentifier(db)] = Connection(db: db)
            return true
        }
    }
}

/// The names in the schema of a database. In SQLite, tables, views and indexes share one namespace.
struct SchemaNames {
    /// The type and the name of each object, by its name in folded case.
    private var kinds: [String: (type: String, name: String)] = [:]

    /// Reads the names in use on a connection.
    init(_ db: Database) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT type, name FROM sqlite_schema WHERE type <> 'trigger'
                UNION ALL SELECT type, name FROM sqlite_temp_schema WHERE type <> 'trigger'
                """)
        for row in rows {
            let name: String = row[1]
            if !name.hasPrefix("sqlite_") { kinds[name.foldedForSQL] = (row[0], name) }
        }
    }

    private static func thing(_ type: String) -> String { type == "index" ? "an index" : "a \(type)" }

    /// Computes the names of a store with this model.
    private init(_ model: SyncModel) throws {
        let scratch = try DatabaseQueue()
        defer { try? scratch.close() }
        self = try scratch.inDatabase { db in
            for statement in SchemaSQL(StoreLayout(model.compiled)).statements { try db.execute(sql: statement) }
            return try SchemaNames(db)
        }
        for name in RetiredTables.names { kinds[name] = ("table", name) }
    }

    /// Checks that no other object of the database has the name of an internal table of the store.
    ///
    /// - Throws: ``SyncError`` `nameCollision`.
    static func checkOwn(in db: Database) throws { try check(SyncModel(entities: []), besides: nil, in: db) }

    /// Checks that no other object of the database has the name of a table, view or index of the model.
    ///
    /// - Parameter kept: The model of the tables that are already in the database.
    /// - Throws: ``SyncError`` `nameCollision`.
    static func check(_ model: SyncModel, besides kept: SyncModel?, in db: Database) throws {
        let own = try kept.map { Set(try SchemaNames($0).kinds.keys) } ?? []
        let foreign = try SchemaNames(db).kinds.filter { !own.contains($0.key) }
        if foreign.isEmpty { return }
        let wanted = try SchemaNames(model).kinds
        let taken = foreign.filter { wanted[$0.key] != nil }.sorted { $0.key < $1.key }
        guard !taken.isEmpty else { return }
        throw SyncError(
            .nameCollision,
            "the model needs names that the database already uses; rename the entities, or the tables of the app",
            problems: taken.map { key, found in
                SyncDiagnostic(
                    .incompatibleTable, path: found.name,
                    message:
                        "is \(Self.thing(found.type)) of the database and \(Self.thing(wanted[key]?.type ?? "table")) "
                        + "of the model")
            })
    }
}

// MARK: - DataStack+AppDatabase

extension DataStack {
    /// Creates a stack in an app database, which contains the tables of the app and the tables of the model.
    ///
    /// ```swift
    /// let pool = try DatabasePool(path: path, configuration: configuration)
    /// try migrator.migrate(pool)
    /// let stack = try DataStack(model: SyncModel(contentsOf: modelURL), in: pool)
    /// ```
    /// The call creates the tables of the model. If the database contains the tables of an earlier model, the call
    /// migrates these tables to the model. The call does not change tables of the app.
    ///
    /// A database can contain the tables of only one model. If an earlier stack used existing tables of the app, the
    /// call checks these tables against the model and creates no other tables.
    ///
    /// The app opens and closes the database. The configuration of the database must enable foreign keys, and the
    /// encoding of the database must be UTF-8. The stack adds SQL functions to each connection that it uses.
    ///
    /// While another connection is writing, `Sync.plan` waits or fails, as the `busyMode` of the database configuration
    /// specifies.
    ///
    /// - Parameters:
    ///   - writer: A pool or a queue, which must stay open until the stack is closed or released.
    ///   - migration: Whether a migration may delete rows, values and links that do not fit the model.
    ///   - transformers: Whether every transformer that the model names must be built in, or registered with the model.
    /// - Throws: ``SyncError`` `nameCollision` if a table, view or index of the app has a name that the stack requires.
    ///   `incompatibleConnection` if a setting of the database must change; the message names the setting.
    ///   `modelMismatch` if `migration` forbids a necessary loss of data, or if rows lack values that the model
    ///   requires. `incompatibleTables` if existing tables do not fit the model. `missingTransformer`,
    ///   `cannotOpenStore`, `databaseReadOnly`, `databaseBusy` or `databaseError`. If the call throws an error, the
    ///   database is unchanged.
    public convenience init(
        model: SyncModel, in writer: some DatabaseWriter, migration: MigrationPolicy = .keepingData,
        transformers: TransformerPolicy = .required
    ) throws {
        try transformers.check(model)
        let store = try AppDatabaseStore(writer: writer).open(model, policy: migration)
        try transformers.check(store.model)
        self.init(store)
    }

    /// Creates the tables of a model in the caller's transaction. If the database already contains the tables of any
    /// model, the call does nothing.
    ///
    /// ```swift
    /// migrator.registerMigration("sync") { db in try DataStack.createTables(of: model, in: db) }
    /// ```
    /// Call this method only in a migration of a `DatabaseMigrator` with `eraseDatabaseOnSchemaChange`. Such a migrator
    /// treats a table that no migration created as a schema change. In other apps,
    /// ``init(model:in:migration:transformers:)`` creates the tables.
    ///
    /// - Throws: ``SyncError`` `nameCollision` if a table, view or index of the app has a name that a stack requires.
    ///   `cannotOpenStore`, `databaseBusy`, `databaseReadOnly` or `databaseError`.
    public static func createTables(of model: SyncModel, in db: Database) throws {
        guard try StoredModel.schema(db, or: .appDatabase) == nil else { return }
        try DatabaseErrorMapper.mapped(.databaseError, "cannot create the tables of the model") {
            try StoredModel.create(model, in: db)
        }
    }

    /// A database connection of GRDB. The closures of ``read(_:)-7aeh7`` and ``write(_:)-eoq9`` receive a connection.
    public typealias Connection = Database

    /// The database for reads and observations with GRDB.
    package var reader: any DatabaseReader { database.writer }

    /// The database for writes with GRDB. After ``close()``, do not use the database, unless it is an app database.
    ///
    /// You can write rows to the tables of the model. A sync treats these rows like all other rows.
    public var writer: any DatabaseWriter { database.writer }
}
