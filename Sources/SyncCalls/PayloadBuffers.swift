import Foundation
import SyncCore

/// The bytes of a file, in buffers of at most one megabyte.
struct FileBuffers: AsyncSequence, Sendable {
    typealias Element = Data

    private static let chunkSize = 1 << 20

    private let url: URL
    /// The size of the file, in bytes, when the sequence was created; nil for a pipe or another file without a size.
    let size: Int?

    /// Creates the sequence. The file is opened when the iteration begins.
    ///
    /// - Throws: ``SyncError`` `unreadableFile`.
    init(_ url: URL) throws {
        self.url = url
        do {
            let values = try url.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey])
            size = values.isRegularFile == true ? values.fileSize : nil
        } catch {
            throw Self.unreadable(url, error)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(url: url) }

    struct Iterator: AsyncIteratorProtocol {
        let url: URL
        private var handle: FileHandle?

        init(url: URL) { self.url = url }

        mutating func next() async throws -> Data? {
            do {
                let open = try handle ?? FileHandle(forReadingFrom: url)
                handle = open
                let chunk = try open.read(upToCount: FileBuffers.chunkSize)
                return chunk?.isEmpty ?? true ? nil : chunk
            } catch {
                throw FileBuffers.unreadable(url, error)
            }
        }
    }

    /// Returns the contents of a file, for a sync that cannot suspend because it runs in the caller's transaction.
    ///
    /// - Throws: ``SyncError`` `unreadableFile`.
    static func contents(of url: URL) throws -> Data {
        do {
            return try Data(contentsOf: url)
        } catch {
            throw unreadable(url, error)
        }
    }

    private static func unreadable(_ url: URL, _ error: any Error) -> SyncError {
        SyncError(.unreadableFile, "cannot read '\(url.path)'", underlying: error.localizedDescription)
    }
}

// MARK: - BufferedBytes

/// A sequence of buffers, collected from a sequence of single bytes such as `URLSession.AsyncBytes`.
struct BufferedBytes<Bytes: AsyncSequence & Sendable>: AsyncSequence, Sendable where Bytes.Element == UInt8 {
    let bytes: Bytes

    func makeAsyncIterator() -> Iterator { Iterator(bytes: bytes.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        private static var chunkSize: Int { 1 << 16 }

        var bytes: Bytes.AsyncIterator

        /// Whether `bytes` has returned nil. An iterator need not support calls after that.
        private var isAtEnd = false

        init(bytes: Bytes.AsyncIterator) { self.bytes = bytes }

        mutating func next() async throws -> [UInt8]? {
            if isAtEnd { return nil }
            var chunk: [UInt8] = []
            chunk.reserveCapacity(Self.chunkSize)
            while chunk.count < Self.chunkSize {
                guard let byte = try await bytes.next() else {
                    isAtEnd = true
                    break
                }
                chunk.append(byte)
            }
            return chunk.isEmpty ? nil : chunk
        }
    }
}
