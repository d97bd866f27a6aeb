public import Foundation
import GRDB
import GRDBSQLite
public import SyncCore

/// The file of a store that is only read: every byte of it stays as it is, and nothing is left beside it where nothing
/// may be written.
struct StoreReader {
    private let name: String
    private let files: StoreFiles

    init(_ url: URL) throws {
        name = url.path
        guard url.isFileURL, let status = FileStatus(at: name) else {
            throw SyncError(.unreadableStore, "there is no store at '\(name)'")
        }
        guard status.isRegular else { throw SyncError(.unreadableStore, "'\(name)' is not a file") }
        do {
            files = StoreFiles(try ResolvedPath(name).path)
        } catch {
            throw SyncError(.unreadableStore, "'\(name)' cannot be read as a store", underlying: error.message)
        }
    }

    func open() throws -> OpenStore {
        try DatabaseErrorMapper.mapped(.unreadableStore, "'\(name)' cannot be read as a store") {
            if files.isWritable { return try store(connection()) }
            // Without logs the file is the whole store. SQLite would make them, to lock the store by them.
            if files.filledLogs.isEmpty, Self.knowsAddresses { return try unlocked() }
            do {
                return try store(connection(readOnly: true))
            } catch let error as DatabaseError where error.resultCode.isOfReadOnlyPlace {
                return try store(copied())
            }
        }
    }

    private func store(_ queue: DatabaseQueue, _ unlocked: UnlockedStore? = nil) throws -> OpenStore {
        let found = try queue.read { db in
            try StoredModel.read(db, or: .notAStore)
                .map { ($0, try StoreMonitor.schemaVersion(db), try StoredModel.isAdopted(db)) }
        }
        guard let (model, version, isAdopted) = found else { throw SyncError(.unreadableStore, "'\(name)' is empty") }
        return OpenStore(
            model: model, database: queue, schemaVersion: version, unlocked: unlocked, isAdopted: isAdopted)
    }

    private func connection(readOnly: Bool = false) throws -> DatabaseQueue {
        var configuration = StoreFile.configuration()
        configuration.readonly = readOnly
        return try DatabaseQueue(path: files.path, configuration: configuration)
    }

    // MARK: Without locks

    /// Whether SQLite was built to take an address for a path.
    private static let knowsAddresses = sqlite3_compileoption_used("USE_URI") == 1

    /// Others may be able to write: what they change while the store is read is noticed afterwards.
    private func unlocked() throws -> OpenStore {
        let unlocked = UnlockedStore(files)
        var configuration = StoreFile.configuration()
        configuration.readonly = true
        let address = URL(fileURLWithPath: files.path).absoluteString + "?immutable=1"
        return try unlocked.reading {
            try store(DatabaseQueue(path: address, configuration: configuration), unlocked)
        }
    }

    // MARK: Copies

    /// A copy in which SQLite can do what a log that was left needs: it is part of the store.
    private func copied() throws -> DatabaseQueue {
        do {
            let draft = try DraftFolder(in: FileManager.default.temporaryDirectory.path)
            defer { draft.remove() }
            try UnlockedStore(files).reading {
                for file in [files.path] + files.filledLogs {
                    try FileCopy.copy(file, toNew: draft.path + file.dropFirst(files.path.count))
                }
            }
            let queue = try DatabaseQueue(path: draft.path, configuration: StoreFile.configuration())
            defer { try? queue.close() }
            return try queue.inDatabase(TemporaryStore.copy)
        } catch let failure as SystemError {
            throw SyncError(
                .unreadableStore, "'\(name)' and the files beside it cannot be read as a store",
                underlying: failure.message)
        }
    }
}

extension ResultCode {
    /// Whether SQLite says so where it would have to write in order to read.
    fileprivate var isOfReadOnlyPlace: Bool { self == .SQLITE_CANTOPEN || self == .SQLITE_READONLY }
}

/// A store that is read without locks, because there is nothing by which this user could lock it. Whoever may write to it
/// does not know of the reader.
struct UnlockedStore: Sendable {
    private let files: StoreFiles

    init(_ files: StoreFiles) { self.files = files }

    /// Gives what `body` read, if nothing was written meanwhile nor before.
    ///
    /// - Throws: ``SyncError`` `storeBusy` if something was, whatever else went wrong by it.
    @discardableResult
    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            let result = try body()
            try check()
            return result
        } catch {
            try check()
            throw error
        }
    }

    func check() throws {
        guard StoreFiles(files.path) == files else { throw Self.changed }
    }

    static var changed: SyncError {
        SyncError(.storeBusy, "the store was written to while it was read; try again")
    }
}

// MARK: - DataStack+Reading

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
            try StoredModel.createOrUpdate(model, in: db)
            return (try StoreMonitor.schemaVersion(db), try StoredModel.isAdopted(db))
        }
        return DataStack(OpenStore(model: model, database: copy, schemaVersion: version, isAdopted: isAdopted))
    }

    private func copied() throws -> DatabaseQueue {
        try reading { db in try TemporaryStore.copy(of: db) }
    }
}

extension DatabaseQueue {
    fileprivate func migrate(to model: SyncModel, _ policy: MigrationPolicy) throws -> MigrationReport {
        try DatabaseErrorMapper.mapped(.storeFailure, "the store cannot be brought to the new model") {
            try inDatabase { db in try StoredModel.migrate(db, to: model, policy: policy) }
        }
    }
}
