import Foundation
import GRDB
import GRDBSQLite
import SyncCore

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
        try StoreFailure.mapped(.unreadableStore, "'\(name)' cannot be read as a store") {
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
            try KeptModel.read(db, or: .notAStore)
                .map { ($0, try StoreWatch.schemaVersion(db), try KeptModel.isAdopted(db)) }
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
        } catch let failure as SystemFailure {
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
