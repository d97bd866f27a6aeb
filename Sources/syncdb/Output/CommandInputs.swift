import Foundation
import Sync

/// What a command reads, so that it does not write over it, whatever name it is given there.
struct CommandInputs {
    private enum Input {
        /// A file, or a folder with all that is in it.
        case file(String)
        case database(String)
    }

    private let inputs: [Input]

    /// - Parameter files: Files and folders; `-` is none.
    init(files: [String]) { inputs = files.filter { $0 != "-" }.map(Input.file) }

    /// - Parameter database: With the files that SQLite keeps beside it.
    init(database: String) { inputs = [.database(database)] }

    /// Why a path cannot be written to; nil if it can.
    ///
    /// - Parameter status: What is there; nil if nothing is.
    func reason(against path: String, _ status: FileStatus?) -> String? {
        for input in inputs {
            switch input {
            case .file(let input):
                guard let other = FileStatus(at: input) else { continue }
                if other.isFolder ? Self.isInside(path, other) : Self.isSame(status, other) {
                    return other.isFolder ? "it is inside '\(input)', which is read" : "it is '\(input)', which is read"
                }
            case .database(let database):
                if Self.isSame(status, FileStatus(at: database)) { return "it is the database" }
                if Self.isBeside(database, path, status) { return "it is a file of the database" }
            }
        }
        return nil
    }

    private static func isSame(_ status: FileStatus?, _ other: FileStatus?) -> Bool {
        guard let status, let other, status.keepsBytes else { return false }
        return status.identity == other.identity
    }

    /// Whether a path leads to a log of the database, or to where SQLite may make one at any moment.
    private static func isBeside(_ database: String, _ path: String, _ status: FileStatus?) -> Bool {
        guard let place = ResolvedPath(database) else { return false }
        let output = ResolvedPath(path)
        let isSameFolder = output.map { FileStatus(at: $0.folder)?.identity == FileStatus(at: place.folder)?.identity }
        return StoreFiles.suffixes.contains { suffix in
            if isSame(status, FileStatus(at: place.path + suffix)) { return true }
            // Where names differ by more than case, a file that is not there yet is told by its name alone.
            return isSameFolder == true && output?.name.lowercased() == (place.name + suffix).lowercased()
        }
    }

    private static func isInside(_ path: String, _ folder: FileStatus) -> Bool {
        guard var place = ResolvedPath(path)?.folder else { return false }
        while true {
            if FileStatus(at: place)?.identity == folder.identity { return true }
            if place == "/" { return false }
            place = (place as NSString).deletingLastPathComponent
        }
    }
}
