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
        return .chunks(ByteBuffers(reader: reader))
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

/// JSON to be synced.
struct Payload {
    /// Where its bytes are.
    enum Content {
        /// Small enough to be read whole, or needed so.
        case whole(Data)
        /// A plain file, to be read in pieces.
        case file(URL)
        /// Anything else that is read in pieces.
        case chunks(ByteBuffers)
    }

    /// Where the payload is from, for errors.
    let name: String
    let content: Content
    let form: SyncOptions.Form

    /// The whole of it; nil if it is read in pieces.
    var data: Data? {
        guard case .whole(let data) = content else { return nil }
        return data
    }
}

/// The bytes of a file or of standard input, unpacked if they are packed, from the front to the end.
///
/// `@unchecked Sendable`: the variables are only touched while `lock` is held.
final class ByteReader: @unchecked Sendable {
    private static let chunkSize = 1 << 18
    /// How often a reader that waits for input looks whether it still should, in milliseconds.
    private static let patience: Int32 = 100

    private let lock = NSLock()
    private let source: PayloadSource
    private let limit: ByteCount
    private let handle: FileHandle
    private var start: Data
    /// What is read again before anything else.
    private var front: Data?
    private var inflation: Inflation?
    private var unpackedSize = 0

    /// - Parameter limit: The most that packed data may unpack to.
    init(_ source: PayloadSource, unpackingTo limit: ByteCount) throws {
        self.source = source
        self.limit = limit
        handle = try source.open()
        start = Data()
        while start.count < 2, let more = try readHandle() { start.append(more) }
        guard source.hasGzipName || Gzip.isGzip(start) else { return }
        inflation = try Inflation { [unowned self] in try readPlain() }
    }

    /// The next bytes; nil at the end.
    ///
    /// - Throws: ``SyncError`` `unreadableFile`, `CancellationError`.
    func next() throws -> Data? {
        try lock.withLock {
            if let front {
                self.front = nil
                return front
            }
            guard let inflation else { return try readPlain() }
            do {
                guard let part = try inflation.next() else { return nil }
                unpackedSize += part.count
                guard unpackedSize <= limit.bytes else { throw Gzip.Failure.tooLarge }
                return part
            } catch let failure as Gzip.Failure {
                throw source.error(failure, limit)
            }
        }
    }

    /// Puts bytes that were read in front of those to come.
    func putBack(_ bytes: Data) { lock.withLock { front = bytes } }

    private func readPlain() throws -> Data? {
        guard start.isEmpty else {
            defer { start = Data() }
            return start
        }
        return try readHandle()
    }

    private func readHandle() throws -> Data? {
        var waiting = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, Self.patience) == 0 { try Task.checkCancellation() }
        do {
            let chunk = try handle.read(upToCount: Self.chunkSize)
            return chunk?.isEmpty ?? true ? nil : chunk
        } catch {
            throw SyncError(.unreadableFile, "cannot read \(source.name)", underlying: StreamFailure.reason(error))
        }
    }
}

/// The bytes that a reader has yet to give. They are there once.
struct ByteBuffers: AsyncSequence, Sendable {
    typealias Element = Data

    let reader: ByteReader

    func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    struct Iterator: AsyncIteratorProtocol {
        let reader: ByteReader

        mutating func next() async throws -> Data? { try reader.next() }
    }
}
