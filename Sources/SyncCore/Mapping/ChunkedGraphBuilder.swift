import Foundation

/// Maps a payload that arrives in chunks: each piece of it by itself.
package struct ChunkedGraphBuilder {
    private let staging: PayloadGraphBuilder
    private let options: SyncOptions
    private var splitter: RecordChunker
    private var reader: JSONReader
    private let progress: (Int) -> Void
    /// Whether a piece had a record with a readable key.
    private var hasRecords = false
    /// Of the pieces before there are records: the first key that does not fit.
    private var unfitKey: SyncResult.Diagnostic?
    /// The first root record without a readable key.
    private var firstKeyless: PayloadGraph.KeylessRecord?
    /// How many root records the pieces had, and of several lists those of each.
    private var recordCount = 0
    /// The beginning of the payload, to tell what it is if it cannot be read.
    private var head: [UInt8] = []
    private var roots: [PayloadGraph.RootList] = []

    /// - Parameters:
    ///   - staging: What maps one piece.
    ///   - progress: Told how many bytes are mapped, after each piece.
    /// - Throws: ``SyncError`` `invalidOption`.
    package init(_ staging: PayloadGraphBuilder, options: SyncOptions, progress: @escaping (Int) -> Void) throws {
        try options.checkKeyPath()
        guard options.pieces.size > 0 else {
            throw SyncError(.invalidOption, "pieces of \(options.pieces.size) bytes; there must be at least 1")
        }
        self.staging = staging
        self.options = options
        self.progress = progress
        splitter = staging.layout.splitter(pieceSize: options.pieces.size)
        reader = staging.layout.reader()
    }

    /// Takes bytes from the front of `chunk`, up to the end of the next piece; nil once it has taken all and there is no
    /// piece yet.
    ///
    /// - Throws: What reading and mapping throw, with places in the whole payload.
    package mutating func next(from chunk: inout UnsafeRawBufferPointer.SubSequence) throws -> MappedPayload? {
        let given = chunk
        do {
            let payload = try splitter.next(from: &chunk).map { try stage($0) }
            if head.count <= PayloadPrefix.size {
                head += given[given.startIndex..<chunk.startIndex].prefix(PayloadPrefix.size + 1 - head.count)
            }
            return payload
        } catch let error as SyncError {
            throw staging.recognized(error, PayloadPrefix(head + given.prefix(PayloadPrefix.size), isWhole: false))
        }
    }

    /// The rest of the payload, which ends here.
    ///
    /// - Throws: ``SyncError`` `noRecords` if no piece had a record with a readable key, and what ``next(from:)`` throws.
    package mutating func last() throws -> MappedPayload {
        do {
            return try rest()
        } catch let error as SyncError {
            throw staging.recognized(error, PayloadPrefix(head))
        }
    }

    private mutating func rest() throws -> MappedPayload {
        let payload = try stage(splitter.last())
        try payload.plan.requireRecords(ofEach: roots, of: staging.model)
        guard hasRecords else { return try payload.requiringRecords(of: staging.model, options, after: unfitKey) }
        try payload.plan.requireKeys(options, firstKeyless)
        return payload
    }

    private mutating func count(_ found: [PayloadGraph.RootList]) {
        guard !roots.isEmpty else { return roots = found }
        for (index, root) in found.enumerated() {
            roots[index].records += root.records
            roots[index].readable += root.readable
        }
    }

    private mutating func stage(_ piece: JSONChunk) throws -> MappedPayload {
        let payload = try piece.bytes.withUnsafeBytes { raw in
            let bytes = raw.bindMemory(to: UInt8.self)
            reader.read(bytes, at: piece.place, isLast: piece.isLast)
            let first = staging.layout.isPlain ? reader.recordIndex + 1 : recordCount
            return try staging.stage(piece.bytes, bytes, &reader, from: first)
        }
        recordCount += payload.plan.rootRecords
        count(payload.plan.roots)
        hasRecords = hasRecords || payload.plan.readableRootRecords > 0
        if !hasRecords, unfitKey == nil { unfitKey = try payload.plan.unfitKey(of: staging.model) }
        firstKeyless = firstKeyless ?? payload.plan.firstKeyless
        progress(piece.place.offset + piece.bytes.count)
        return payload
    }
}
