package import Foundation

/// Cuts a JSON document that arrives in chunks into pieces of whole records.
///
/// It only finds where records end; whether they are right is for ``JSONReader`` to say, which reads one piece after the
/// other. As far as a document is right both agree on where its records end, so an error is found in the piece that has
/// it. What stands around the records, and each record, is held whole.
package struct RecordChunker {
    /// The most that a record, or what stands before or after the records, may have: as much as SQLite takes in one row.
    static let maximumSize = 1_000_000_000
    private static let stepSize = 1 << 20

    private let pieceSize: Int
    private let maximumSize: Int
    private var scan: RecordBoundaryScanner
    private var place = JSONChunk.Place()
    /// What is not in a piece yet.
    private var bytes: [UInt8] = []
    /// How often it took bytes.
    package private(set) var steps = 0

    /// - Parameter pieceSize: In bytes. A piece is cut after the last record that ends in so many, or the first that ends.
    package init(
        form: JSONReader.Form = .json, pieceSize: Int, maximumDepth: Int = 512,
        maximumSize: Int = RecordChunker.maximumSize
    ) {
        self.pieceSize = max(1, pieceSize)
        self.maximumSize = maximumSize
        scan = RecordBoundaryScanner(form: form, maximumDepth: maximumDepth)
    }

    /// Takes bytes from the front of `chunk`, up to the next piece; nil once it has taken all and there is none yet.
    ///
    /// - Throws: ``SyncError`` `recordTooLarge`.
    package mutating func next(from chunk: inout UnsafeRawBufferPointer.SubSequence) throws -> JSONChunk? {
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
    package mutating func last() -> JSONChunk {
        defer { bytes = [] }
        return JSONChunk(bytes: Data(bytes), place: place, isLast: true)
    }

    private mutating func cut(at end: Int) -> JSONChunk {
        let piece = JSONChunk(bytes: Data(bytes[..<end]), place: place, isLast: false)
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

/// A part of a JSON document that holds whole records, and where it stands.
package struct JSONChunk: Sendable {
    /// Where a piece begins in its document.
    package struct Place: Sendable {
        /// How many bytes are before it, how many lines end in them, and how many bytes follow the last of these.
        package private(set) var offset = 0
        private var lines = 0
        private var column = 0

        package init() {}

        var isStart: Bool { offset == 0 }

        /// Goes on to the end of `bytes`.
        mutating func advance(over bytes: UnsafeBufferPointer<UInt8>) {
            offset += bytes.count
            lines += bytes.count { $0 == .newline }
            column = bytes.lastIndex(of: .newline).map { bytes.count - $0 - 1 } ?? column + bytes.count
        }

        /// An error with its place in the document instead of in the piece.
        func absolute(_ error: SyncError) -> SyncError {
            guard let line = error.line, let found = error.column else { return error }
            var error = error
            error.line = line + lines
            error.column = line == 1 ? found + column : found
            return error
        }
    }

    package let bytes: Data
    package let place: Place
    /// Whether the document ends with it.
    package let isLast: Bool

    package init(bytes: Data, place: Place, isLast: Bool) {
        self.bytes = bytes
        self.place = place
        self.isLast = isLast
    }
}

/// Follows quotes and brackets of a document as it arrives, and finds after which bytes a record ends.
///
/// It takes anything. What it notices to be wrong on its way (``isWrong``) only keeps a document that cannot be read
/// from being held in memory whole.
struct RecordBoundaryScanner {
    /// So many bytes in which a record should be, and none is, cannot become one.
    private static let maximumStray = 1 << 16

    private let maximumDepth: Int
    private var cursor: RecordLocationCursor
    private var position = 0
    /// How many objects and arrays are open.
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// Where the string began that the scan is in. Before the records nothing is taken away, so that it is there.
    private var stringStart = 0
    private var stray = 0
    /// Whether something other than an object or array is where a record should be.
    private var hasScalar = false
    /// How many of the bytes end with a record.
    private(set) var boundary: Int?
    /// Whether reading what was scanned must fail.
    private(set) var isWrong = false
    private var stopsAtRecord = false
    private var isStopped = false

    init(form: JSONReader.Form, maximumDepth: Int) {
        cursor = RecordLocationCursor(form)
        self.maximumDepth = maximumDepth
    }

    /// The first bytes were taken away.
    mutating func cut(at end: Int) {
        position -= end
        stringStart -= end
        boundary = nil
        isWrong = false
    }

    /// Goes on to the end of the first `size` of `bytes`, and if no record ended in them, to the end of the next one, or of
    /// all bytes. What it has scanned before it does not look at again.
    mutating func scan(_ bytes: [UInt8], upTo size: Int) {
        bytes.withUnsafeBufferPointer { bytes in
            stopsAtRecord = false
            scan(UnsafeBufferPointer(rebasing: bytes.prefix(size)))
            guard boundary == nil else { return }
            stopsAtRecord = true
            scan(bytes)
        }
    }

    private mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>) {
        isStopped = isWrong
        while position < bytes.count, !isStopped {
            if isInString { skipString(bytes) } else { skipRecords(bytes) }
        }
    }

    // MARK: Strings

    /// Goes to the end of the string, or of the bytes.
    private mutating func skipString(_ bytes: UnsafeBufferPointer<UInt8>) {
        let raw = UnsafeRawBufferPointer(bytes)
        var index = position
        defer { position = index }
        while index < raw.count {
            if isEscaped {
                isEscaped = false
                index += 1
                continue
            }
            while index + 8 <= raw.count {
                if Self.hasQuoteOrBackslash(raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)) { break }
                index += 8
            }
            guard index < raw.count else { return }
            let byte = bytes[index]
            index += 1
            if byte == .backslash { isEscaped = true }
            if byte == .quote {
                isInString = false
                if depth <= cursor.depth { string(bytes, upTo: index - 1) }
                return
            }
        }
    }

    /// A string before, between or beside records was closed.
    private mutating func string(_ bytes: UnsafeBufferPointer<UInt8>, upTo end: Int) {
        switch cursor.next {
        case .value(let node): cursor.enter(node, .quote)
        case .member:
            var key: [UInt8] = []
            JSONText.unescape(UnsafeBufferPointer(rebasing: bytes[stringStart..<end]), into: &key)
            cursor.pass(key: String(decoding: key, as: UTF8.self))
        case .element(let container): hasScalar = hasScalar || container != .members
        case .line, .end: break
        }
    }

    @inline(__always)
    private static func hasQuoteOrBackslash(_ word: UInt64) -> Bool {
        ByteWord.quoteOrBackslash(word) & ByteWord.highs != 0
    }

    // MARK: Brackets

    /// Goes to the next string, or to the end of the bytes.
    private mutating func skipRecords(_ bytes: UnsafeBufferPointer<UInt8>) {
        var index = position
        defer { position = index }
        while index < bytes.count, !isStopped {
            let byte = bytes[index]
            index += 1
            switch byte {
            case .quote:
                isInString = true
                stringStart = index
                return
            case .openBrace, .openBracket: open(byte)
            case .closeBrace, .closeBracket: close(at: index)
            default: if depth <= cursor.depth { other(byte, at: index) }
            }
        }
    }

    @inline(__always)
    private mutating func open(_ byte: UInt8) {
        if case .value(let node) = cursor.next { cursor.enter(node, byte) }
        depth += 1
        if depth > maximumDepth { fail() }
    }

    @inline(__always)
    private mutating func close(at end: Int) {
        depth -= 1
        guard depth <= cursor.depth else { return }
        if depth < 0 {
            fail()
        } else if depth < cursor.depth {
            cursor.leave()
        } else if case .element = cursor.next {
            endRecord(at: end)
        }
    }

    private mutating func endRecord(at end: Int) {
        boundary = end
        isStopped = stopsAtRecord
    }

    private mutating func fail() {
        isWrong = true
        isStopped = true
    }

    /// A byte that is no quote or bracket, before, between or beside records.
    private mutating func other(_ byte: UInt8, at end: Int) {
        switch (cursor.next, byte) {
        case (.line, .newline): endRecord(at: end)
        case (_, .blank), (_, .newline), (_, .carriageReturn), (_, .tab): break
        case (.member, _), (.value, .colon), (.element(.members), .colon): break
        case (.value(let node), _): cursor.enter(node, byte)
        case (.element, .comma):
            // With the comma, which is what is told to be wrong after an unfinished number.
            if hasScalar, !cursor.places.admitsNull { endRecord(at: end) }
            hasScalar = false
            stray = 0
        case (.element, _), (.line, _), (.end, _):
            hasScalar = true
            stray += 1
            if stray > Self.maximumStray { fail() }
        }
    }
}
