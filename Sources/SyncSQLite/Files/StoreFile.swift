import Foundation
import GRDB
import SyncCore
import SyncStore

/// The file of a store that is written: created whole or not at all, refused before anything is written to it.
package struct StoreFile {
    /// How long a connection that is opened now waits for another's lock, in milliseconds.
    @TaskLocal package static var patience: Int32 = 5000

    private let url: URL
    private let path: String
    /// What the caller calls it.
    private let name: String

    /// - Parameter name: What it is called in errors, if it has another name for now.
    init(_ url: URL, name: String? = nil) {
        self.url = url
        path = url.path
        self.name = name ?? path
    }

    static func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(Double(patience) / 1000)
        configuration.label = "Sync"
        configuration.prepareDatabase { db in
            try PageCache.set(PageCache.size, db)
            SQLFunctionInstaller.install(in: db)
        }
        return configuration
    }

    // MARK: Opening

    /// Opens the store, or creates it with this model.
    func open(_ model: SyncModel, policy: MigrationPolicy) throws -> OpenStore {
        guard url.isFileURL else { throw unreadable("'\(url.absoluteString)' is not a file") }
        if FileStatus(at: path) == nil { try create(model) }
        try check()
        return try inspected { queue in
            let kept = try read(queue) { db in try StoredModel.schema(db, or: .empty) }
            if let kept {
                if try kept.needsMigration(to: model) { _ = try migrate(to: model, policy) }
                try write(queue, fillLog)
            }
            return try pool(of: model) { db in try StoredModel.createOrUpdate(model, in: db) }
        }
    }

    /// Makes the store out of sight and puts it in its place. Another that was made there meanwhile stays.
    private func create(_ model: SyncModel) throws {
        let draft = try StagedStoreFile(for: url)
        defer { draft.remove() }
        let store = try Self.fill(draft, with: model)
        try store.database.close()
        _ = try draft.publish()
    }

    /// Makes the tables of a store that is not in its place yet.
    static func fill(_ draft: StagedStoreFile, with model: SyncModel) throws -> OpenStore {
        try StoreFile(draft.url, name: draft.name).pool(of: model) { db in
            try StoredModel.createOrUpdate(model, in: db)
        }
    }

    /// Brings an existing store to another model, in one transaction.
    private func migrate(to model: SyncModel, _ policy: MigrationPolicy) throws -> MigrationReport {
        let message = "'\(name)' cannot be brought to the new model"
        return try DatabaseErrorMapper.mapped(.storeFailure, message) {
            let queue = try DatabaseQueue(path: path, configuration: Self.configuration())
            defer { try? queue.close() }
            return try queue.inDatabase { db in try StoredModel.migrate(db, to: model, policy: policy) }
        }
    }

    /// Opens an existing store.
    func open() throws -> OpenStore {
        guard url.isFileURL, FileStatus(at: path) != nil else { throw unreadable("there is no store at '\(name)'") }
        try check()
        return try inspected { queue in
            let found = try read(queue) { db in
                try StoredModel.read(db, or: .notAStore)
                    .map { ($0, try StoreMonitor.schemaVersion(db), try StoredModel.isAdopted(db)) }
            }
            guard let (kept, version, isAdopted) = found else { throw unreadable("'\(name)' is empty") }
            try write(queue, fillLog)
            let pool = try pool { db in try RetiredTables.drop(in: db) }
            return OpenStore(model: kept, database: pool, schemaVersion: version, isAdopted: isAdopted)
        }
    }

    /// What is no file, or cannot be written, is not opened: SQLite would wait for a pipe, and leave files beside a store
    /// that is another user's.
    private func check() throws {
        guard FileStatus(at: path)?.isRegular == true else { throw unreadable("'\(name)' is not a file") }
        if let refusal = FileStatus.refusal(toWrite: path) { throw readOnly(refusal.message) }
    }

    /// Looks at the file as it is: unlike a pool, a queue does not change its journal mode.
    private func inspected<T>(_ body: (DatabaseQueue) throws -> T) throws -> T {
        let queue = try mapped(.unreadableStore, unreadableMessage) {
            try DatabaseQueue(path: path, configuration: Self.configuration())
        }
        defer { try? queue.close() }
        return try body(queue)
    }

    private func read<T>(_ queue: DatabaseQueue, _ body: (Database) throws -> T) throws -> T {
        try mapped(.unreadableStore, unreadableMessage) { try queue.inDatabase(body) }
    }

    private func write<T>(_ queue: DatabaseQueue, _ body: (Database) throws -> T) throws -> T {
        try mapped(.storeFailure, "'\(name)' cannot be written to") { try queue.inDatabase(body) }
    }

    private var unreadableMessage: String { "'\(name)' cannot be read as a store" }

    /// Writes a page as it is to an empty write-ahead log. A pool fills an empty log by changing the schema back and
    /// forth, so that only opening a store would change its file.
    private func fillLog(_ db: Database) throws {
        guard try String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal" else { return }
        let size = FileStatus(at: path + "-wal")?.size
        guard (size ?? 0) == 0 else { return }
        try db.inTransaction(.immediate) {
            try db.execute(sql: "UPDATE \"sync_model\" SET \"version\" = \"version\" + 1")
            try db.execute(sql: "UPDATE \"sync_model\" SET \"version\" = \"version\" - 1")
            return .commit
        }
    }

    /// A pool whose store has the tables of a model, once `prepare` has seen to it.
    private func pool(of model: SyncModel, _ prepare: (Database) throws -> Void) throws -> OpenStore {
        var version: Int?
        var isAdopted = false
        let pool = try pool { db in
            try prepare(db)
            version = try StoreMonitor.schemaVersion(db)
            isAdopted = try StoredModel.isAdopted(db)
        }
        return OpenStore(model: model, database: pool, schemaVersion: version, isAdopted: isAdopted)
    }

    private func pool(_ prepare: (Database) throws -> Void) throws -> DatabasePool {
        let pool = try mapped(.unreadableStore, "the store at '\(name)' cannot be opened or created") {
            try DatabasePool(path: path, configuration: Self.configuration())
        }
        do {
            try mapped(.storeFailure, "the tables of '\(name)' cannot be created") { try pool.write(prepare) }
            return pool
        } catch {
            try? pool.close()
            throw error
        }
    }

    // MARK: Errors

    /// SQLite has no word for a folder in which it cannot make the files it needs beside the store.
    private func mapped<T>(_ code: SyncError.Code, _ message: String, _ body: () throws -> T) throws -> T {
        try DatabaseErrorMapper.mapped(code, message) {
            do {
                return try body()
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CANTOPEN {
                if let path = try? ResolvedPath(path).path, !StoreFiles(path).isWritable {
                    throw readOnly(DatabaseErrorMapper.text(error))
                }
                throw error
            }
        }
    }

    private func readOnly(_ reason: String) -> SyncError {
        SyncError(
            .storeReadOnly, "'\(name)' cannot be written to: it or its folder is read-only for this user",
            underlying: reason)
    }

    private func unreadable(_ message: String) -> SyncError { SyncError(.unreadableStore, message) }
}

/// How much of a store SQLite keeps in memory, per connection.
enum PageCache {
    /// What a connection has, in KiB.
    static let size = 8192
    /// What the writer has while it writes very many rows or reads a payload in pieces, in KiB.
    static let largeSize = 65_536
    /// Bytes per new row: about an entry of each of its indexes, which are entered out of order.
    private static let bytesPerRow = 16

    static func set(_ size: Int, _ db: Database) throws {
        try db.execute(sql: "PRAGMA cache_size = -\(size)")
    }

    /// Makes room for the indexes of new rows, until the transaction ends: a page that an index needs again and that was
    /// let go meanwhile is written to the log and read from it each time.
    static func grow(forInserting rowCount: Int, _ db: Database) throws {
        let wanted = min(rowCount * bytesPerRow / 1024, largeSize)
        if wanted > size { try grow(to: wanted, db) }
    }

    /// Enlarges the cache until the transaction ends, if it is smaller.
    static func grow(to size: Int, _ db: Database) throws {
        // In KiB if it is negative, else in pages.
        let current = try Int.fetchOne(db, sql: "PRAGMA cache_size") ?? 0
        let pageSize = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 4096
        guard (current < 0 ? -current : current * pageSize / 1024) < size else { return }
        try set(size, db)
        let connection = ObjectIdentifier(db)
        guard grown.withLock({ $0.insert(connection).inserted }) else { return }
        // Not what it is until then: it may grow once more.
        let restore: @Sendable (Database) -> Void = { db in
            grown.withLock { $0.remove(connection) }
            try? db.execute(sql: "PRAGMA cache_size = \(current)")
        }
        db.afterNextTransaction(onCommit: restore, onRollback: restore)
    }

    /// The connections whose cache is larger than it was, until their transaction ends.
    private static let grown = Locked<Set<ObjectIdentifier>>([])
}

/// A private copy of a store, to be written to and thrown away: it is gone with its connection, also if the process is
/// killed.
enum TemporaryStore {
    /// What was committed when this is called, also while another process writes.
    static func copy(of db: Database) throws -> DatabaseQueue {
        // A path of no characters is SQLite's own temporary file, without a name.
        let queue = try DatabaseQueue(path: "", configuration: StoreFile.configuration())
        try queue.inDatabase { copy in try db.backup(to: copy) }
        return queue
    }
}
