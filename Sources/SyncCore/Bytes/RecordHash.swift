/// 128 bits that stand for some bytes.
package struct RecordHash: Sendable, Hashable {
    package var low: UInt64
    package var high: UInt64

    package init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }
}
