/// 128 bits that stand for some bytes.
package struct RecordHash: Sendable, Hashable {
    package let low: UInt64
    package let high: UInt64

    package init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }
}
