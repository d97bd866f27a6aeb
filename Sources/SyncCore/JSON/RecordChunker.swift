package import Foundation

/// A chunker that cuts a JSON document into chunks of whole records. The document arrives in buffers.
///
/// The chunker only finds the ends of records. ``JSONReader`` reads the chunks in order and checks them. In a valid
/// document, the chunker and the reader find the same ends of records. The reader therefore finds an error in the chunk
/// that contains the error. Each record is held in memory as a whole, and so is the text before or after the records.
package struct RecordChunker {
    /// The largest size in bytes of a record, or of the text before or after the records. It is SQLite's default limit
    /// for a row.
    static let maximumSize = 1_000_000_000
    private static let stepSize = 1 << 20

    private let chunkSize: Int
    private let maximumSize: Int
    private var scan: RecordBoundaryScanner
    private var location = JSONChunk.Location()
    /// The bytes that were taken but belong to no chunk yet.
    private var bytes: [UInt8] = []
    /// The number of times that bytes were taken from a buffer.
    package private(set) var steps = 0

    /// Creates a chunker.
    ///
    /// - Parameter chunkSize: The size of chunks in bytes. A chunk ends after the last record that fits. If the first
    ///   record does not fit, the chunk ends after that record.
    package init(
        form: JSONReader.Form = .json, chunkSize: Int, maximumDepth: Int = 512,
        maximumSize: Int = RecordChunker.maximumSize
    ) {
        self.chunkSize = max(1, chunkSize)
        self.maximumSize = maximumSize
        scan = RecordBoundaryScanner(form: form, maximumDepth: maximumDepth)
    }

    /// Takes bytes from the front of a buffer until they contain the next chunk.
    ///
    /// - Returns: The next chunk; nil if the buffer ends before the chunk does.
    /// - Throws: ``SyncError`` `recordTooLarge`.
    package mutating func next(from buffer: inout UnsafeRawBufferPointer.SubSequence) throws -> JSONChunk? {
        while true {
            scan.scan(bytes, upTo: chunkSize)
            if scan.isWrong { return cut(at: bytes.count) }
            if bytes.count >= chunkSize, let end = scan.boundary, end > 0 { return cut(at: end) }
            guard bytes.count <= maximumSize else { throw tooLarge() }
            guard !buffer.isEmpty else { return nil }
            // Steps grow, so that a record much larger than a chunk is not taken byte by byte. At most half of the
            // record's size is taken beyond its end.
            let wanted = max(1, chunkSize - bytes.count, bytes.count / 2)
            let count = min(buffer.count, Self.stepSize, wanted)
            bytes.append(contentsOf: buffer.prefix(count))
            steps += 1
            buffer = buffer.dropFirst(count)
        }
    }

    /// Returns the rest of the document. Call this once, after the last buffer.
    package mutating func last() -> JSONChunk {
        defer { bytes = [] }
        return JSONChunk(bytes: Data(bytes), location: location, isLast: true)
    }

    private mutating func cut(at end: Int) -> JSONChunk {
        let chunk = JSONChunk(bytes: Data(bytes[..<end]), location: location, isLast: false)
        bytes[..<end].withUnsafeBufferPointer { location.advance(over: $0) }
        bytes.removeFirst(end)
        scan.cut(at: end)
        return chunk
    }

    private func tooLarge() -> SyncError {
        let error = SyncError(
            .recordTooLarge, "a record, or the JSON around the records, is larger than \(maximumSize) bytes",
            line: 1, column: 1)
        return location.absolute(error)
    }
}

/// A chunk of a JSON document. In a valid document, it has only whole records.
package struct JSONChunk: Sendable {
    /// The location of a chunk's first byte in its document.
    package struct Location: Sendable {
        /// The number of bytes before the chunk (`offset`), of line breaks among them (`lines`), and of bytes after the
        /// last line break (`column`).
        package private(set) var offset = 0
        private var lines = 0
        private var column = 0

        package init() {}

        var isStart: Bool { offset == 0 }

        /// Moves the location to the end of `bytes`.
        mutating func advance(over bytes: UnsafeBufferPointer<UInt8>) {
            offset += bytes.count
            lines += bytes.count { $0 == .newline }
            column = bytes.lastIndex(of: .newline).map { bytes.count - $0 - 1 } ?? column + bytes.count
        }

        /// Returns an error with its line and column in the document instead of in the chunk.
        func absolute(_ error: SyncError) -> SyncError {
            guard let line = error.line, let found = error.column else { return error }
            var error = error
            error.line = line + lines
            error.column = line == 1 ? found + column : found
            return error
        }
    }

    package let bytes: Data
    package let location: Location
    /// Whether this is the last chunk of the document.
    package let isLast: Bool

    package init(bytes: Data, location: Location, isLast: Bool) {
        self.bytes = bytes
        self.location = location
        self.isLast = isLast
    }
}

/// Follows the quotes and brackets of a document as it arrives, and finds the offsets at which records end.
///
/// It accepts any input. It detects some errors (``isWrong``), so that an invalid document is not held in memory as a
/// whole.
struct RecordBoundaryScanner {
    /// The largest number of bytes that can occur where a record is expected without belonging to a record.
    private static let maximumBytesWithoutRecord = 1 << 16

    private let maximumDepth: Int
    private var cursor: RecordLocationCursor
    private var position = 0
    /// The number of open objects and arrays.
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// The offset of the current string's text. Chunks end only after records, so the text is still in the scanned
    /// bytes.
    private var stringStart = 0
    private var bytesWithoutRecord = 0
    /// Whether a value other than an object or array occurred where a record is expected.
    private var hasScalar = false
    /// The number of bytes up to the end of the last record; nil if no record has ended.
    private(set) var boundary: Int?
    /// Whether the reader certainly rejects the scanned bytes.
    private(set) var isWrong = false
    private var stopsAtRecord = false
    private var isStopped = false

    init(form: JSONReader.Form, maximumDepth: Int) {
        cursor = RecordLocationCursor(form)
        self.maximumDepth = maximumDepth
    }

    /// Adjusts the offsets after the first `end` bytes are removed.
    mutating func cut(at end: Int) {
        position -= end
        stringStart -= end
        boundary = nil
        isWrong = false
    }

    /// Scans to the end of the first `size` bytes. If no record ends in those bytes, scans to the end of the next
    /// record, or of all bytes. Bytes are never scanned twice.
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

    /// Skips to the end of the string, or of the bytes.
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

    /// Handles the end of a string outside of records.
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

    /// Skips to the next string, or to the end of the bytes.
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
            cursor.leaveContainer()
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

    /// Handles a byte other than a quote or bracket, outside of records.
    private mutating func other(_ byte: UInt8, at end: Int) {
        switch (cursor.next, byte) {
        case (.line, .newline): endRecord(at: end)
        case (_, .blank), (_, .newline), (_, .carriageReturn), (_, .tab): break
        case (.member, _), (.value, .colon), (.element(.members), .colon): break
        case (.value(let node), _): cursor.enter(node, byte)
        case (.element, .comma):
            // The chunk must include the comma, because the reader reports an unfinished number at the comma.
            if hasScalar, !cursor.locations.admitsNull { endRecord(at: end) }
            hasScalar = false
            bytesWithoutRecord = 0
        case (.element, _), (.line, _), (.end, _):
            hasScalar = true
            bytesWithoutRecord += 1
            if bytesWithoutRecord > Self.maximumBytesWithoutRecord { fail() }
        }
    }
}
