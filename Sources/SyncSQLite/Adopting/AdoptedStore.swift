import GRDB
import SyncCore
import SyncStore

/// A store whose tables are an app's own. What it makes beside them begins with `sync_`.
struct AdoptedStore {
    let writer: any DatabaseWriter

    /// Checks the tables, and keeps the model.
    func open(_ model: SyncModel) throws -> OpenStore {
        let version = try StoreFailure.mapped(.storeFailure, "the tables of the database cannot be adopted") {
            try writer.writeWithoutTransaction { db in
                ConnectionFunctions.install(in: db)
                try GuestConnection.checkDatabase(db)
                if try GuestConnection.isReadOnly(db) {
                    guard let kept = try KeptModel.read(db, or: .guest), try KeptModel.isAdopted(db),
                        try !KeptModel.needsMigration(kept, to: model)
                    else { throw SyncError(.storeReadOnly, "this connection to the database is read-only") }
                    try AdoptionCheck.check(model, in: db, readsValues: false)
                    return try StoreWatch.schemaVersion(db)
                }
                var version: Int?
                try db.inTransaction(.immediate) {
                    try KeptModel.adopt(model, in: db)
                    version = try StoreWatch.schemaVersion(db)
                    return .commit
                }
                return version
            }
        }
        return OpenStore(model: model, database: writer, schemaVersion: version, isGuest: true, isAdopted: true)
    }
}

extension KeptModel {
    /// Whether the tables of the model are the app's.
    static func isAdopted(_ db: Database) throws -> Bool {
        guard try db.tableExists("sync_model", in: "main") else { return false }
        return try Int.fetchOne(db, sql: "SELECT \"version\" FROM \"sync_model\"") == SchemaSQL.adoptedVersion
    }

    /// Has the tables there are be those of a model, in the caller's transaction.
    ///
    /// - Throws: ``SyncError`` `unsuitableTables`; `modelMismatch` if there are tables that we made.
    static func adopt(_ model: SyncModel, in db: Database) throws {
        let kept = try read(db, or: .guest)
        if kept != nil, try !isAdopted(db) {
            throw SyncError(
                .modelMismatch,
                "the database has tables already that were made for a model; open them with 'DataStack(model:in:)'")
        }
        let isSame = try kept.map { try !needsMigration($0, to: model) } ?? false
        let readsValues = try !isSame || OtherUUIDs.exist(in: db, of: StoreLayout(model.compiled, isAdopted: true))
        try AdoptionCheck.check(model, in: db, readsValues: readsValues)
        if kept == nil {
            try createOwnTables(for: model, version: SchemaSQL.adoptedVersion, in: db)
        } else {
            // What an app's own migration left no column for is in the log of conflicts.
            if let kept, !isSame { try EngineMigration.follow(db, from: kept, to: model) }
            try keep(model, in: db)
        }
    }
}
