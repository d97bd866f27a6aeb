import Foundation

/// Maps a payload that arrives in chunks: each piece of it by itself.
package struct PieceStaging {
    private let staging: PayloadStaging
    private let options: SyncOptions
    private var splitter: RecordSplitter
    private var reader: JSONReader
    private let progress: (Int) -> Void
    /// Whether a piece had a record with a readable key.
    private var hasRecords = false
    /// Of the pieces before there are records: the first key that does not fit.
    private var unfitKey: Diagnostic?

    /// - Parameters:
    ///   - staging: What maps one piece.
    ///   - progress: Told how many bytes are mapped, after each piece.
    /// - Throws: ``SyncError`` `invalidOption`.
    package init(_ staging: PayloadStaging, options: SyncOptions, progress: @escaping (Int) -> Void) throws {
        try options.checkKeyPath()
        guard options.pieces.size > 0 else {
            throw SyncError(.invalidOption, "pieces of \(options.pieces.size) bytes; there must be at least 1")
        }
        self.staging = staging
        self.options = options
        self.progress = progress
        let form = JSONReader.Form(options.form)
        splitter = RecordSplitter(form: form, keyPath: options.keyPath, pieceSize: options.pieces.size)
        reader = JSONReader(form: form, keyPath: options.keyPath)
    }

    /// Takes bytes from the front of `chunk`, up to the end of the next piece; nil once it has taken all and there is no
    /// piece yet.
    ///
    /// - Throws: What reading and mapping throw, with places in the whole payload.
    package mutating func next(from chunk: inout UnsafeRawBufferPointer.SubSequence) throws -> StagedPayload? {
        try splitter.next(from: &chunk).map { try stage($0) }
    }

    /// The rest of the payload, which ends here.
    ///
    /// - Throws: ``SyncError`` `noRecords` if no piece had a record with a readable key, and what ``next(from:)`` throws.
    package mutating func last() throws -> StagedPayload {
        let payload = try stage(splitter.last())
        return hasRecords ? payload : try payload.requiringRecords(of: staging.model, options, after: unfitKey)
    }

    private mutating func stage(_ piece: JSONPiece) throws -> StagedPayload {
        let payload = try piece.bytes.withUnsafeBytes { raw in
            let bytes = raw.bindMemory(to: UInt8.self)
            reader.read(bytes, at: piece.place, isLast: piece.isLast)
            return try staging.stage(piece.bytes, bytes, &reader, from: reader.recordIndex + 1)
        }
        hasRecords = hasRecords || payload.plan.readableRootRecords > 0
        if !hasRecords, unfitKey == nil { unfitKey = try payload.plan.unfitKey(of: staging.model) }
        progress(piece.place.offset + piece.bytes.count)
        return payload
    }
}
