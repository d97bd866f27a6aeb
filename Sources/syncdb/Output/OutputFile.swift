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
        guard status == nil || access(path, W_OK) == 0 else { throw SystemFailure() }
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
            try Self.reporting(path) { try FileReplacement(of: target.path, status).put(draft.path) }
        }
    }

    /// Beside the file, from where it can be moved into its place; elsewhere if the folder takes no new files.
    private func draft(beside target: ResolvedPath, _ status: FileStatus?) throws -> DraftFolder {
        do {
            return try DraftFolder(in: target.folder)
        } catch let failure as SystemFailure {
            guard status != nil else {
                throw Self.failure(path, "no file can be made in its folder: \(failure.message)")
            }
            return try Self.reporting(path) { try DraftFolder(in: FileManager.default.temporaryDirectory.path) }
        }
    }

    private func write(to open: () -> Int32, _ body: (@escaping Write) async throws -> Void) async throws {
        let descriptor = open()
        guard descriptor >= 0 else { throw Self.failure(path, SystemFailure().message) }
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
            throw Self.failure(path, SystemFailure().message)
        }
    }

    private static func reporting<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let failure as SystemFailure {
            throw self.failure(path, failure.message)
        }
    }

    private static func failure(_ path: String, _ reason: String) -> any Error {
        SyncError(.unreadableFile, "cannot write '\(path)'", underlying: reason)
    }
}
