public import Foundation
public import SyncCore
package import SyncStore

/// A type whose values can be the payload of a sync.
///
/// These types conform: `Data` (UTF-8 JSON), `URL` (the URL of a file), ``JSONValue``, and `[[String: Any]]`
/// (dictionaries from `JSONSerialization`). For streams and `Encodable` values, create a ``SyncPayload``.
public protocol SyncPayloadConvertible {
    /// Returns the value as a payload.
    ///
    /// - Throws: An error if the value cannot be a payload. The sync throws this error and changes nothing.
    func syncPayload() throws -> SyncPayload
}

/// The JSON of one sync: in memory, in a file, or from a stream.
public struct SyncPayload {
    enum Source {
        case data(Data)
        case value(JSONValue)
        case dictionaries([[String: Any]])
        case file(URL)
        case stream(@Sendable (SyncCall, _ isDryRun: Bool) async throws -> SyncResult)
    }

    let source: Source
}

extension SyncPayload: SyncPayloadConvertible {
    /// Returns the payload itself.
    public func syncPayload() -> SyncPayload { self }
}

extension Data: SyncPayloadConvertible {
    /// Returns the data as a payload of UTF-8 JSON.
    public func syncPayload() -> SyncPayload { SyncPayload(source: .data(self)) }
}

extension JSONValue: SyncPayloadConvertible {
    /// Returns the value as a payload.
    public func syncPayload() -> SyncPayload { SyncPayload(source: .value(self)) }
}

extension [[String: Any]]: SyncPayloadConvertible {
    /// Returns the dictionaries as a payload. The dictionaries need not be `Sendable`, because the sync reads the
    /// dictionaries in the isolation of the caller.
    public func syncPayload() -> SyncPayload { SyncPayload(source: .dictionaries(self)) }
}

extension URL: SyncPayloadConvertible {
    /// Returns the file at the URL as a payload. A sync in the caller's transaction reads the whole file at once. Other
    /// syncs read the file in chunks to limit memory use. A JSON:API file is one chunk if a relationship's destination
    /// entity has a primary key other than the resource `id`.
    ///
    /// - Throws: ``SyncError`` `unreadableFile` if the URL is not a file URL. The sync also throws `unreadableFile` if
    ///   the file cannot be read.
    public func syncPayload() throws -> SyncPayload {
        guard isFileURL else {
            throw SyncError(
                .unreadableFile, "'\(absoluteString)' is not the URL of a file; download it and pass its data")
        }
        return SyncPayload(source: .file(self))
    }
}

extension SyncPayloadConvertible where Self == SyncPayload {
    /// Creates a payload from a JSON value, such as a literal.
    public static func json(_ value: JSONValue) -> SyncPayload { SyncPayload(source: .value(value)) }

    /// Creates a payload from a stream of buffers, such as the body of a response.
    ///
    /// ```swift
    /// try await Sync.changes(.buffers(response.body), inEntity: "User", stack: stack)
    /// ```
    /// - Parameter stream: UTF-8 JSON, divided into buffers at any byte. The sync requests buffers only as fast as it
    ///   writes rows. The stream must not use the store, and should end when the task of the sync is cancelled.
    public static func buffers<Stream: AsyncSequence & Sendable>(_ stream: Stream) -> SyncPayload
    where Stream.Element: ContiguousBytes {
        SyncPayload(
            source: .stream { call, isDryRun in
                try await call.changes(chunks: stream, total: nil, isDryRun: isDryRun)
            })
    }

    /// Creates a payload from a stream of single bytes. If the source also has buffers, ``buffers(_:)`` is faster.
    ///
    /// ```swift
    /// let (bytes, _) = try await URLSession.shared.bytes(from: url)
    /// try await Sync.changes(.bytes(bytes), inEntity: "User", stack: stack)
    /// ```
    public static func bytes<Stream: AsyncSequence & Sendable>(_ stream: Stream) -> SyncPayload
    where Stream.Element == UInt8 {
        .buffers(BufferedBytes(bytes: stream))
    }

    /// Creates a payload from `Encodable` values, such as the decoded values of an API client. Dates become ISO 8601
    /// strings.
    ///
    /// - Throws: `EncodingError` if a value cannot be encoded.
    public static func encoding(_ values: [some Encodable]) throws -> SyncPayload {
        SyncPayload(source: .value(try JSONCodedValue.json(values)))
    }
}

extension SyncCall {
    /// Maps a payload and writes the diff, once the limits of the store and the process allow it. A dry run only
    /// computes the diff.
    nonisolated(nonsending) func run(
        _ payload: some SyncPayloadConvertible, isDryRun: Bool = false
    ) async throws -> SyncResult {
        // A sync that waits for its store must not occupy a place of the process.
        try await store.syncLimit.run {
            try await SyncLimit.process.run { try await runNow(payload, isDryRun) }
        }
    }

    private nonisolated(nonsending) func runNow(
        _ payload: some SyncPayloadConvertible, _ isDryRun: Bool
    ) async throws -> SyncResult {
        switch try payload.syncPayload().source {
        case .data(let json): try await changes(json, isDryRun: isDryRun)
        case .value(let json): try await changes(isDryRun: isDryRun) { try $0.map(json) }
        case .dictionaries(let records): try await changesHere(isDryRun: isDryRun) { try $0.map(records) }
        case .file(let url): try await changes(file: url, isDryRun: isDryRun)
        case .stream(let changes): try await changes(self, isDryRun)
        }
    }

    private nonisolated(nonsending) func changes(file: URL, isDryRun: Bool) async throws -> SyncResult {
        let buffers = try FileBuffers(file)
        return try await changes(chunks: buffers, total: buffers.size, isDryRun: isDryRun)
    }

    /// Maps a payload and writes the diff in the caller's transaction. A dry run only computes the diff.
    ///
    /// - Throws: ``SyncError`` `invalidOption` for a stream.
    package func run(
        _ payload: some SyncPayloadConvertible, by writer: any StoreWriter, isDryRun: Bool = false
    ) throws -> SyncResult {
        switch try payload.syncPayload().source {
        case .data(let json): return try changes(json, by: writer, isDryRun: isDryRun)
        case .value(let json): return try changes(by: writer, isDryRun: isDryRun) { try $0.map(json) }
        case .dictionaries(let records):
            return try changes(by: writer, isDryRun: isDryRun) { try $0.map(records) }
        case .file(let url): return try changes(FileBuffers.contents(of: url), by: writer, isDryRun: isDryRun)
        case .stream:
            throw SyncError(
                .invalidOption,
                "a stream cannot be read inside a transaction; pass Data, or sync outside the transaction")
        }
    }
}

// MARK: - Buffers

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
