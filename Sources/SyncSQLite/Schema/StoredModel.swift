import Foundation
import GRDB
import SyncCore
import SyncStore

/// Reads and writes the model of a store. The store contains its model as the text of a schema file.
enum StoredModel {
    /// The treatment of a database without the tables of a store.
    enum Empty { case empty, notAStore, appDatabase }

    /// A model as the text of a schema file.
    struct Schema: Equatable {
        let text: String

        fileprivate init(text: String) { self.text = text }

        init(_ model: SyncModel) { text = String(decoding: model.schemaFile(), as: UTF8.self) }

        /// Compares bytes. Swift strings are equal if they are canonically equivalent, but SQLite distinguishes such
        /// names.
        static func == (left: Schema, right: Schema) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

        /// - Throws: ``SyncError`` `cannotOpenStore`.
        func model() throws -> SyncModel {
            do {
                return try SyncModel(schemaData: Data(text.utf8))
            } catch {
                throw SyncError(
                    .cannotOpenStore, "cannot read the model that is stored in the store", underlying: "\(error)")
            }
        }

        /// Returns whether the tables of the two models differ.
        func needsMigration(to model: SyncModel) throws -> Bool {
            let schema = Schema(model)
            // Most stores are opened with the model that they contain. This model then need not be parsed.
            if self == schema { return false }
            return try !ModelDifferences(stored: self.model(), given: schema.model()).problems.isEmpty
        }

        /// Returns the model with which a process that does not migrate opens the store: the stored model if it has all
        /// that the given model has, and more. Otherwise returns the given model.
        func modelWithoutMigration(_ model: SyncModel) throws -> SyncModel {
            guard try needsMigration(to: model) else { return model }
            let stored = try self.model()
            guard ModelDifferences(stored: stored, given: model).isStoredSuperset else { return model }
            return stored.registering(transformersOf: model)
        }
    }

    /// Returns the model of the store; nil if the database has no tables of a store and `empty` allows this.
    static func read(_ db: Database, or empty: Empty) throws -> SyncModel? {
        try schema(db, or: empty)?.model()
    }

    /// Returns the text of the stored model; nil under the same conditions as ``read(_:or:)``.
    static func schema(_ db: Database, or empty: Empty) throws -> Schema? {
        // Another connection may have created the tables. GRDB does not detect this on a connection that writes.
        db.clearSchemaCache()
        guard try db.tableExists("sync_model", in: "main") else {
            if empty == .appDatabase { return nil }
            let isEmpty = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") == 0
            if isEmpty, empty == .empty { return nil }
            let advice =
                isEmpty
                ? ""
                : "; 'syncdb schema introspect' derives a model of its tables, with which "
                    + "'syncdb import --model MODEL --existing-tables', or DataStack(model:existingTablesIn:) in an app, "
                    + "syncs into them"
            throw SyncError(.cannotOpenStore, "the file is a database, but not a Sync store\(advice)")
        }
        guard let row = try Row.fetchOne(db, sql: "SELECT \"schema\", \"version\" FROM \"sync_model\""),
            let schema = String.fromDatabaseValue(row[0]), let version = Int.fromDatabaseValue(row[1])
        else { throw SyncError(.cannotOpenStore, "the store has no stored model") }
        guard version <= SchemaSQL.existingTablesVersion else {
            throw SyncError(
                .cannotOpenStore,
                "the store was created by a later version of Sync (layout \(version), "
                    + "supported: \(SchemaSQL.existingTablesVersion))"
            )
        }
        return Schema(text: schema)
    }

    /// Migrates the tables to another model and stores that model, in one transaction. Existing tables are only
    /// checked.
    static func migrate(_ db: Database, to model: SyncModel, policy: MigrationPolicy) throws -> MigrationReport {
        try db.execute(sql: "PRAGMA foreign_keys = OFF")
        defer { try? db.execute(sql: "PRAGMA foreign_keys = ON") }
        var report = MigrationReport(changes: [], dataLosses: [])
        try db.inTransaction(.immediate) {
            guard let kept = try schema(db, or: .notAStore), try kept.needsMigration(to: model) else {
                return .rollback
            }
            if try hasExistingTables(db) {
                try useExistingTables(of: model, in: db)
                return .commit
            }
            report = try migrate(kept.model(), to: model, policy: policy, in: db)
            return .commit
        }
        return report
    }

    private static func migrate(
        _ kept: SyncModel, to model: SyncModel, policy: MigrationPolicy, in db: Database
    ) throws -> MigrationReport {
        if policy == .never {
            throw SyncError(
                .modelMismatch,
                "the store lacks members of the model, or has others, and 'migration: .never' does not migrate it",
                problems: ModelDifferences(stored: kept, given: model).problems,
                suggestion: "Migrate the store in the process with the latest model.")
        }
        let schema = Schema(model)
        try RetiredTables.drop(in: db)
        try SchemaNames.check(model, besides: kept, in: db)
        let report = try StoreMigrator.migrate(db, from: kept, to: schema.model(), policy: policy)
        try replace(with: schema, in: db)
        return report
    }

    /// Creates the tables and stores the model. Throws if a name is taken, or if the schema file of the model could not
    /// be read back.
    static func create(_ model: SyncModel, in db: Database) throws {
        let schema = Schema(model)
        _ = try schema.model()
        try SchemaNames.check(model, besides: nil, in: db)
        for statement in SchemaSQL(StoreLayout(model.compiled)).statements { try db.execute(sql: statement) }
        try insert(schema, SchemaSQL.version, in: db)
    }

    private static func insert(_ schema: Schema, _ version: Int, in db: Database) throws {
        try db.execute(
            sql: "INSERT INTO \"sync_model\" (\"id\", \"schema\", \"version\") VALUES (1, ?, ?)",
            arguments: [schema.text, version])
    }

    /// Creates the internal tables, which do not depend on the model, and stores the model.
    static func createOwnTables(for model: SyncModel, version: Int, in db: Database) throws {
        let schema = Schema(model)
        _ = try schema.model()
        try SchemaNames.checkOwn(in: db)
        for statement in SchemaSQL.ownTables { try db.execute(sql: statement) }
        try insert(schema, version, in: db)
    }

    /// Stores a model, unless it is already the stored model.
    static func update(_ model: SyncModel, in db: Database) throws {
        let new = Schema(model)
        if try schema(db, or: .appDatabase) != new { try replace(with: new, in: db) }
    }

    private static func replace(with schema: Schema, in db: Database) throws {
        try db.execute(sql: "UPDATE \"sync_model\" SET \"schema\" = ?", arguments: [schema.text])
        try EngineMigration.unblockRows(in: db)
    }

    /// Creates the tables of a store in a database, or migrates its tables to the model.
    ///
    /// - Returns: The version of the schema afterwards.
    static func createOrMigrate(_ model: SyncModel, policy: MigrationPolicy, in db: Database) throws -> Int? {
        if try schema(db, or: .appDatabase)?.needsMigration(to: model) == true {
            _ = try migrate(db, to: model, policy: policy)
        }
        var version: Int?
        try db.inTransaction(openingTransaction(model, in: db)) {
            try createOrUpdate(model, in: db, or: .appDatabase)
            version = try StoreMonitor.schemaVersion(db)
            return .commit
        }
        return version
    }

    /// Returns the kind of the transaction that opens a store. Opening an unchanged store only reads, so that it does
    /// not wait for another process that writes.
    static func openingTransaction(_ model: SyncModel, in db: Database) throws -> Database.TransactionKind {
        let isUnchanged = try schema(db, or: .appDatabase) == Schema(model) && RetiredTables.found(in: db).isEmpty
        return isUnchanged ? .deferred : .immediate
    }

    /// Creates the tables if there are none. Otherwise stores the new model, and throws if it requires different
    /// tables.
    static func createOrUpdate(_ model: SyncModel, in db: Database, or empty: Empty = .empty) throws {
        guard let kept = try schema(db, or: empty) else { return try create(model, in: db) }
        if try hasExistingTables(db) { return try useExistingTables(of: model, in: db) }
        guard try !kept.needsMigration(to: model) else { throw StoreMonitor.changed }
        try RetiredTables.drop(in: db)
        try update(model, in: db)
    }
}

/// The tables and triggers that earlier versions of Sync created in a store, and that have no use any more.
enum RetiredTables {
    static let names = ["sync_fingerprints", "sync_fingerprint", "sync_fingerprint_seal", "sync_written"]

    /// Drops the retired tables and triggers. Triggers come first, because they write to the tables.
    static func drop(in db: Database) throws {
        for object in try found(in: db) {
            let (type, name): (String, String) = (object[0], object[1])
            try db.execute(sql: "DROP \(type) main.\(name.quoted)")
        }
    }

    /// Returns the type and the name of each retired object that exists.
    static func found(in db: Database) throws -> [Row] {
        let tables = names.map(\.literal).joined(separator: ", ")
        return try Row.fetchAll(
            db,
            sql: """
                SELECT type, name FROM sqlite_schema
                WHERE type = 'trigger' AND name GLOB 'sync_written_*' OR type IN ('table', 'view') AND name IN (\(tables))
                ORDER BY type = 'trigger' DESC
                """)
    }
}
