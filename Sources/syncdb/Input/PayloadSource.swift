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
        var url = URL(argument: path)
        if hasGzipName { url.deletePathExtension() }
        return ["ndjson", "jsonl"].contains(url.pathExtension.lowercased())
    }

    var hasGzipName: Bool {
        guard case .file(let path) = self else { return false }
        return URL(argument: path).pathExtension.lowercased() == "gz"
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
            throw error(failure, limit)
        }
    }

    /// The JSON if it has at most so many bytes, else what reads it in pieces.
    ///
    /// - Parameter size: In unpacked bytes.
    func read(
        wholeUpTo size: ByteCount, unpackingTo limit: ByteCount, _ progress: (Int, Int) -> Void
    ) throws -> Payload.Content {
        if case .file(let path) = self, let fileSize = try Self.plainFileSize(path), !hasGzipName {
            let url = URL(argument: path)
            if try !Self.isGzip(url) { return fileSize > size.bytes ? .file(url) : .whole(try readBytes()) }
        }
        let reader = try ByteReader(self, unpackingTo: limit)
        var start = Data()
        while start.count <= size.bytes {
            guard let more = try reader.next() else { return .whole(start) }
            start.append(more)
            progress(start.count, 0)
        }
        reader.putBack(start)
        return .chunks(ByteChunks(reader: reader))
    }

    /// The size of a file that has one; nil for a pipe.
    private static func plainFileSize(_ path: String) throws -> Int? {
        try check(path)
        guard let status = FileStatus(at: path), status.isRegular else { return nil }
        return status.size
    }

    private static func isGzip(_ url: URL) throws -> Bool {
        let handle = try FileHandle(forReadingFrom: url)
        defer { try? handle.close() }
        return Gzip.isGzip(try handle.read(upToCount: 2) ?? Data())
    }

    func error(_ failure: Gzip.Failure, _ limit: ByteCount) -> SyncError {
        SyncError(.unreadableFile, "\(name): \(Self.message(failure, limit))")
    }

    private static func message(_ failure: Gzip.Failure, _ limit: ByteCount) -> String {
        guard failure == .tooLarge else { return failure.localizedDescription }
        return "unpacks to more than \(limit.defaultValueDescription), more than --max-size allows; nothing was written"
    }

    /// Opens it to be read from the front.
    func open() throws -> FileHandle {
        switch self {
        case .standardInput: return .standardInput
        case .file(let path):
            try Self.check(path)
            do {
                return try FileHandle(forReadingFrom: URL(argument: path))
            } catch {
                throw SyncError(.unreadableFile, "cannot read '\(path)'", underlying: "\(error.localizedDescription)")
            }
        }
    }

    private func readBytes() throws -> Data {
        switch self {
        case .standardInput:
            do {
                return try FileHandle.standardInput.readToEnd() ?? Data()
            } catch {
                throw SyncError(.unreadableFile, "cannot read \(name)", underlying: StreamFailure.reason(error))
            }
        case .file(let path):
            try Self.check(path)
            return try FileContents.read(path)
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
