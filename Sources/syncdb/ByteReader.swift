import Foundation
import Sync

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
