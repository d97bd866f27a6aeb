import Foundation
import Sync

/// The source of a payload's bytes.
enum PayloadSource {
    case standardInput
    case file(String)

    init(_ argument: String) {
        self = argument == "-" ? .standardInput : .file(argument)
    }

    /// The name for errors.
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

    /// Reads the JSON, and decompresses it if it begins like gzip or has the extension `.gz`.
    ///
    /// - Parameters:
    ///   - limit: The largest number of decompressed bytes.
    ///   - progress: A closure that receives the number of compressed bytes that were read, and their total.
    func read(unpackingTo limit: ByteCount, _ progress: (Int, Int) -> Void) throws -> Data {
        let data = try readBytes()
        guard hasGzipName || Gzip.isGzip(data) else { return data }
        do {
            return try Gzip.unpack(data, maximumSize: limit.bytes, progress)
        } catch let failure as Gzip.Failure {
            throw error(failure, limit)
        }
    }

    /// Reads the JSON completely if it is small. Otherwise returns a source from which a sync reads the JSON in chunks.
    ///
    /// - Parameter size: The largest number of decompressed bytes to read completely.
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
        reader.unread(start)
        return .chunks(ByteBuffers(reader: reader))
    }

    /// Returns the size of a regular file; nil for another kind, such as a pipe.
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
        return
            "larger than \(limit.defaultValueDescription) after decompression; raise the limit with --max-size; nothing was written"
    }

    /// Opens the source for reading.
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

    /// Checks the file, because the errors of Foundation are less clear.
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

/// A payload to sync.
struct Payload: SyncPayloadConvertible {
    /// The bytes of a payload.
    enum Content {
        /// The complete bytes of a small payload, or of a payload that the command needs completely.
        case whole(Data)
        /// A regular file that is read in chunks.
        case file(URL)
        /// Any other source that is read in chunks.
        case chunks(ByteBuffers)
    }

    /// The name of the source for errors.
    let name: String
    let content: Content
    let format: PayloadFormat

    func syncPayload() throws -> SyncPayload {
        switch content {
        case .whole(let data): data.syncPayload()
        case .file(let url): try url.syncPayload()
        case .chunks(let chunks): .buffers(chunks)
        }
    }

    /// The complete bytes; nil if the payload is read in chunks.
    var data: Data? {
        guard case .whole(let data) = content else { return nil }
        return data
    }
}

/// A reader of a file or of standard input from beginning to end. It decompresses gzip data.
///
/// `@unchecked Sendable`: the variables are accessed only while `lock` is held.
final class ByteReader: @unchecked Sendable {
    private static let chunkSize = 1 << 18
    /// The interval in milliseconds at which a waiting reader checks for cancellation.
    private static let pollInterval: Int32 = 100

    private let lock = NSLock()
    private let source: PayloadSource
    private let limit: ByteCount
    private let handle: FileHandle
    private var start: Data
    /// Bytes that were put back.
    private var front: Data?
    private var inflation: Inflation?
    private var unpackedSize = 0

    /// Opens a source.
    ///
    /// - Parameter limit: The largest number of decompressed bytes.
    init(_ source: PayloadSource, unpackingTo limit: ByteCount) throws {
        self.source = source
        self.limit = limit
        handle = try source.open()
        start = Data()
        while start.count < 2, let more = try readHandle() { start.append(more) }
        guard source.hasGzipName || Gzip.isGzip(start) else { return }
        inflation = try Inflation { [unowned self] in try readPlain() }
    }

    /// Returns the next bytes; nil at the end.
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

    /// Puts bytes back, so that ``next()`` returns them next.
    func unread(_ bytes: Data) { lock.withLock { front = bytes } }

    private func readPlain() throws -> Data? {
        guard start.isEmpty else {
            defer { start = Data() }
            return start
        }
        return try readHandle()
    }

    private func readHandle() throws -> Data? {
        var waiting = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, Self.pollInterval) == 0 { try Task.checkCancellation() }
        do {
            let chunk = try handle.read(upToCount: Self.chunkSize)
            return chunk?.isEmpty ?? true ? nil : chunk
        } catch {
            throw SyncError(.unreadableFile, "cannot read \(source.name)", underlying: StreamFailure.reason(error))
        }
    }
}

/// The remaining bytes of a reader. The sequence can be iterated only once.
struct ByteBuffers: AsyncSequence, Sendable {
    typealias Element = Data

    let reader: ByteReader

    func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    struct Iterator: AsyncIteratorProtocol {
        let reader: ByteReader

        mutating func next() async throws -> Data? { try reader.next() }
    }
}
