import Foundation
public import GRDB
import GRDBSQLite
public import SyncCore
import SyncStore

/// A store whose tables are beside those of an app, in the app's database.
struct AppDatabaseStore {
    let writer: any DatabaseWriter

    /// Makes the tables of a model, or brings those that are there to it.
    func open(_ model: SyncModel, policy: MigrationPolicy) throws -> OpenStore {
        let message = "the database cannot be given the tables of the model"
        let isAdopted = try DatabaseErrorMapper.mapped(.storeFailure, message) {
            try writer.read(StoredModel.isAdopted)
        }
        if isAdopted { return try ExistingTablesStore(writer: writer).open(model) }
        let version = try DatabaseErrorMapper.mapped(.storeFailure, message) {
            try writer.writeWithoutTransaction { db in
                SQLFunctionInstaller.install(in: db)
                try AppConnectionCheck.checkDatabase(db)
                if try AppConnectionCheck.isReadOnly(db) {
                    if try StoredModel.schema(db, or: .guest)?.needsMigration(to: model) == false {
                        return try StoreMonitor.schemaVersion(db)
                    }
                    try AppConnectionCheck.check(db)
                }
                return try StoredModel.createOrMigrate(model, policy: policy, in: db)
            }
        }
        return OpenStore(model: model, database: writer, schemaVersion: version, isGuest: true)
    }
}

/// What a connection of an app's own database must be set to, for a sync to be what it says.
enum AppConnectionCheck {
    /// Before any table is made.
    static func checkDatabase(_ db: Database) throws {
        try checkForeignKeys(db)
        let encoding = try String.fetchOne(db, sql: "PRAGMA encoding") ?? ""
        guard encoding == "UTF-8" else {
            throw SyncError(
                .unsuitableConnection,
                "the database keeps text as \(encoding), and conditions compare it as UTF-8; make it with "
                    + "'PRAGMA encoding = \"UTF-8\"'")
        }
    }

    /// Before anything is written. A connection that only reads would begin a transaction as if it could write.
    static func check(_ db: Database) throws {
        if try isReadOnly(db) { throw SyncError(.storeReadOnly, "this connection to the database is read-only") }
        try checkForeignKeys(db)
    }

    /// Also of a queue while it reads.
    static func isReadOnly(_ db: Database) throws -> Bool {
        try db.configuration.readonly || sqlite3_db_readonly(db.sqliteConnection, "main") == 1
            || Bool.fetchOne(db.cachedStatement(sql: "PRAGMA query_only")) == true
    }

    private static func checkForeignKeys(_ db: Database) throws {
        guard try Bool.fetchOne(db.cachedStatement(sql: "PRAGMA foreign_keys")) != true else { return }
        throw SyncError(
            .unsuitableConnection,
            "foreign keys are off on this connection, so that rows could be left that refer to deleted ones; "
                + "set 'configuration.foreignKeysEnabled = true', and in a DatabaseMigrator "
                + "'registerMigration(_, foreignKeyChecks: .immediate)'")
    }
}

/// Has what compiled conditions use on every connection that they run on, once: also on those of a database that an app
/// opened, whose pool makes connections when it needs them.
///
/// `@unchecked Sendable`: `known` is only touched while `lock` is held.
final class SQLFunctionInstaller: @unchecked Sendable {
    private struct Connection {
        weak var db: Database?
    }

    private static let shared = SQLFunctionInstaller()

    private let lock = NSLock()
    private var known: [ObjectIdentifier: Connection] = [:]

    /// A function that is there is not made again: SQLite refuses that while a statement runs.
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

/// The names in the schema of a database, of which SQLite has one set for tables, views and indexes.
struct SchemaNames {
    /// Name as SQLite compares it → the kind of thing and its name.
    private var kinds: [String: (type: String, name: String)] = [:]

    /// Those in use, on this connection.
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

    /// Those of a store of this model.
    private init(_ model: SyncModel) throws {
        let scratch = try DatabaseQueue()
        defer { try? scratch.close() }
        self = try scratch.inDatabase { db in
            for statement in SchemaSQL(StoreLayout(model.compiled)).statements { try db.execute(sql: statement) }
            return try SchemaNames(db)
        }
        for name in RetiredTables.names { kinds[name] = ("table", name) }
    }

    /// Refuses names that our own tables have.
    ///
    /// - Throws: ``SyncError`` `nameCollision`.
    static func checkOwn(in db: Database) throws { try check(SyncModel(entities: []), besides: nil, in: db) }

    /// Refuses a model whose tables, views and indexes have names that something else in the database has.
    ///
    /// - Parameter kept: The model whose tables are there already.
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
            "the database has names already that the model needs; rename the entities, or what has them",
            problems: taken.map { key, found in
                SyncError.Problem(
                    path: found.name,
                    message:
                        "\(Self.thing(found.type)) of the database, and \(Self.thing(wanted[key]?.type ?? "table")) "
                        + "of the model")
            })
    }
}

// MARK: - DataStack+Guest

extension DataStack {
    /// Keeps the rows of a model in the database of an app, in tables beside the app's own.
    ///
    /// ```swift
    /// let pool = try DatabasePool(path: path, configuration: configuration)
    /// try migrator.migrate(pool)
    /// let stack = try DataStack(model: SyncModel(contentsOf: modelURL), in: pool)
    /// ```
    /// The tables are made, or brought to the model as those of a file are, in one transaction; nothing else in the
    /// database is touched. The app opens and closes the database, with whatever configuration it likes as long as
    /// foreign keys are on; functions that conditions need are added to its connections when they are first used. A
    /// database has one model.
    ///
    /// A dry run (`Sync.plan`) waits for other writers as the configuration says, where that of a file of our own works on
    /// a copy instead.
    ///
    /// - Parameters:
    ///   - writer: A pool or a queue. It must not be closed before the stack is gone.
    ///   - migration: Whether rows, values and links that the model has no place for may be lost.
    ///   - transformers: Whether those that the model names must be registered on it.
    /// - Throws: ``SyncError`` `nameCollision` if a table, view or index of the app has a name that the model needs,
    ///   `unsuitableConnection` with the setting to change, `modelMismatch` with everything that would be lost,
    ///   `missingTransformer`, `storeReadOnly`, `storeBusy`. The database is then as it was.
    public convenience init(
        model: SyncModel, in writer: some DatabaseWriter, migration: MigrationPolicy = .keepingData,
        transformers: TransformerPolicy = .required
    ) throws {
        try transformers.check(model)
        self.init(try AppDatabaseStore(writer: writer).open(model, policy: migration))
    }

    /// Makes the tables of a model in a database that has none of ours, in the caller's transaction.
    ///
    /// ```swift
    /// migrator.registerMigration("sync") { db in try DataStack.createTables(of: model, in: db) }
    /// ```
    /// ``init(model:in:migration:transformers:)`` does it as well, and is then all that is needed. This is for a
    /// `DatabaseMigrator` with `eraseDatabaseOnSchemaChange`, which takes tables that it did not make for a change.
    ///
    /// - Throws: ``SyncError`` `nameCollision`.
    public static func createTables(of model: SyncModel, in db: Database) throws {
        guard try StoredModel.schema(db, or: .guest) == nil else { return }
        try DatabaseErrorMapper.mapped(.storeFailure, "the tables of the model cannot be made") {
            try StoredModel.create(model, in: db)
        }
    }

    /// A connection, as GRDB gives it to ``write(_:)-(_)`` and to the app's own reads and writes.
    public typealias Connection = Database

    /// The database: to read it with GRDB, and to observe it.
    public var reader: any DatabaseReader { database.writer }

    /// The database, to write to it with GRDB. What the app writes to the tables of the model, a sync compares as any rows.
    public var writer: any DatabaseWriter { database.writer }
}
