/// Finds where a JSON object ends without reading what is in it.
enum RecordBoundary {
    /// The place after the brace that closes the object that begins at `start`; nil if none does.
    static func end(of bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var position = start
        var depth = 0
        while true {
            position = next(bytes, position) { brace($0) }
            guard position < bytes.count else { return nil }
            switch bytes[position] {
            case .quote:
                guard let end = stringEnd(bytes, position + 1) else { return nil }
                position = end
            case .openBrace:
                depth += 1
                position += 1
            default:
                depth -= 1
                position += 1
                if depth <= 0 { return position }
            }
        }
    }

    private static func stringEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int? {
        var position = start
        while true {
            position = next(bytes, position) { quote($0) }
            guard position < bytes.count else { return nil }
            if bytes[position] == .quote { return position + 1 }
            position += 2
        }
    }

    // MARK: Words

    /// The first place from `start` with a byte that `hits` marks by its highest bit; the end if there is none.
    @inline(__always)
    private static func next(
        _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, hits: (UInt64) -> UInt64
    ) -> Int {
        let raw = UnsafeRawBufferPointer(bytes)
        var position = start
        while position + 8 <= raw.count {
            let found = hits(UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: position, as: UInt64.self)))
            if found != 0 { return position + found.trailingZeroBitCount / 8 }
            position += 8
        }
        // One byte at a time: the other seven are 0xFF, which nobody looks for, and the mark is the high bit of the first.
        while position < raw.count, hits(UInt64(raw[position]) | ~0xFF) & 0x80 == 0 { position += 1 }
        return position
    }

    @inline(__always)
    private static func brace(_ word: UInt64) -> UInt64 {
        (ByteWord.equal(word, .quote) | ByteWord.equal(word, .openBrace) | ByteWord.equal(word, .closeBrace))
            & ByteWord.highs
    }

    @inline(__always)
    private static func quote(_ word: UInt64) -> UInt64 {
        ByteWord.quoteOrBackslash(word) & ByteWord.highs
    }
}
