import Foundation
import GRDB
import SyncCore

/// The file of a store: created whole or not at all, refused before anything is written to it.
struct StoreFile {
    private let url: URL
    private let path: String

    init(_ url: URL) {
        self.url = url
        path = url.path
    }

    static func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(5)
        configuration.label = "Sync"
        configuration.prepareDatabase { db in
            try PageCache.set(PageCache.size, db)
            PredicateSQL.install(in: db)
        }
        return configuration
    }

    // MARK: Opening

    /// Opens the store, or creates it with this model.
    func open(_ model: Model, policy: MigrationPolicy) throws -> DatabasePool {
        guard url.isFileURL else { throw unreadable("'\(url.absoluteString)' is not a file") }
        guard FileManager.default.fileExists(atPath: path) else {
            do {
                return try pool { db in try KeptModel.createOrUpdate(model, in: db) }
            } catch {
                removeFiles()
                throw error
            }
        }
        return try inspected { queue in
            let kept = try read(queue) { db in try KeptModel.read(db, or: .empty) }
            if let kept {
                if try KeptModel.needsMigration(kept, to: model) { _ = try migrate(to: model, policy) }
                try read(queue, fillLog)
            }
            return try pool { db in try KeptModel.createOrUpdate(model, in: db) }
        }
    }

    /// Brings an existing store to another model, in one transaction. A dry run does all the work and takes it back.
    func migrate(to model: Model, _ policy: MigrationPolicy, isDryRun: Bool = false) throws -> MigrationReport {
        var configuration = Self.configuration()
        configuration.foreignKeysEnabled = false
        let message = "'\(path)' cannot be brought to the new model"
        return try StoreFailure.mapped(.storeFailure, message) {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            var report = MigrationReport(changes: [], losses: [])
            try queue.inDatabase { db in
                try db.inTransaction(.immediate) {
                    guard let kept = try KeptModel.read(db, or: .notAStore),
                        try KeptModel.needsMigration(kept, to: model)
                    else { return .rollback }
                    report = try KeptModel.migrate(kept, to: model, policy: policy, in: db)
                    return isDryRun ? .rollback : .commit
                }
            }
            return report
        }
    }

    /// Opens an existing store.
    func open() throws -> (Model, DatabasePool) {
        guard url.isFileURL, FileManager.default.fileExists(atPath: path) else {
            throw unreadable("there is no store at '\(path)'")
        }
        return try inspected { queue in
            let kept = try read(queue) { db in try KeptModel.read(db, or: .notAStore) }
            guard let kept else { throw unreadable("'\(path)' is empty") }
            try read(queue, fillLog)
            return (kept, try pool { db in try FingerprintSchema.prepare(kept, in: db) })
        }
    }

    /// Looks at the file as it is: unlike a pool, a queue does not change its journal mode.
    private func inspected<T>(_ body: (DatabaseQueue) throws -> T) throws -> T {
        let queue = try StoreFailure.mapped(.unreadableStore, unreadableMessage) {
            try DatabaseQueue(path: path, configuration: Self.configuration())
        }
        defer { try? queue.close() }
        return try body(queue)
    }

    private func read<T>(_ queue: DatabaseQueue, _ body: (Database) throws -> T) throws -> T {
        try StoreFailure.mapped(.unreadableStore, unreadableMessage) { try queue.inDatabase(body) }
    }

    private var unreadableMessage: String { "'\(path)' cannot be read as a store" }

    /// Writes a page as it is to an empty write-ahead log. A pool fills an empty log by changing the schema back and
    /// forth, so that only opening a store would change its file.
    private func fillLog(_ db: Database) throws {
        guard try String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal" else { return }
        let size = try? FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
        guard (size ?? 0) == 0 else { return }
        try db.inTransaction(.immediate) {
            try db.execute(sql: "UPDATE \"sync_model\" SET \"version\" = \"version\" + 1")
            try db.execute(sql: "UPDATE \"sync_model\" SET \"version\" = \"version\" - 1")
            return .commit
        }
    }

    private func pool(_ prepare: (Database) throws -> Void) throws -> DatabasePool {
        let pool = try StoreFailure.mapped(.unreadableStore, "the store at '\(path)' cannot be opened or created") {
            try DatabasePool(path: path, configuration: Self.configuration())
        }
        do {
            try StoreFailure.mapped(.storeFailure, "the tables of '\(path)' cannot be created") {
                try pool.write(prepare)
            }
            return pool
        } catch {
            try? pool.close()
            throw error
        }
    }

    private func removeFiles() {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    private func unreadable(_ message: String) -> SyncError { SyncError(.unreadableStore, message) }
}
