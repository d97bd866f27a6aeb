import GRDB
import SyncCore

/// A store whose tables are beside those of an app, in the app's database.
struct GuestStore {
    let writer: any DatabaseWriter

    /// Makes the tables of a model, or brings those that are there to it.
    func open(_ model: SyncModel, policy: MigrationPolicy) throws -> OpenStore {
        let message = "the database cannot be given the tables of the model"
        let isAdopted = try StoreFailure.mapped(.storeFailure, message) { try writer.read(KeptModel.isAdopted) }
        if isAdopted { return try AdoptedStore(writer: writer).open(model) }
        let version = try StoreFailure.mapped(.storeFailure, message) {
            try writer.writeWithoutTransaction { db in
                ConnectionFunctions.install(in: db)
                try GuestConnection.checkDatabase(db)
                if try GuestConnection.isReadOnly(db) {
                    if let kept = try KeptModel.read(db, or: .guest), try !KeptModel.needsMigration(kept, to: model) {
                        return try StoreWatch.schemaVersion(db)
                    }
                    try GuestConnection.check(db)
                }
                return try KeptModel.createOrMigrate(model, policy: policy, in: db)
            }
        }
        return OpenStore(model: model, database: writer, schemaVersion: version, isGuest: true)
    }
}
