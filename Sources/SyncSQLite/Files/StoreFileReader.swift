public import Foundation
import GRDB
import GRDBSQLite
public import SyncCore

/// The file of a store that is opened for reading only. The stored data stays unchanged, and the folder of the file may
/// be read-only.
struct StoreFileReader {
    private let name: String
    private let files: StoreFiles

    init(_ url: URL) throws {
        name = url.path
        guard url.isFileURL, let status = FileStatus(at: name) else {
            throw SyncError(.cannotOpenStore, "no store at '\(name)'")
        }
        guard status.isRegular else { throw SyncError(.cannotOpenStore, "'\(name)' is not a file") }
        do {
            files = StoreFiles(try ResolvedPath(name).path)
        } catch {
            throw SyncError(.cannotOpenStore, "cannot read '\(name)' as a store", underlying: error.message)
        }
    }

    func open() throws -> OpenStore {
        try DatabaseErrorMapper.mapped(.cannotOpenStore, "cannot read '\(name)' as a store") {
            if files.isWritable { return try store(connection()) }
            // Without logs, the file contains the whole store. A normal connection would have to create a `-shm` file
            // for its locks.
            if files.filledLogs.isEmpty, Self.knowsAddresses { return try unlocked() }
            do {
                return try store(connection(readOnly: true))
            } catch let error as DatabaseError where error.resultCode.isReadOnlyLocation {
                return try store(copied())
            }
        }
    }

    private func store(_ queue: DatabaseQueue, _ unlocked: UnlockedStore? = nil) throws -> OpenStore {
        let found = try queue.read { db in
            try StoredModel.read(db, or: .notAStore)
                .map { ($0, try StoreMonitor.schemaVersion(db), try StoredModel.hasExistingTables(db)) }
        }
        guard let (model, version, hasExistingTables) = found else {
            throw SyncError(.cannotOpenStore, "'\(name)' is empty")
        }
        return OpenStore(
            model: model, database: queue, schemaVersion: version, unlocked: unlocked,
            hasExistingTables: hasExistingTables)
    }

    private func connection(readOnly: Bool = false) throws -> DatabaseQueue {
        var configuration = StoreFile.configuration()
        configuration.readonly = readOnly
        return try DatabaseQueue(path: files.path, configuration: configuration)
    }

    // MARK: Reading without locks

    /// Whether SQLite was built to accept URIs as paths.
    private static let knowsAddresses = sqlite3_compileoption_used("USE_URI") == 1

    /// Opens the store without locks. Writes of other processes are detected after each read.
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

    /// Copies the store and its logs to a temporary folder, where SQLite can apply the logs, and from there to a
    /// temporary database.
    private func copied() throws -> DatabaseQueue {
        do {
            let draft = try TemporaryFolder(in: FileManager.default.temporaryDirectory.path)
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
                .cannotOpenStore, "cannot read '\(name)' and the files beside it as a store",
                underlying: failure.message)
        }
    }
}

extension ResultCode {
    /// Whether SQLite returns this code if it cannot write the files that it needs for reading.
    fileprivate var isReadOnlyLocation: Bool { self == .SQLITE_CANTOPEN || self == .SQLITE_READONLY }
}

/// A store that is read without locks, because this user cannot create the files for locks. Writers do not wait for
/// such a reader, so each read is checked afterwards.
struct UnlockedStore: Sendable {
    private let files: StoreFiles

    init(_ files: StoreFiles) { self.files = files }

    /// Runs `body` and returns its result, unless the files of the store changed since it was opened.
    ///
    /// - Throws: ``SyncError`` `databaseBusy` if the files changed, even if `body` throws another error.
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
        SyncError(.databaseBusy, "the store changed while it was read; try again")
    }
}

// MARK: - DataStack+Reading

extension DataStack {
    /// Opens an existing store for fetches, counts and plans. The data of the store stays unchanged. If the file does
    /// not exist, the call does not create a file.
    ///
    /// The store may be in a folder where this user cannot write. Apps use ``init(at:registering:transformers:)``
    /// instead. That initializer allows readers and a writer at the same time, but requires write access.
    ///
    /// - Throws: ``SyncError`` `cannotOpenStore` if the file does not exist or is not a store. `databaseBusy` if
    ///   another process has locked the store exclusively. `missingTransformer`.
    package convenience init(
        reading url: URL, registering code: [AttributeTransformer] = [], transformers: TransformerPolicy = .required
    ) throws {
        self.init(try StoreFileReader(url).open().registering(code, transformers))
    }

    /// Computes the table changes and data losses that a migration of a store to another model would cause. The call
    /// migrates a temporary copy, so the store stays unchanged.
    ///
    /// - Returns: `changes` contains the table changes, each with a path in the model. `dataLosses` contains the
    ///   losses, each with a number of lost items, such as rows, values or links. Both arrays are empty for a store in
    ///   existing tables, because a migration does not change existing tables.
    /// - Throws: ``SyncError`` `modelMismatch` if rows lack values that the model requires. `incompatibleTables` if
    ///   existing tables do not fit the model. `cannotOpenStore` if the file is not a store or does not exist.
    ///   `nameCollision`, `databaseBusy` or `databaseError`.
    public static func migration(
        to model: SyncModel, at url: URL
    ) throws -> (changes: [SyncDiagnostic], dataLosses: [SyncDiagnostic]) {
        let report = try migrationReport(to: model, at: url)
        return (report.changes, report.dataLosses)
    }

    /// Computes the table changes and data losses of a migration, as a report that can be encoded as JSON.
    package static func migrationReport(to model: SyncModel, at url: URL) throws -> MigrationReport {
        let copy = try DataStack(reading: url, transformers: .optional).copied()
        defer { try? copy.close() }
        return try copy.migrate(to: model, .allowingDataLoss)
    }

    /// Returns a temporary copy of the store, migrated to a model.
    package func copy(with model: SyncModel, migration: MigrationPolicy) throws -> DataStack {
        let copy = try copied()
        _ = try copy.migrate(to: model, migration)
        let (version, hasExistingTables) = try copy.write { db in
            try StoredModel.createOrUpdate(model, in: db)
            return (try StoreMonitor.schemaVersion(db), try StoredModel.hasExistingTables(db))
        }
        return DataStack(
            OpenStore(model: model, database: copy, schemaVersion: version, hasExistingTables: hasExistingTables))
    }

    private func copied() throws -> DatabaseQueue {
        try reading { db in try TemporaryStore.copy(of: db) }
    }
}

extension DatabaseQueue {
    fileprivate func migrate(to model: SyncModel, _ policy: MigrationPolicy) throws -> MigrationReport {
        try DatabaseErrorMapper.mapped(.databaseError, "cannot migrate the store to the new model") {
            try inDatabase { db in try StoredModel.migrate(db, to: model, policy: policy) }
        }
    }
}
