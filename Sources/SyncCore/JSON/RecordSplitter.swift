import Foundation

/// Cuts a JSON document that arrives in chunks into pieces of whole records.
///
/// It only finds where records end; whether they are right is for ``JSONReader`` to say, which reads one piece after the
/// other. As far as a document is right both agree on where its records end, so an error is found in the piece that has
/// it. What stands around the records, and each record, is held whole.
package struct RecordSplitter {
    /// The most that a record, or what stands before or after the records, may have: as much as SQLite takes in one row.
    static let maximumSize = 1_000_000_000
    private static let stepSize = 1 << 20

    private let pieceSize: Int
    private let maximumSize: Int
    private var scan: BoundaryScan
    private var place = JSONPiece.Place()
    /// What is not in a piece yet.
    private var bytes: [UInt8] = []
    /// How often it took bytes.
    package private(set) var steps = 0

    /// - Parameter pieceSize: In bytes. A piece is cut after the last record that ends in so many, or the first that ends.
    package init(
        form: JSONReader.Form = .json, keyPath: [String] = [], pieceSize: Int, maximumDepth: Int = 512,
        maximumSize: Int = RecordSplitter.maximumSize
    ) {
        self.pieceSize = max(1, pieceSize)
        self.maximumSize = maximumSize
        scan = BoundaryScan(form: form, keyPath: keyPath, maximumDepth: maximumDepth)
    }

    /// Takes bytes from the front of `chunk`, up to the next piece; nil once it has taken all and there is none yet.
    ///
    /// - Throws: ``SyncError`` `recordTooLarge`.
    package mutating func next(from chunk: inout UnsafeRawBufferPointer.SubSequence) throws -> JSONPiece? {
        while true {
            scan.scan(bytes, upTo: pieceSize)
            if scan.isWrong { return cut(at: bytes.count) }
            if bytes.count >= pieceSize, let end = scan.boundary, end > 0 { return cut(at: end) }
            guard bytes.count <= maximumSize else { throw tooLarge() }
            guard !chunk.isEmpty else { return nil }
            // In growing steps, so that a record much larger than a piece is not taken byte by byte, and that what is
            // taken beyond its end is little beside it.
            let wanted = max(1, pieceSize - bytes.count, bytes.count / 2)
            let count = min(chunk.count, Self.stepSize, wanted)
            bytes.append(contentsOf: chunk.prefix(count))
            steps += 1
            chunk = chunk.dropFirst(count)
        }
    }

    /// The rest of the document, which ends here.
    package mutating func last() -> JSONPiece {
        defer { bytes = [] }
        return JSONPiece(bytes: Data(bytes), place: place, isLast: true)
    }

    private mutating func cut(at end: Int) -> JSONPiece {
        let piece = JSONPiece(bytes: Data(bytes[..<end]), place: place, isLast: false)
        bytes[..<end].withUnsafeBufferPointer { place.advance(over: $0) }
        bytes.removeFirst(end)
        scan.cut(at: end)
        return piece
    }

    private func tooLarge() -> SyncError {
        let error = SyncError(
            .recordTooLarge, "a record, or what stands around the records, is larger than \(maximumSize) bytes",
            line: 1, column: 1)
        return place.absolute(error)
    }
}
