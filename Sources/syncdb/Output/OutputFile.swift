import Foundation
import Sync

/// A file that a command writes: the one way in which the program writes files.
///
/// A regular file gets its new bytes all at once, when they are complete, and stays what it is: the file behind a symbolic
/// link, its mode, its owner, its other names. Pipes and devices are written as the bytes come.
struct OutputFile {
    typealias Write = @Sendable (Data) throws -> Void

    /// What is at a path, and so how it is written.
    private enum Place {
        /// An open file of this process: `/dev/stdout`, `/dev/fd/3`.
        case descriptor(Int32)
        /// Something that is no file of bytes.
        case stream
        /// A file that is there, or will be.
        case file(ResolvedPath, FileStatus?)
    }

    private let path: String
    private let place: Place

    /// - Parameter inputs: What the command reads, which is never written over.
    /// - Throws: ``SyncError`` `unreadableFile` if it cannot be written, or is read by this command.
    init(_ path: String, besides inputs: CommandInputs) throws {
        self.path = path
        place = try Self.reporting(path) { try Self.place(path, besides: inputs) }
    }

    private static func place(_ path: String, besides inputs: CommandInputs) throws -> Place {
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

    /// Lets `body` write.
    ///
    /// - Throws: What it throws; `unreadableFile` if the file cannot be written. A regular file is then as it was.
    func write(_ body: (@escaping Write) async throws -> Void) async throws {
        switch place {
        case .descriptor(let descriptor):
            try await write(to: { dup(descriptor) }, body)
        case .stream:
            try await write(to: { open(path, O_WRONLY | O_CLOEXEC) }, body)
        case .file(let target, let status):
            let draft = try draft(beside: target, status)
            defer { draft.remove() }
            try await write(to: { open(draft.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666) }, body)
            try Self.reporting(path) { try AtomicFileWriter(of: target.path, status).put(draft.path) }
        }
    }

    /// Beside the file, from where it can be moved into its place; elsewhere if the folder takes no new files.
    private func draft(beside target: ResolvedPath, _ status: FileStatus?) throws -> DraftFolder {
        do {
            return try DraftFolder(in: target.folder)
        } catch let failure as SystemError {
            guard status != nil else {
                throw Self.failure(path, "no file can be made in its folder: \(failure.message)")
            }
            return try Self.reporting(path) { try DraftFolder(in: FileManager.default.temporaryDirectory.path) }
        }
    }

    private func write(to open: () -> Int32, _ body: (@escaping Write) async throws -> Void) async throws {
        let descriptor = open()
        guard descriptor >= 0 else { throw Self.failure(path, SystemError().message) }
        defer { close(descriptor) }
        // A person may be there to see it, whatever name the terminal has here.
        let isTerminal = isatty(descriptor) == 1
        try await body { [path] data in
            try Self.reporting(path) {
                try (isTerminal ? Terminal.visible(json: data) : data).withUnsafeBytes {
                    try FileCopy.write($0, into: descriptor)
                }
            }
        }
        // Not everything that can be written to can be asked for it.
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

/// Gives a file new bytes.
///
/// They are moved into its place where that loses nothing: a process that is killed then leaves either the old bytes or the
/// new. Else, as where the file has other names, they are written over the old ones once there is room for all of them.
struct AtomicFileWriter {
    private let path: String
    private let status: FileStatus?

    /// - Parameter status: Of the file that is there; nil if there is none.
    init(of path: String, _ status: FileStatus?) {
        self.path = path
        self.status = status
    }

    /// - Parameter draft: The file with the new bytes, which may be gone afterwards.
    /// - Throws: ``SystemError``.
    func put(_ draft: String) throws {
        if let status, !canStandFor(status, draft) { return try overwrite(with: draft) }
        if rename(draft, path) == 0 { return }
        // It may be on another file system, or be one itself.
        guard status != nil, [EXDEV, EBUSY, EACCES, EPERM].contains(errno) else { throw SystemError() }
        try overwrite(with: draft)
    }

    /// Makes the draft such a file as is there, if it can be.
    private func canStandFor(_ status: FileStatus, _ draft: String) -> Bool {
        guard status.linkCount == 1, !hasAttributes, let made = FileStatus(at: draft) else { return false }
        if (made.owner, made.group) != (status.owner, status.group), chown(draft, status.owner, status.group) != 0 {
            return false
        }
        guard chmod(draft, mode_t(status.permissions)) == 0, let made = FileStatus(at: draft) else { return false }
        return (made.owner, made.group, made.permissions) == (status.owner, status.group, status.permissions)
    }

    /// Whether more is known of the file than its mode: rights of single users, labels. The system itself labels new files.
    private var hasAttributes: Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let extended = attributes?[FileAttributeKey(rawValue: "NSFileExtendedAttributes")] as? [String: Any]
        return extended?.keys.contains { !$0.hasPrefix("security.") } ?? false
    }

    private func overwrite(with draft: String) throws {
        // Where the file system cannot keep room free, the C library has to read in order to do it.
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

/// Paths that stand for open files of this process. To open one again would begin a file anew to which the shell appends.
enum OpenDescriptor {
    private static let folders = ["/dev/fd/", "/proc/self/fd/"]
    private static let names: [String: Int32] = ["/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2]
    private static let mostLinks = 40

    /// The open file that a path, or a symbolic link to such a path, stands for.
    ///
    /// - Throws: ``SystemError`` if a link on the way cannot be followed.
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

/// The files that this process can have open at once.
enum FileDescriptorLimit {
    /// What the system's queues, two databases with their readers, a payload and an output take, and some more: where
    /// there are none left, the queues end the program.
    static let neededCount = 24

    /// Whether as many more can be opened as a command needs.
    static var areEnough: Bool { freeCount(upTo: neededCount) == neededCount }

    /// Takes the places of closed standard streams, so that no database is opened there and written to as output.
    ///
    /// What takes them cannot be used in their direction: reading and writing are still the errors they would be.
    static func occupyStandardStreams() {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) == -1 {
            // The lowest free number is what is opened next.
            _ = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// - Throws: ``SyncError`` `unreadableFile`.
    static func check() throws {
        let count = freeCount(upTo: neededCount)
        guard count < neededCount else { return }
        throw SyncError(
            .unreadableFile,
            "only \(count) more files can be opened at once, and \(neededCount) are needed; "
                + "'ulimit -n 256' allows more")
    }

    private static func freeCount(upTo limit: Int) -> Int {
        let copies = (0..<limit).map { _ in dup(STDIN_FILENO) }.filter { $0 >= 0 }
        for copy in copies { close(copy) }
        return copies.count
    }
}
