package import Foundation
import GRDB
import SyncCore
import SyncStore

/// The file of a store that is opened for writing. A new file is created completely or not at all. An existing file is
/// checked before the first write.
package struct StoreFile {
    /// The time in milliseconds that a new connection waits for a lock of another connection.
    @TaskLocal package static var busyTimeout: Int32 = 5000

    private let url: URL
    private let path: String
    /// The name of the store in errors.
    private let name: String

    /// - Parameter name: The name in errors, if the file has a temporary path.
    init(_ url: URL, name: String? = nil) {
        self.url = url
        path = url.path
        self.name = name ?? path
    }

    static func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(Double(busyTimeout) / 1000)
        configuration.label = "Sync"
        configuration.prepareDatabase { db in
            try PageCache.set(PageCache.size, db)
            SQLFunctionInstaller.install(in: db)
        }
        return configuration
    }

    // MARK: Opening

    /// Opens the store, after a migration if the model requires different tables. If the file does not exist, creates
    /// it with this model.
    func open(_ model: SyncModel, policy: MigrationPolicy) throws -> OpenStore {
        guard url.isFileURL else { throw unreadable("'\(url.absoluteString)' is not a file") }
        if FileStatus(at: path) == nil { try create(model) }
        try check()
        return try inspected { queue in
            let kept = try read(queue) { db in try StoredModel.schema(db, or: .empty) }
            let model = policy == .never ? try kept?.modelWithoutMigration(model) ?? model : model
            if let kept {
                if try kept.needsMigration(to: model) { _ = try migrate(to: model, policy) }
                try write(queue, fillLog)
            }
            return try pool(of: model)
        }
    }

    /// Creates the store in a temporary folder and moves it to its path. If another process has created a store there,
    /// that store stays.
    private func create(_ model: SyncModel) throws {
        let draft = try StagedStoreFile(for: url)
        defer { draft.remove() }
        let store = try Self.fill(draft, with: model)
        try store.database.close()
        _ = try draft.publish()
    }

    /// Creates the tables of a store in a staged file.
    static func fill(_ draft: StagedStoreFile, with model: SyncModel) throws -> OpenStore {
        try StoreFile(draft.url, name: draft.name).pool(of: model)
    }

    /// Migrates an existing store to another model, in one transaction.
    private func migrate(to model: SyncModel, _ policy: MigrationPolicy) throws -> MigrationReport {
        let message = "cannot migrate '\(name)' to the new model"
        return try DatabaseErrorMapper.mapped(.databaseError, message) {
            let queue = try DatabaseQueue(path: path, configuration: Self.configuration())
            defer { try? queue.close() }
            return try queue.inDatabase { db in try StoredModel.migrate(db, to: model, policy: policy) }
        }
    }

    /// Opens an existing store with the model that is stored in it.
    func open() throws -> OpenStore {
        guard url.isFileURL, FileStatus(at: path) != nil else { throw unreadable("no store at '\(name)'") }
        try check()
        return try inspected { queue in
            let found = try read(queue) { db in
                try StoredModel.read(db, or: .notAStore)
                    .map { ($0, try StoreMonitor.schemaVersion(db), try StoredModel.hasExistingTables(db)) }
            }
            guard let (kept, version, hasExistingTables) = found else { throw unreadable("'\(name)' is empty") }
            try write(queue, fillLog)
            let pool = try pool(
                in: { db in try RetiredTables.found(in: db).isEmpty ? .deferred : .immediate }, RetiredTables.drop)
            return OpenStore(model: kept, database: pool, schemaVersion: version, hasExistingTables: hasExistingTables)
        }
    }

    /// Throws if the path is not a regular file or is not writable. SQLite would block on a pipe, and would leave files
    /// beside a store that it cannot write.
    private func check() throws {
        guard FileStatus(at: path)?.isRegular == true else { throw unreadable("'\(name)' is not a file") }
        if let refusal = FileStatus.refusal(toWrite: path) { throw readOnly(refusal.message) }
    }

    /// Runs `body` with a queue, which, unlike a pool, does not change the journal mode of the file.
    private func inspected<T>(_ body: (DatabaseQueue) throws -> T) throws -> T {
        let queue = try mapped(.cannotOpenStore, unreadableMessage) {
            try DatabaseQueue(path: path, configuration: Self.configuration())
        }
        defer { try? queue.close() }
        return try body(queue)
    }

    private func read<T>(_ queue: DatabaseQueue, _ body: (Database) throws -> T) throws -> T {
        try mapped(.cannotOpenStore, unreadableMessage) { try queue.inDatabase(body) }
    }

    private func write<T>(_ queue: DatabaseQueue, _ body: (Database) throws -> T) throws -> T {
        try mapped(.databaseError, "cannot write to '\(name)'") { try queue.inDatabase(body) }
    }

    private var unreadableMessage: String { "cannot read '\(name)' as a store" }

    /// Writes an unchanged page to an empty write-ahead log. Otherwise GRDB's pool would fill the log by creating and
    /// dropping a table, which changes the version of the schema.
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

    /// Opens a pool, and creates the tables of the model or checks them.
    private func pool(of model: SyncModel) throws -> OpenStore {
        var version: Int?
        var hasExistingTables = false
        let pool = try pool(in: { db in try StoredModel.openingTransaction(model, in: db) }) { db in
            try StoredModel.createOrUpdate(model, in: db)
            version = try StoreMonitor.schemaVersion(db)
            hasExistingTables = try StoredModel.hasExistingTables(db)
        }
        return OpenStore(model: model, database: pool, schemaVersion: version, hasExistingTables: hasExistingTables)
    }

    /// Opens a pool and runs `prepare` in a transaction.
    private func pool(
        in transaction: (Database) throws -> Database.TransactionKind, _ prepare: (Database) throws -> Void
    ) throws -> DatabasePool {
        let pool = try mapped(.cannotOpenStore, "cannot open or create the store at '\(name)'") {
            try DatabasePool(path: path, configuration: Self.configuration())
        }
        do {
            try mapped(.databaseError, "cannot create the tables of '\(name)'") {
                try pool.writeWithoutTransaction { db in
                    try db.inTransaction(transaction(db)) {
                        try prepare(db)
                        return .commit
                    }
                }
            }
            return pool
        } catch {
            try? pool.close()
            throw error
        }
    }

    // MARK: Errors

    /// Maps errors of the database. Detects a read-only folder, for which SQLite has no specific error.
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
            .databaseReadOnly, "cannot write to '\(name)': it or its folder is read-only for this user",
            underlying: reason)
    }

    private func unreadable(_ message: String) -> SyncError { SyncError(.cannotOpenStore, message) }
}

/// The page cache of a connection.
enum PageCache {
    /// The default size, in KiB, which is also that of SQLite. Scans and lookups hardly use a page twice.
    static let size = 2048
    /// The largest size for insertions of up to half a million rows, in KiB.
    static let insertionSize = 8192
    /// The largest size, for insertions of very many rows and for payloads that are read in chunks, in KiB.
    static let largeSize = 65_536
    /// The cache size in KiB per new row: a page. Rows with random keys each change another page.
    private static let kilobytesPerRow = 4
    /// The cache size in bytes per row of very many new rows: about one index entry. Indexes are filled out of order.
    private static let bytesPerRow = 16

    static func set(_ size: Int, _ db: Database) throws {
        try db.execute(sql: "PRAGMA cache_size = -\(size)")
    }

    /// Enlarges the cache for the indexes of new rows, until the transaction ends. Otherwise index pages are evicted,
    /// written to the log and read again.
    static func grow(forInserting rowCount: Int, _ db: Database) throws {
        let wanted = max(
            min(rowCount * kilobytesPerRow, insertionSize), min(rowCount * bytesPerRow / 1024, largeSize))
        if wanted > size { try grow(to: wanted, db) }
    }

    /// Enlarges the cache until the transaction ends, unless it is large enough.
    static func grow(to size: Int, _ db: Database) throws {
        // `cache_size` is in KiB if it is negative, else in pages.
        let current = try Int.fetchOne(db, sql: "PRAGMA cache_size") ?? 0
        let pageSize = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 4096
        guard (current < 0 ? -current : current * pageSize / 1024) < size else { return }
        try set(size, db)
        let connection = ObjectIdentifier(db)
        guard grown.withLock({ $0.insert(connection).inserted }) else { return }
        // Restores the size before the first growth, since the cache may grow again in the same transaction.
        let restore: @Sendable (Database) -> Void = { db in
            grown.withLock { $0.remove(connection) }
            try? db.execute(sql: "PRAGMA cache_size = \(current)")
        }
        db.afterNextTransaction(onCommit: restore, onRollback: restore)
    }

    /// The connections with an enlarged cache, until their transaction ends.
    private static let grown = Locked<Set<ObjectIdentifier>>([])
}

/// A private copy of a store for temporary writes. SQLite deletes the copy when its connection closes, even if the
/// process is killed.
enum TemporaryStore {
    /// Copies the committed content of a store, even while another process writes.
    static func copy(of db: Database) throws -> DatabaseQueue {
        // An empty path makes SQLite use an unnamed temporary file.
        let queue = try DatabaseQueue(path: "", configuration: StoreFile.configuration())
        try queue.inDatabase { copy in try db.backup(to: copy) }
        return queue
    }
}

/// A new store that is filled in a temporary folder and then published as a whole at its path. The new store never
/// replaces an existing store.
package struct StagedStoreFile: Sendable {
    private let target: ResolvedPath
    /// The path of the store as the caller gave it.
    let name: String
    private let folder: TemporaryFolder

    /// The file in which the store is filled.
    var url: URL { URL(fileURLWithPath: folder.path) }

    /// Creates the temporary folder for a new store.
    ///
    /// - Throws: ``SyncError`` `cannotOpenStore` if the folder of `url` does not exist, or if that folder contains log
    ///   files that SQLite would apply to the new store. `databaseReadOnly` if no file can be created in the folder.
    package init(for url: URL) throws {
        name = url.path
        do {
            target = try ResolvedPath(url.path)
        } catch let failure where [ENOENT, ENOTDIR].contains(failure.code) {
            let folder = url.deletingLastPathComponent().path
            throw SyncError(.cannotOpenStore, "cannot create the database: no folder '\(folder)'")
        } catch {
            throw SyncError(.cannotOpenStore, "cannot create the database '\(url.path)'", underlying: error.message)
        }
        try Self.refuseLeftovers(target)
        do {
            folder = try TemporaryFolder(in: target.folder)
        } catch let failure as SystemError {
            throw SyncError(
                .databaseReadOnly, "cannot create a database in the folder '\(target.folder)'",
                underlying: failure.message
            )
        }
    }

    /// Throws if no file or an empty file is at the path, and a log of another database is beside it. SQLite would
    /// apply that log to the new store.
    private static func refuseLeftovers(_ target: ResolvedPath) throws {
        guard let leftover = StoreFiles(target.path).filledLogs.first, FileStatus(at: target.path)?.size ?? 0 == 0
        else {
            return
        }
        throw SyncError(
            .cannotOpenStore,
            "'\(leftover)' belongs to another database and would corrupt the new one; move it away")
    }

    /// Moves the store to its path. The store must be closed. If an empty file is at the path, the call copies the
    /// store into that file. The call does not replace any other file.
    ///
    /// - Returns: Whether the store is now at its path; false if another store or file is there.
    package func publish() throws -> Bool {
        try Self.refuseLeftovers(target)
        do {
            return try isTaken() ? fillEmptyFile() : true
        } catch let failure as SystemError {
            throw unpublished(failure.message)
        }
    }

    #if os(Windows) || SYNC_FOUNDATION_FILES
        /// Moves the store to its path, unless a file is there. Returns whether a file is there.
        private func isTaken() throws -> Bool {
            do {
                try FileCopy.move(folder.path, toNew: target.path)
                return false
            } catch let failure as SystemError where failure.code == EEXIST {
                return true
            }
        }
    #else
        /// Creates a hard link to the store at its path. Returns true if a file is there. If the file system has no
        /// hard links, creates an empty file to reserve the path, and returns true.
        private func isTaken() throws -> Bool {
            if link(folder.path, target.path) == 0 { return false }
            if errno == EEXIST { return true }
            let descriptor = open(target.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
            guard descriptor >= 0 || errno == EEXIST else { throw SystemError() }
            if descriptor >= 0 { close(descriptor) }
            return true
        }
    #endif

    package func remove() { folder.remove() }

    /// Copies the store into an existing empty file, such as one that `mktemp` created. The file keeps its inode.
    /// Returns false if it is not an empty regular file.
    private func fillEmptyFile() throws -> Bool {
        guard let status = FileStatus(at: target.path), status.isRegular, status.size == 0 else { return false }
        do {
            let queue = try DatabaseQueue(path: target.path, configuration: StoreFile.configuration())
            defer { try? queue.close() }
            return try queue.inDatabase { db in
                // The first transaction takes an exclusive lock, which the connection keeps until it closes.
                try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
                var isEmpty = false
                try db.inTransaction(.exclusive) {
                    isEmpty = FileStatus(at: target.path)?.size == 0
                    return .rollback
                }
                guard isEmpty else { return false }
                let draft = try DatabaseQueue(path: folder.path, configuration: StoreFile.configuration())
                defer { try? draft.close() }
                try draft.inDatabase { try $0.backup(to: db) }
                return true
            }
        } catch let error as DatabaseError {
            throw unpublished(DatabaseErrorMapper.text(error))
        }
    }

    private func unpublished(_ reason: String) -> SyncError {
        SyncError(.databaseError, "cannot create the database '\(name)'", underlying: reason)
    }
}

/// The state of the files of a store at one moment: the database and its logs.
package struct StoreFiles: Sendable, Hashable {
    /// The suffixes of all files of a store.
    package static let suffixes = ["", "-wal", "-shm", "-journal"]
    /// The suffixes of logs. When SQLite opens the database, it may have to apply them to the database file.
    static let logSuffixes = ["-wal", "-journal"]

    /// The canonical path of the database, to which the suffixes are added.
    let path: String
    private let database: FileStatus?
    private let logs: [FileStatus?]

    /// - Parameter path: The path of the database, without symbolic links.
    init(_ path: String) {
        self.path = path
        database = FileStatus(at: path)
        // An empty log counts as missing.
        logs = Self.logSuffixes.map { suffix in FileStatus(at: path + suffix).flatMap { $0.size > 0 ? $0 : nil } }
    }

    /// The paths of the logs that are not empty.
    var filledLogs: [String] {
        zip(Self.logSuffixes, logs).compactMap { suffix, status in status == nil ? nil : path + suffix }
    }

    /// Whether this user can write to the database file, and to either its folder or its `-wal` and `-shm` files.
    var isWritable: Bool {
        func isWritable(_ path: String) -> Bool { FileStatus.refusal(toWrite: path) == nil }
        guard isWritable(path) else { return false }
        if isWritable((path as NSString).deletingLastPathComponent) { return true }
        return ["-wal", "-shm"].allSatisfy { isWritable(path + $0) }
    }
}
