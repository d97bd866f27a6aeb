public import Foundation
public import SyncCore

extension Sync {
    /// Makes the stored rows of an entity what JSON says that arrives in chunks, such as the body of a response: the
    /// memory it takes does not grow with the size of the JSON.
    ///
    /// ```swift
    /// var options = SyncOptions(collectsKeys: false)
    /// options.form = .ndjson
    /// try await Sync.changes(response.body, inEntity: "User", stack: stack, options: options)
    /// ```
    /// The JSON is cut into pieces of whole records (``SyncOptions/pieces``), and each is written while the next is
    /// read, all in one transaction unless the options say otherwise. It may be cut into chunks anywhere. The store
    /// ends up as if all had been synced at once, but for what a piece cannot know of later ones: a row that one record
    /// gives as of an entity, and a later piece as of a sub-entity without a value that this one requires, stays what
    /// it was stored as, where the whole is refused; and rows that give the owner of an ordered relationship by an id,
    /// before the piece that brings the owner, come after the rows that this piece links to it.
    ///
    /// - Parameters:
    ///   - chunks: UTF-8 JSON, such as `[UInt8]` or `Data`. Read in a task of its own, no faster than it is written. It
    ///     must not use the store, and should end when its task is cancelled.
    ///   - options: By default keys are not collected: a result that lists them grows with what is written.
    /// - Returns: What changed. Diagnostics give places in the whole JSON.
    /// - Throws: ``SyncError`` with its place in the whole JSON, what the sequence throws, `CancellationError`, or an
    ///   error of SQLite. The store is then as it was, if all is written in one transaction.
    @discardableResult
    public nonisolated(nonsending) static func changes<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(collectsKeys: false)
    ) async throws -> SyncResult where Chunks.Element: ContiguousBytes {
        let call = SyncCall(entity, stack, predicate, parent, relationship, operations, options)
        return try await call.changes(chunks: chunks, total: nil, isDryRun: false)
    }

    /// What a sync of JSON that arrives in chunks would change. Writes nothing.
    public nonisolated(nonsending) static func plan<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(collectsKeys: false)
    ) async throws -> SyncResult where Chunks.Element: ContiguousBytes {
        let call = SyncCall(entity, stack, predicate, parent, relationship, operations, options)
        return try await call.changes(chunks: chunks, total: nil, isDryRun: true)
    }

    /// Makes the stored rows of an entity what the JSON in a file says, read in pieces like
    /// ``changes(_:inEntity:stack:predicate:parent:relationship:operations:options:)-(Chunks,_,_,_,_,_,_,_)``.
    ///
    /// - Throws: ``SyncError`` `unreadableFile` too.
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

    /// What a sync of the JSON in a file would change. Writes nothing.
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
    /// Makes the stored rows of an entity what JSON says that arrives byte by byte.
    ///
    /// ```swift
    /// let (bytes, _) = try await URLSession.shared.bytes(from: url)
    /// try await Sync.changes(bytes, inEntity: "User", stack: stack)
    /// ```
    /// Chunks, where they can be had, are faster:
    /// ``changes(_:inEntity:stack:predicate:parent:relationship:operations:options:)-(Chunks,_,_,_,_,_,_,_)`` takes
    /// those, and says what holds for both.
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

    /// What a sync of JSON that arrives byte by byte would change. Writes nothing.
    public nonisolated(nonsending) static func plan<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: Parent? = nil, relationship: String? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(collectsKeys: false)
    ) async throws -> SyncResult where Bytes.Element == UInt8 {
        try await plan(
            BufferedBytes(bytes: bytes), inEntity: entity, stack: stack, predicate: predicate, parent: parent,
            relationship: relationship, operations: operations, options: options)
    }

    /// Makes the stored rows of several entities what one document says that arrives byte by byte.
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

/// The bytes of a file, a megabyte at a time.
struct FileBuffers: AsyncSequence, Sendable {
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

/// Bytes that come one by one, such as those of `URLSession.AsyncBytes`, in chunks.
struct BufferedBytes<Bytes: AsyncSequence & Sendable>: AsyncSequence, Sendable where Bytes.Element == UInt8 {
    let bytes: Bytes

    func makeAsyncIterator() -> Iterator { Iterator(bytes: bytes.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        private static var chunkSize: Int { 1 << 16 }

        var bytes: Bytes.AsyncIterator

        /// The end of the bytes is not asked for twice: an iterator need not answer after it.
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
