import Foundation
import SyncCore

/// The bytes of a file, a megabyte at a time.
struct FileChunks: AsyncSequence, Sendable {
    typealias Element = Data

    private static let chunkSize = 1 << 20

    private let url: URL
    /// The size of the file when it was found; nil for what has none, such as a pipe.
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
                let chunk = try open.read(upToCount: FileChunks.chunkSize)
                return chunk?.isEmpty ?? true ? nil : chunk
            } catch {
                throw FileChunks.unreadable(url, error)
            }
        }
    }

    private static func unreadable(_ url: URL, _ error: any Error) -> SyncError {
        SyncError(.unreadableFile, "cannot read '\(url.path)'", underlying: error.localizedDescription)
    }
}
