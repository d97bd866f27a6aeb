import ArgumentParser
import Foundation
import Sync

/// The files that a command reads and must not overwrite, whatever path names them.
struct CommandInputs {
    private enum Input {
        case standardInput
        /// A file, or a folder with its contents.
        case file(String)
        case database(String)
    }

    private let inputs: [Input]

    /// The path of the database; nil if the command reads none.
    let database: String?

    /// Creates the inputs of a command.
    ///
    /// - Parameters:
    ///   - files: The paths of files and folders; `-` is standard input, which may be a file.
    ///   - database: The path of the database. The files that SQLite creates beside the database are inputs too.
    init(files: [String] = [], database: String? = nil) {
        self.database = database
        inputs = files.map { $0 == "-" ? .standardInput : .file($0) } + (database.map { [.database($0)] } ?? [])
    }

    /// Returns the reason why an output must not be written; nil if it may be.
    ///
    /// - Parameters:
    ///   - path: The path of the output; nil if it is an open stream.
    ///   - status: The status of the output; nil if it does not exist.
    func reason(against path: String?, _ status: FileStatus?) -> String? {
        inputs.lazy.compactMap { input in
            switch input {
            case .standardInput:
                let isInput = Self.isSame(status, FileStatus(descriptor: STDIN_FILENO))
                return isInput ? "it is the standard input" : nil
            case .file(let file): return Self.reason(againstFile: file, path, status)
            case .database(let database):
                if Self.isSame(status, FileStatus(at: database)) { return "it is the database" }
                return Self.isBeside(database, path, status) ? "it is a file of the database" : nil
            }
        }.first
    }

    private static func reason(againstFile input: String, _ path: String?, _ status: FileStatus?) -> String? {
        guard let other = FileStatus(at: input) else { return nil }
        guard other.isFolder else { return isSame(status, other) ? "it is the input '\(input)'" : nil }
        if let path, isInside(path, other) { return "it is inside the input '\(input)'" }
        let files = (try? ModelFile.files(at: URL(argument: input))) ?? []
        let isRead = files.contains { isSame(status, FileStatus(at: $0.path)) }
        return isRead ? "it is a file of the input '\(input)'" : nil
    }

    private static func isSame(_ status: FileStatus?, _ other: FileStatus?) -> Bool {
        guard let status, let other, status.keepsBytes else { return false }
        return status.identity == other.identity
    }

    /// Returns whether a path is a log of the database, or the path of a log that SQLite may create.
    private static func isBeside(_ database: String, _ path: String?, _ status: FileStatus?) -> Bool {
        guard let place = try? ResolvedPath(database) else { return false }
        let output = path.flatMap { try? ResolvedPath($0) }
        let isSameFolder = output.map { FileStatus(at: $0.folder)?.identity == FileStatus(at: place.folder)?.identity }
        return StoreFiles.suffixes.contains { suffix in
            if isSame(status, FileStatus(at: place.path + suffix)) { return true }
            // A file that does not exist can be compared only by name. The comparison ignores case, as some file
            // systems do.
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

/// A command that reads files and does not overwrite them.
protocol InputCommand: ParsableCommand {
    var inputs: CommandInputs { get }
    /// The timeout for a locked database; nil for the default of the library.
    var busyTimeout: TimeoutArgument? { get }
}

extension InputCommand {
    var busyTimeout: TimeoutArgument? { nil }

    /// Checks that the shell has not redirected standard output or standard error to an input, as `>> app.sqlite` does.
    ///
    /// - Throws: ``SyncError`` `unreadableFile` if a stream is redirected to an input.
    func checkStreams() throws {
        let reasons = [STDOUT_FILENO, STDERR_FILENO].map { inputs.reason(against: nil, FileStatus(descriptor: $0)) }
        // The error must not be written to the input either.
        if reasons[1] != nil { dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO) }
        for (reason, name) in zip(reasons, ["output", "error"]) {
            guard let reason else { continue }
            throw SyncError(.unreadableFile, "cannot write to standard \(name)", underlying: reason)
        }
    }
}
