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
            try db.execute(sql: "PRAGMA cache_size = -16384")
            PredicateSQL.install(in: db)
        }
        return configuration
    }

    // MARK: Opening

    /// Opens the store, or creates it with this model.
    func open(_ model: Model) throws -> DatabasePool {
        guard url.isFileURL else { throw unreadable("'\(url.absoluteString)' is not a file") }
        let isNew = !FileManager.default.fileExists(atPath: path)
        if !isNew, let kept = try inspect({ db in try KeptModel.read(db, or: .empty) }) {
            try KeptModel.check(kept, against: model)
        }
        do {
            return try pool { db in try KeptModel.createOrUpdate(model, in: db) }
        } catch {
            if isNew { removeFiles() }
            throw error
        }
    }

    /// Opens an existing store.
    func open() throws -> (Model, DatabasePool) {
        guard url.isFileURL, FileManager.default.fileExists(atPath: path) else {
            throw unreadable("there is no store at '\(path)'")
        }
        guard let model = try inspect({ db in try KeptModel.read(db, or: .notAStore) }) else {
            throw unreadable("'\(path)' is empty")
        }
        return (model, try pool { _ in })
    }

    /// Reads from the file as it is: unlike a pool, a queue does not change its journal mode.
    private func inspect<T>(_ read: (Database) throws -> T) throws -> T {
        try StoreFailure.mapped(.unreadableStore, "'\(path)' cannot be read as a store") {
            let queue = try DatabaseQueue(path: path, configuration: Self.configuration())
            defer { try? queue.close() }
            return try queue.read(read)
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
