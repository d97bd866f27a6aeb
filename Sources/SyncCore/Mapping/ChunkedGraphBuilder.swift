import Foundation

/// A builder that maps a payload one chunk at a time. The payload arrives in buffers.
package struct ChunkedGraphBuilder {
    private let builder: PayloadGraphBuilder
    private let options: SyncOptions
    private var chunker: RecordChunker
    private var reader: JSONReader
    private let progress: (Int) -> Void
    /// Whether any chunk so far had a root record with a readable key.
    private var hasRecords = false
    /// The diagnostic of the first key of the wrong type. It is only needed while no chunk has a readable key.
    private var unfitKey: SyncDiagnostic?
    /// The first root record without a readable key.
    private var firstKeyless: PayloadGraph.KeylessRecord?
    /// The number of root records in the chunks so far.
    private var recordCount = 0
    /// The first bytes of the payload, for detecting its format if it cannot be read.
    private var head: [UInt8] = []
    private var roots: [PayloadGraph.RootList] = []

    /// Creates a builder for one payload.
    ///
    /// - Parameters:
    ///   - builder: The builder that maps a chunk. It has checked the numbers of the options.
    ///   - progress: A function that is called after each chunk with the number of bytes mapped so far.
    /// - Throws: ``SyncError`` `invalidOption` for an invalid key path.
    package init(_ builder: PayloadGraphBuilder, options: SyncOptions, progress: @escaping (Int) -> Void) throws {
        try options.checkKeyPath()
        self.builder = builder
        self.options = options
        self.progress = progress
        chunker = builder.layout.chunker(chunkSize: options.chunkSize)
        reader = builder.layout.reader()
    }

    /// Takes bytes from the front of a buffer until they contain the next chunk, and maps the chunk.
    ///
    /// - Returns: The mapped chunk; nil if the buffer ends before the chunk does.
    /// - Throws: The errors of reading and mapping. Their lines, columns and paths are those in the whole payload.
    package mutating func next(from chunk: inout UnsafeRawBufferPointer.SubSequence) throws -> MappedPayload? {
        let given = chunk
        do {
            let payload = try chunker.next(from: &chunk).map { try map($0) }
            if head.count <= PayloadPrefix.size {
                head += given[given.startIndex..<chunk.startIndex].prefix(PayloadPrefix.size + 1 - head.count)
            }
            return payload
        } catch let error as SyncError {
            throw builder.recognized(error, PayloadPrefix(head + given.prefix(PayloadPrefix.size), isWhole: false))
        }
    }

    /// Maps the rest of the payload. Call this once, after the last buffer.
    ///
    /// - Throws: The errors of ``next(from:)``, and ``SyncError`` `noRecords` if the payload has root records, but no
    ///   root record has a readable key. If the sync is strict, `primaryKeyMissing` for any root record without a
    ///   readable key.
    package mutating func last() throws -> MappedPayload {
        do {
            return try rest()
        } catch let error as SyncError {
            throw builder.recognized(error, PayloadPrefix(head))
        }
    }

    private mutating func rest() throws -> MappedPayload {
        let payload = try map(chunker.last())
        try payload.graph.requireRecords(ofEach: roots, of: builder.model)
        guard hasRecords else { return try payload.requiringRecords(of: builder.model, options, after: unfitKey) }
        try payload.graph.requireKeys(options, firstKeyless)
        return payload
    }

    private mutating func count(_ found: [PayloadGraph.RootList]) {
        guard !roots.isEmpty else { return roots = found }
        for (index, root) in found.enumerated() {
            roots[index].records += root.records
            roots[index].readable += root.readable
        }
    }

    private mutating func map(_ chunk: JSONChunk) throws -> MappedPayload {
        let payload = try chunk.bytes.withUnsafeBytes { raw in
            let bytes = raw.bindMemory(to: UInt8.self)
            reader.read(bytes, at: chunk.location, isLast: chunk.isLast)
            let first = builder.layout.isPlain ? reader.recordIndex + 1 : recordCount
            return try builder.map(chunk.bytes, bytes, &reader, from: first)
        }
        recordCount += payload.graph.rootRecords
        count(payload.graph.roots)
        hasRecords = hasRecords || payload.graph.readableRootRecords > 0
        if !hasRecords, unfitKey == nil { unfitKey = try payload.graph.unfitKey(of: builder.model) }
        firstKeyless = firstKeyless ?? payload.graph.firstKeyless
        progress(chunk.location.offset + chunk.bytes.count)
        return payload
    }
}
