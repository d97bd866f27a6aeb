import ArgumentParser
import Foundation
import Sync

/// Where an export goes.
enum ExportDestination {
    typealias Write = @Sendable (Data) throws -> Void

    case standardOutput
    /// A file that is there, or replaced, only when it is complete.
    case file(String)
    /// A device or a pipe with a name, which cannot be replaced.
    case device(String)

    init(_ argument: String?) {
        guard let argument, argument != "-" else {
            self = .standardOutput
            return
        }
        let type = try? FileManager.default.attributesOfItem(atPath: argument)[.type] as? FileAttributeType
        let isDevice = [.typeCharacterSpecial, .typeBlockSpecial, .typeSocket, .typeUnknown].contains(type)
        self = isDevice ? .device(argument) : .file(argument)
    }

    /// Lets `body` write.
    ///
    /// - Throws: What it throws; `unreadableFile` if the file cannot be written. There is no new file then.
    func write(_ body: (@escaping Write) async throws -> Void) async throws {
        switch self {
        case .standardOutput: try await body(Self.writeOutput)
        case .device(let path): try await Self.write(to: path, as: path, body)
        case .file(let path):
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
                throw Self.failure(path, "it is a folder")
            }
            let url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
            let name = ".\(url.lastPathComponent).\(UUID().uuidString).partial"
            let partial = url.deletingLastPathComponent().appendingPathComponent(name).path
            guard FileManager.default.createFile(atPath: partial, contents: nil) else {
                throw Self.failure(path, "its folder is missing or cannot be written to")
            }
            do {
                try await Self.write(to: partial, as: path, body)
                guard rename(partial, url.path) == 0 else { throw Self.failure(path, String(cString: strerror(errno))) }
            } catch {
                try? FileManager.default.removeItem(atPath: partial)
                throw error
            }
        }
    }

    private static func write(
        to path: String, as name: String, _ body: (@escaping Write) async throws -> Void
    ) async throws {
        guard let file = FileHandle(forWritingAtPath: path) else { throw failure(name, "it cannot be opened") }
        try await body { data in
            do {
                try file.write(contentsOf: data)
            } catch {
                throw failure(name, error.localizedDescription)
            }
        }
        try? file.synchronize()
        try file.close()
    }

    private static func writeOutput(_ data: Data) throws {
        guard try Terminal.write(json: data) else { throw ExitCode.success }
    }

    private static func failure(_ path: String, _ reason: String) -> any Error {
        SyncError(.unreadableFile, "cannot write '\(path)'", underlying: reason)
    }
}
