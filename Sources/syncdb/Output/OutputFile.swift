import Foundation
import Sync

/// A file that a command writes. The program writes all files except databases with this type.
///
/// A regular file is replaced when the output is complete, in one step if possible: see ``AtomicFileWriter``. Symbolic
/// links to the file, its mode, owner and hard links are preserved. Pipes and devices are written incrementally.
struct OutputFile {
    typealias Write = @Sendable (Data) throws -> Void

    /// The kind of a path, which decides how the output is written.
    private enum Destination {
        /// An open file descriptor of this process: `/dev/stdout`, `/dev/fd/3`.
        case descriptor(Int32)
        /// A pipe or a device.
        case stream
        /// A regular file, or a path without a file.
        case file(ResolvedPath, FileStatus?)
    }

    private let path: String
    private let destination: Destination

    /// Checks the path of an output.
    ///
    /// - Parameter inputs: The files that the command reads and must not overwrite.
    /// - Throws: ``SyncError`` `unreadableFile` if the file cannot be written, or if the command reads it.
    init(_ path: String, besides inputs: CommandInputs) throws {
        self.path = path
        destination = try Self.reporting(path) { try Self.destination(path, besides: inputs) }
    }

    private static func destination(_ path: String, besides inputs: CommandInputs) throws -> Destination {
        let status = try FileStatus.find(path)
        if let reason = inputs.reason(against: path, status) { throw failure(path, reason) }
        if let descriptor = try OpenDescriptor.number(of: path) { return .descriptor(descriptor) }
        if let status, !status.isRegular {
            guard !status.isFolder else { throw failure(path, "it is a folder") }
            return .stream
        }
        guard status == nil || access(path, W_OK) == 0 else { throw SystemError() }
        return .file(try ResolvedPath(path), status)
    }

    /// Calls a closure that writes the output.
    ///
    /// - Throws: The error of the closure; ``SyncError`` `unreadableFile` if the file cannot be written. After an error
    ///   of the closure, a regular file is unchanged.
    func write(_ body: (@escaping Write) async throws -> Void) async throws {
        switch destination {
        case .descriptor(let descriptor):
            try await write(to: { dup(descriptor) }, body)
        case .stream:
            try await write(to: { open(path, O_WRONLY | O_CLOEXEC) }, body)
        case .file(let target, let status):
            let draft = try draft(beside: target, status)
            defer { draft.remove() }
            try await write(to: { open(draft.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666) }, body)
            try Self.reporting(path) { try AtomicFileWriter(of: target.path, status).replace(draft.path) }
        }
    }

    /// Creates a temporary folder for the output in the folder of the target, so that the output can be renamed. If
    /// that folder is not writable and the target exists, creates the temporary folder elsewhere.
    private func draft(beside target: ResolvedPath, _ status: FileStatus?) throws -> TemporaryFolder {
        do {
            return try TemporaryFolder(in: target.folder)
        } catch let failure as SystemError {
            guard status != nil else {
                throw Self.failure(path, "cannot create a file in its folder: \(failure.message)")
            }
            return try Self.reporting(path) { try TemporaryFolder(in: FileManager.default.temporaryDirectory.path) }
        }
    }

    private func write(to open: () -> Int32, _ body: (@escaping Write) async throws -> Void) async throws {
        let descriptor = open()
        guard descriptor >= 0 else { throw Self.failure(path, SystemError().message) }
        defer { close(descriptor) }
        // Any path may name a terminal.
        let isTerminal = isatty(descriptor) == 1
        try await body { [path] data in
            try Self.reporting(path) {
                try (isTerminal ? Terminal.visible(json: data) : data).withUnsafeBytes {
                    try FileCopy.write($0, into: descriptor)
                }
            }
        }
        // Some files do not support `fsync`.
        if fsync(descriptor) != 0, [EIO, ENOSPC, EDQUOT].contains(errno) {
            throw Self.failure(path, SystemError().message)
        }
    }

    private static func reporting<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let failure as SystemError {
            throw self.failure(path, failure.message)
        }
    }

    private static func failure(_ path: String, _ reason: String) -> any Error {
        SyncError(.unreadableFile, "cannot write '\(path)'", underlying: reason)
    }
}

/// A writer that replaces the contents of a file.
///
/// The new file is renamed if the rename loses nothing, so that after a crash the file is either the old or the new
/// one. Otherwise, as for a file with hard links, the bytes of the old file are overwritten, after space for all new
/// bytes was reserved.
struct AtomicFileWriter {
    private let path: String
    private let status: FileStatus?

    /// Creates a writer for the file at a path.
    ///
    /// - Parameter status: The status of the existing file; nil if there is none.
    init(of path: String, _ status: FileStatus?) {
        self.path = path
        self.status = status
    }

    /// Replaces the file.
    ///
    /// - Parameter draft: The path of the file with the new bytes. The method may move this file.
    /// - Throws: ``SystemError``.
    func replace(_ draft: String) throws {
        if let status, !matchOwnership(status, draft) { return try overwrite(with: draft) }
        if rename(draft, path) == 0 { return }
        // The target may be on another file system, or be a mount point.
        guard status != nil, [EXDEV, EBUSY, EACCES, EPERM].contains(errno) else { throw SystemError() }
        try overwrite(with: draft)
    }

    /// Sets the owner and mode of the draft to those of the existing file. Returns whether the draft can replace the
    /// existing file.
    private func matchOwnership(_ status: FileStatus, _ draft: String) -> Bool {
        guard status.linkCount == 1, !hasAttributes, let made = FileStatus(at: draft) else { return false }
        if (made.owner, made.group) != (status.owner, status.group), chown(draft, status.owner, status.group) != 0 {
            return false
        }
        guard chmod(draft, mode_t(status.permissions)) == 0, let made = FileStatus(at: draft) else { return false }
        return (made.owner, made.group, made.permissions) == (status.owner, status.group, status.permissions)
    }

    /// Whether the file has extended attributes, such as access control lists. Attributes that begin with `security.`
    /// do not count, because the system sets them on new files.
    private var hasAttributes: Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let extended = attributes?[FileAttributeKey(rawValue: "NSFileExtendedAttributes")] as? [String: Any]
        return extended?.keys.contains { !$0.hasPrefix("security.") } ?? false
    }

    private func overwrite(with draft: String) throws {
        // Open the file for reading too, because the C library reads it if the file system cannot reserve space.
        let descriptor = open(path, (access(path, R_OK) == 0 ? O_RDWR : O_WRONLY) | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError() }
        defer { close(descriptor) }
        guard let old = FileStatus(descriptor: descriptor), let new = FileStatus(at: draft) else {
            throw SystemError()
        }
        let failure = FileCopy.reserve(new.size, in: descriptor)
        guard failure == 0 else {
            ftruncate(descriptor, off_t(old.size))
            throw SystemError(failure)
        }
        try FileCopy.copy(draft, into: descriptor)
        guard ftruncate(descriptor, off_t(new.size)) == 0 else { throw SystemError() }
        fsync(descriptor)
    }
}

/// Paths of open file descriptors of this process. Opening such a path again would truncate a file to which the shell
/// appends.
enum OpenDescriptor {
    private static let folders = ["/dev/fd/", "/proc/self/fd/"]
    private static let names: [String: Int32] = ["/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2]
    private static let mostLinks = 40

    /// Returns the descriptor of a path, after following symbolic links; nil if the path is not one of a descriptor.
    ///
    /// - Throws: ``SystemError`` if a link cannot be followed.
    static func number(of path: String) throws -> Int32? {
        var path = path
        for _ in 0..<mostLinks {
            if let number = names[path] { return number }
            if let folder = folders.first(where: path.hasPrefix) { return Int32(path.dropFirst(folder.count)) }
            guard let target = try ResolvedPath.target(of: path) else { return nil }
            path = ResolvedPath.path(of: target, in: path)
        }
        return nil
    }
}

/// The number of files that this process can open.
enum FileDescriptorLimit {
    /// The number of files that a command needs: for dispatch queues, two databases with their readers, a payload, an
    /// output, and a reserve. Without free descriptors, the queues end the program.
    static let neededCount = 24

    /// Whether a command can open the files that it needs.
    static var areEnough: Bool { freeCount(upTo: neededCount) == neededCount }

    /// Occupies the descriptors of closed standard streams. Otherwise a database could get the number of such a stream,
    /// and output would overwrite the database.
    ///
    /// The replacement of standard input can only be written, and that of an output stream can only be read. Therefore
    /// reading and writing still fail.
    static func occupyStandardStreams() {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) == -1 {
            // `open` returns the lowest free descriptor.
            _ = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Checks the number of free descriptors.
    ///
    /// - Throws: ``SyncError`` `unreadableFile` if there are too few.
    static func check() throws {
        let count = freeCount(upTo: neededCount)
        guard count < neededCount else { return }
        throw SyncError(
            .unreadableFile,
            "only \(count) more files can be opened, but \(neededCount) are needed; raise the limit with 'ulimit -n 256'"
        )
    }

    private static func freeCount(upTo limit: Int) -> Int {
        let copies = (0..<limit).map { _ in dup(STDIN_FILENO) }.filter { $0 >= 0 }
        for copy in copies { close(copy) }
        return copies.count
    }
}
