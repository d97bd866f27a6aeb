import Foundation

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
