package import Foundation
import GRDB
import SyncCore

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
