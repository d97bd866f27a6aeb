package import Foundation
import GRDB
import SyncCore

/// A store that is filled out of sight and then put in its place whole, where nothing may be yet.
package struct StagedStoreFile: Sendable {
    private let target: ResolvedPath
    /// What the caller calls the store.
    let name: String
    private let folder: DraftFolder

    /// Where the store is filled.
    var url: URL { URL(fileURLWithPath: folder.path) }

    /// - Throws: ``SyncError`` `unreadableStore` if there is no folder, or if the files of another store would become part
    ///   of this one; `storeReadOnly` if nothing can be made in the folder.
    package init(for url: URL) throws {
        name = url.path
        do {
            target = try ResolvedPath(url.path)
        } catch let failure where [ENOENT, ENOTDIR].contains(failure.code) {
            let folder = url.deletingLastPathComponent().path
            throw SyncError(.unreadableStore, "there is no folder '\(folder)' to make the database in")
        } catch {
            throw SyncError(.unreadableStore, "cannot make the database '\(url.path)'", underlying: error.message)
        }
        try Self.refuseLeftovers(target)
        do {
            folder = try DraftFolder(in: target.folder)
        } catch let failure as SystemError {
            throw SyncError(
                .storeReadOnly, "no database can be made in the folder '\(target.folder)'", underlying: failure.message)
        }
    }

    /// SQLite would take the log that another database of this name left for one of this.
    private static func refuseLeftovers(_ target: ResolvedPath) throws {
        guard let leftover = StoreFiles(target.path).filledLogs.first, FileStatus(at: target.path)?.size ?? 0 == 0
        else {
            return
        }
        throw SyncError(
            .unreadableStore,
            "'\(leftover)' was left by another database and would be taken for a part of the new one; move it away")
    }

    /// Puts the store, which must be closed, in its place: what another process made there meanwhile is not replaced.
    ///
    /// - Returns: Whether it is in its place; false if there is a store or another file by now.
    package func publish() throws -> Bool {
        try Self.refuseLeftovers(target)
        do {
            return try isTaken() ? fillEmptyFile() : true
        } catch let failure as SystemError {
            throw unpublished(failure.message)
        }
    }

    #if os(Windows) || SYNC_FOUNDATION_FILES
        /// Puts the store in its place, unless something is there.
        private func isTaken() throws -> Bool {
            do {
                try FileCopy.move(folder.path, toNew: target.path)
                return false
            } catch let failure as SystemError where failure.code == EEXIST {
                return true
            }
        }
    #else
        /// Puts the store in its place, unless something is there. Where files have one name only, the place is taken first,
        /// by an empty file.
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

    /// Copies the store into an empty file, as `mktemp` makes one, which stays the file it is.
    private func fillEmptyFile() throws -> Bool {
        guard let status = FileStatus(at: target.path), status.isRegular, status.size == 0 else { return false }
        do {
            let queue = try DatabaseQueue(path: target.path, configuration: StoreFile.configuration())
            defer { try? queue.close() }
            return try queue.inDatabase { db in
                // The lock that the first transaction takes is kept until the end.
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
        SyncError(.storeFailure, "cannot make the database '\(name)'", underlying: reason)
    }
}

/// The files of a store as they are at a moment: the database, and what SQLite keeps beside it.
package struct StoreFiles: Sendable, Hashable {
    /// What the names of a store's files end in.
    package static let suffixes = ["", "-wal", "-shm", "-journal"]
    /// The files without which the database may be half of the store.
    static let logSuffixes = ["-wal", "-journal"]

    /// The database's one name, which those of the other files are made of.
    let path: String
    private let database: FileStatus?
    private let logs: [FileStatus?]

    /// - Parameter path: Of the database, without symbolic links.
    init(_ path: String) {
        self.path = path
        database = FileStatus(at: path)
        // An empty log is none.
        logs = Self.logSuffixes.map { suffix in FileStatus(at: path + suffix).flatMap { $0.size > 0 ? $0 : nil } }
    }

    /// The files in which transactions may be that the database has not.
    var filledLogs: [String] {
        zip(Self.logSuffixes, logs).compactMap { suffix, status in status == nil ? nil : path + suffix }
    }

    /// Whether this user can write to the store: to its file, and to the files beside it or the folder.
    var isWritable: Bool {
        func isWritable(_ path: String) -> Bool { FileStatus.refusal(toWrite: path) == nil }
        guard isWritable(path) else { return false }
        if isWritable((path as NSString).deletingLastPathComponent) { return true }
        return ["-wal", "-shm"].allSatisfy { isWritable(path + $0) }
    }
}
