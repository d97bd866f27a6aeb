/// A key as two words, which tell keys of up to 16 bytes apart and nearly always longer ones too.
struct KeyText: Equatable {
    private var length: Int
    /// The first eight bytes, zeros where there are fewer.
    private var head: UInt64
    /// The last eight bytes of a key that is longer than that.
    private var tail: UInt64

    /// The key at a place of a text.
    @inline(__always)
    init(_ text: UnsafeBufferPointer<UInt8>, at offset: Int, length: Int) {
        self.length = length
        let raw = UnsafeRawBufferPointer(text)
        if length > 8 {
            precondition(offset >= 0 && offset + length <= raw.count)
            head = raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian
            tail = raw.loadUnaligned(fromByteOffset: offset + length - 8, as: UInt64.self).littleEndian
        } else if offset + 8 <= raw.count {
            let word = raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian
            head = length == 8 ? word : word & ((1 << (8 * UInt64(truncatingIfNeeded: length))) - 1)
            tail = 0
        } else {
            head = 0
            tail = 0
            for index in 0..<length { head |= UInt64(raw[offset + index]) << UInt64(8 * index) }
        }
    }

    /// Whether keys that are equal in this form are the same keys.
    var isWhole: Bool { length <= 16 }
}
