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
        var url = URL(fileURLWithPath: path)
        if hasGzipName { url.deletePathExtension() }
        return ["ndjson", "jsonl"].contains(url.pathExtension.lowercased())
    }

    private var hasGzipName: Bool {
        guard case .file(let path) = self else { return false }
        return URL(fileURLWithPath: path).pathExtension.lowercased() == "gz"
    }

    /// The JSON; what begins as gzip does, or is called so, is unpacked.
    ///
    /// - Parameters:
    ///   - limit: The most that packed data may unpack to.
    ///   - progress: Told how many of the packed bytes are unpacked, and how many there are.
    func read(unpackingTo limit: ByteCount, _ progress: (Int, Int) -> Void) throws -> Data {
        let data = try readBytes()
        guard hasGzipName || Gzip.isGzip(data) else { return data }
        do {
            return try Gzip.unpack(data, maximumSize: limit.bytes, progress)
        } catch let failure as Gzip.Failure {
            throw SyncError(.unreadableFile, "\(name): \(Self.message(failure, limit))")
        }
    }

    private static func message(_ failure: Gzip.Failure, _ limit: ByteCount) -> String {
        switch failure {
        case .truncated: "the gzip data ends too early; it was not written or sent whole"
        case .corrupt(let reason): "the gzip data is damaged (\(reason))"
        case .tooLarge:
            "unpacks to more than \(limit.defaultValueDescription), more than --max-size allows; nothing was written"
        }
    }

    private func readBytes() throws -> Data {
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
