import Foundation
import Sync

/// Names are text here. One that is not UTF-8 would become another as text, and so lead to another file.
enum Encoding {
    /// - Throws: ``UsageError`` if an argument is not UTF-8.
    static func checkArguments() throws {
        for argument in UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst() {
            guard let argument, String(validatingCString: argument) == nil else { continue }
            throw UsageError("an argument is not UTF-8: '\(String(cString: argument))'")
        }
    }

    /// - Throws: ``SyncError`` `unreadableFile` if the names that are relative to the current folder lead nowhere.
    static func checkFolder() throws {
        guard let folder = getcwd(nil, 0) else { return }
        defer { free(folder) }
        guard String(validatingCString: folder) == nil else { return }
        throw SyncError(.unreadableFile, "the name of the current folder is not UTF-8")
    }
}
