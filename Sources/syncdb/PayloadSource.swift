import Foundation
import Sync

/// Where a payload's bytes come from.
enum PayloadSource {
    case standardInput
    case file(String)

    init(_ argument: String) {
        self = argument == "-" ? .standardInput : .file(argument)
    }

    /// What to call it in an error.
    var name: String {
        guard case .file(let path) = self else { return "standard input" }
        return path
    }

    var isNDJSON: Bool {
        guard case .file(let path) = self else { return false }
        return ["ndjson", "jsonl"].contains(URL(fileURLWithPath: path).pathExtension.lowercased())
    }

    func read() throws -> Data {
        switch self {
        case .standardInput:
            return try FileHandle.standardInput.readToEnd() ?? Data()
        case .file(let path):
            try Self.check(path)
            do {
                return try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
            } catch {
                throw SyncError(.unreadableFile, "cannot read '\(path)'", underlying: "\(error.localizedDescription)")
            }
        }
    }

    /// Says plainly what Foundation would say in its own words.
    private static func check(_ path: String) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw SyncError(.unreadableFile, "there is no file '\(path)'")
        }
        guard !isFolder.boolValue else { throw SyncError(.unreadableFile, "'\(path)' is a folder, not a JSON file") }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw SyncError(.unreadableFile, "no permission to read '\(path)'")
        }
    }
}
