import ArgumentParser
import Foundation
import Sync

/// What a command reads, so that it does not write over it, whatever name it is given there.
struct CommandInputs {
    private enum Input {
        case standardInput
        /// A file, or a folder with all that is in it.
        case file(String)
        case database(String)
    }

    private let inputs: [Input]

    /// The path of the database, if one is read.
    let database: String?

    /// - Parameters:
    ///   - files: Files and folders; `-` is standard input, which the shell may have opened on a file.
    ///   - database: With the files that SQLite keeps beside it.
    init(files: [String] = [], database: String? = nil) {
        self.database = database
        inputs = files.map { $0 == "-" ? .standardInput : .file($0) } + (database.map { [.database($0)] } ?? [])
    }

    /// Why something cannot be written to; nil if it can.
    ///
    /// - Parameters:
    ///   - path: Where it is; nil if it is open already.
    ///   - status: What is there; nil if nothing is.
    func reason(against path: String?, _ status: FileStatus?) -> String? {
        inputs.lazy.compactMap { input in
            switch input {
            case .standardInput:
                let isInput = Self.isSame(status, FileStatus(descriptor: STDIN_FILENO))
                return isInput ? "it is standard input, which is read" : nil
            case .file(let file): return Self.reason(againstFile: file, path, status)
            case .database(let database):
                if Self.isSame(status, FileStatus(at: database)) { return "it is the database" }
                return Self.isBeside(database, path, status) ? "it is a file of the database" : nil
            }
        }.first
    }

    private static func reason(againstFile input: String, _ path: String?, _ status: FileStatus?) -> String? {
        guard let other = FileStatus(at: input) else { return nil }
        guard other.isFolder else { return isSame(status, other) ? "it is '\(input)', which is read" : nil }
        if let path, isInside(path, other) { return "it is inside '\(input)', which is read" }
        let files = (try? ModelFile.files(at: URL(argument: input))) ?? []
        let isRead = files.contains { isSame(status, FileStatus(at: $0.path)) }
        return isRead ? "it is a file of '\(input)', which is read" : nil
    }

    private static func isSame(_ status: FileStatus?, _ other: FileStatus?) -> Bool {
        guard let status, let other, status.keepsBytes else { return false }
        return status.identity == other.identity
    }

    /// Whether a path leads to a log of the database, or to where SQLite may make one at any moment.
    private static func isBeside(_ database: String, _ path: String?, _ status: FileStatus?) -> Bool {
        guard let place = try? ResolvedPath(database) else { return false }
        let output = path.flatMap { try? ResolvedPath($0) }
        let isSameFolder = output.map { FileStatus(at: $0.folder)?.identity == FileStatus(at: place.folder)?.identity }
        return StoreFiles.suffixes.contains { suffix in
            if isSame(status, FileStatus(at: place.path + suffix)) { return true }
            // Where names differ by more than case, a file that is not there yet is told by its name alone.
            return isSameFolder == true && output?.name.lowercased() == (place.name + suffix).lowercased()
        }
    }

    private static func isInside(_ path: String, _ folder: FileStatus) -> Bool {
        guard var place = try? ResolvedPath(path).folder else { return false }
        while true {
            if FileStatus(at: place)?.identity == folder.identity { return true }
            if place == "/" { return false }
            place = (place as NSString).deletingLastPathComponent
        }
    }
}

/// A command that reads files, and so writes over none of them: neither where it is told to write nor to its streams.
protocol InputCommand: ParsableCommand {
    var inputs: CommandInputs { get }
    /// How long it waits for a locked database; nil for as long as the library does.
    var busyTimeout: TimeoutArgument? { get }
}

extension InputCommand {
    var busyTimeout: TimeoutArgument? { nil }

    /// Makes sure that the shell has not opened what is read as a stream to write to, as `>> app.sqlite` does.
    ///
    /// - Throws: ``SyncError`` `unreadableFile` if it has.
    func checkStreams() throws {
        let reasons = [STDOUT_FILENO, STDERR_FILENO].map { inputs.reason(against: nil, FileStatus(descriptor: $0)) }
        // Not even the error may be written there.
        if reasons[1] != nil { dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO) }
        for (reason, name) in zip(reasons, ["output", "error"]) {
            guard let reason else { continue }
            throw SyncError(.unreadableFile, "cannot write to standard \(name)", underlying: reason)
        }
    }
}
