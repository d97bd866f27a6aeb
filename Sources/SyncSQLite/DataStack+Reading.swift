public import Foundation
import GRDB
public import SyncCore

extension DataStack {
    /// Opens an existing store to fetch, count and plan, and leaves every byte of its file as it is.
    ///
    /// The store may be in a place where this user cannot write. ``init(at:)`` is for apps: it lets readers and a writer
    /// work at the same time, for which the file's header is written when it is opened.
    /// - Throws: ``SyncError`` `unreadableStore` if there is no file, which is then not created, or it is not a store;
    ///   `storeBusy` if another process keeps all others out; `missingTransformer`.
    public convenience init(
        reading url: URL, registering code: [AttributeTransformer] = [], transformers: TransformerPolicy = .required
    ) throws {
        self.init(try StoreReader(url).open().registering(code, transformers))
    }

    /// What opening the store in this file with another model would change, and what would be lost by it. Writes nothing.
    ///
    /// - Throws: ``SyncError`` `modelMismatch` for rows that lack what the model requires, `unreadableStore`.
    public static func migration(to model: SyncModel, at url: URL) throws -> MigrationReport {
        let copy = try DataStack(reading: url, transformers: .optional).copied()
        defer { try? copy.close() }
        return try copy.migrate(to: model, .allowingLoss)
    }

    /// A copy of the store as it is now, brought to a model: to be written to and thrown away.
    package func copy(with model: SyncModel, migration: MigrationPolicy) throws -> DataStack {
        let copy = try copied()
        _ = try copy.migrate(to: model, migration)
        let (version, isAdopted) = try copy.write { db in
            try KeptModel.createOrUpdate(model, in: db)
            return (try StoreWatch.schemaVersion(db), try KeptModel.isAdopted(db))
        }
        return DataStack(OpenStore(model: model, database: copy, schemaVersion: version, isAdopted: isAdopted))
    }

    private func copied() throws -> DatabaseQueue {
        try reading { db in try TemporaryStore.copy(of: db) }
    }
}

extension DatabaseQueue {
    fileprivate func migrate(to model: SyncModel, _ policy: MigrationPolicy) throws -> MigrationReport {
        try StoreFailure.mapped(.storeFailure, "the store cannot be brought to the new model") {
            try inDatabase { db in try KeptModel.migrate(db, to: model, policy: policy) }
        }
    }
}
