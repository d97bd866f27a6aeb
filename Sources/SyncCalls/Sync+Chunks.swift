public import Foundation
public import SyncCore

extension Sync {
    /// Inserts, updates and deletes rows so that the entity matches JSON that arrives in buffers, such as the body of a
    /// response.
    ///
    /// The memory use does not grow with the size of the JSON.
    ///
    /// ```swift
    /// var options = SyncOptions(collectsKeys: false)
    /// options.form = .ndjson
    /// try await Sync.changes(response.body, inEntity: "User", stack: stack, options: options)
    /// ```
    /// The sync cuts the JSON into chunks of whole records (``SyncOptions/pieces``) and writes each chunk while it
    /// reads the next. All chunks are written in one transaction, unless the options say otherwise. The buffers may end
    /// anywhere in the JSON.
    ///
    /// The result is the same as for the whole JSON, with two exceptions, because a chunk does not contain later
    /// records:
    /// - One record gives a row as an entity. A later chunk gives it as a sub-entity and lacks a value that the
    ///   sub-entity requires. The row keeps its stored entity. If the JSON is synced whole, the sync rejects the
    ///   record.
    /// - Rows reference the owner of an ordered relationship by id, and a later chunk brings the owner. They come after
    ///   the rows that the later chunk links to the owner.
    ///
    /// - Parameters:
    ///   - chunks: Buffers of UTF-8 JSON, such as `[UInt8]` or `Data`. A separate task reads them, no faster than the
    ///     sync writes. The sequence must not use the store, and should end when its task is cancelled.
    ///   - options: By default keys are not collected, because a list of keys grows with the number of written rows.
    /// - Returns: The rows that were inserted, updated and deleted. Diagnostics give positions in the whole JSON.
    /// - Throws: ``SyncError`` with the position in the whole JSON, an error of the sequence, `CancellationError`, or
    ///   an error of SQLite. The store is then unchanged, if the payload is written in one transaction.
    @discardableResult
    public nonisolated(nonsending) static func changes<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(collectsKeys: false)
    ) async throws -> SyncResult where Chunks.Element: ContiguousBytes {
        let call = SyncCall(entity, stack, predicate, parent, relationship, operations, options)
        return try await call.changes(chunks: chunks, total: nil, isDryRun: false)
    }

    /// Computes what a sync of JSON that arrives in buffers would change, and writes nothing.
    public nonisolated(nonsending) static func plan<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(collectsKeys: false)
    ) async throws -> SyncResult where Chunks.Element: ContiguousBytes {
        let call = SyncCall(entity, stack, predicate, parent, relationship, operations, options)
        return try await call.changes(chunks: chunks, total: nil, isDryRun: true)
    }

    /// Inserts, updates and deletes rows so that the entity matches the JSON in a file, which is read in chunks. See
    /// ``changes(_:inEntity:stack:predicate:parent:relationship:operations:options:)-(Chunks,_,_,_,_,_,_,_)``.
    ///
    /// - Throws: ``SyncError`` `unreadableFile`, and the errors of that call.
    @discardableResult
    public nonisolated(nonsending) static func changes(
        contentsOf file: URL, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(collectsKeys: false)
    ) async throws -> SyncResult {
        let call = SyncCall(entity, stack, predicate, parent, relationship, operations, options)
        let chunks = try FileBuffers(file)
        return try await call.changes(chunks: chunks, total: chunks.size, isDryRun: false)
    }

    /// Computes what a sync of the JSON in a file would change, and writes nothing.
    public nonisolated(nonsending) static func plan(
        contentsOf file: URL, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(collectsKeys: false)
    ) async throws -> SyncResult {
        let call = SyncCall(entity, stack, predicate, parent, relationship, operations, options)
        let chunks = try FileBuffers(file)
        return try await call.changes(chunks: chunks, total: chunks.size, isDryRun: true)
    }
}

// MARK: - Bytes

// JSON that arrives byte by byte.
extension Sync {
    /// Inserts, updates and deletes rows so that the entity matches JSON that arrives byte by byte.
    ///
    /// ```swift
    /// let (bytes, _) = try await URLSession.shared.bytes(from: url)
    /// try await Sync.changes(bytes, inEntity: "User", stack: stack)
    /// ```
    /// Buffers are faster, if they are available. See
    /// ``changes(_:inEntity:stack:predicate:parent:relationship:operations:options:)-(Chunks,_,_,_,_,_,_,_)``, which
    /// documents both.
    @discardableResult
    public nonisolated(nonsending) static func changes<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(collectsKeys: false)
    ) async throws -> SyncResult where Bytes.Element == UInt8 {
        try await changes(
            BufferedBytes(bytes: bytes), inEntity: entity, stack: stack, predicate: predicate, parent: parent,
            relationship: relationship, operations: operations, options: options)
    }

    /// Computes what a sync of JSON that arrives byte by byte would change, and writes nothing.
    public nonisolated(nonsending) static func plan<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(collectsKeys: false)
    ) async throws -> SyncResult where Bytes.Element == UInt8 {
        try await plan(
            BufferedBytes(bytes: bytes), inEntity: entity, stack: stack, predicate: predicate, parent: parent,
            relationship: relationship, operations: operations, options: options)
    }

    /// Inserts, updates and deletes rows so that several entities match one document that arrives byte by byte.
    @discardableResult
    public nonisolated(nonsending) static func changes<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, entities: [String: String], stack: some SyncStack, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(collectsKeys: false)
    ) async throws -> SyncResult where Bytes.Element == UInt8 {
        try await changes(
            BufferedBytes(bytes: bytes), entities: entities, stack: stack, operations: operations, options: options)
    }
}

// MARK: - FileBuffers

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
