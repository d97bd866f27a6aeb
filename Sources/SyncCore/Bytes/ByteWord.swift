/// Eight bytes of a text at a time.
enum ByteWord {
    static let ones: UInt64 = 0x0101_0101_0101_0101
    /// The high bit of each byte, where what is found is marked.
    static let highs: UInt64 = 0x8080_8080_8080_8080

    /// Marks the bytes that equal an ASCII byte; above the first of them perhaps others too. To be masked with `highs`.
    @inline(__always)
    static func equal(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        let difference = word ^ (ones &* UInt64(byte))
        return (difference &- ones) & ~difference
    }

    /// Marks, in the same way, what may end a string or begin an escape.
    @inline(__always)
    static func quoteOrBackslash(_ word: UInt64) -> UInt64 { equal(word, .quote) | equal(word, .backslash) }
}
