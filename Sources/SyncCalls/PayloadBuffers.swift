import Foundation
import SyncCore

/// The bytes of a file, in buffers of one megabyte.
struct FileBuffers: AsyncSequence, Sendable {
    typealias Element = Data

    private static let chunkSize = 1 << 20

    private let url: URL
    /// The size of the file when the sequence was made; nil for a pipe or another file without a size.
    let size: Int?

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

    /// Returns the whole file, for a sync that cannot suspend.
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

/// Single bytes, such as those of `URLSession.AsyncBytes`, collected into buffers.
struct BufferedBytes<Bytes: AsyncSequence & Sendable>: AsyncSequence, Sendable where Bytes.Element == UInt8 {
    let bytes: Bytes

    func makeAsyncIterator() -> Iterator { Iterator(bytes: bytes.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        private static var chunkSize: Int { 1 << 16 }

        var bytes: Bytes.AsyncIterator

        /// Whether the bytes have ended. An iterator need not support calls after its end.
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
