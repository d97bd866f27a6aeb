/// The buffers and chunks that a payload is cut into. They depend on the bytes only, so that an input is reproducible.
public struct PayloadCuts {
    /// The chunk size.
    public let chunkSize: Int
    private let payload: UnsafeBufferPointer<UInt8>
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Computes the cuts of a payload.
    public init(_ payload: UnsafeBufferPointer<UInt8>) {
        self.payload = payload
        for byte in payload { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
        chunkSize = 1 + Self.next(&state, below: 1 + Self.next(&state, below: 1 + payload.count))
    }

    /// The payload in buffers, most of them small.
    public var chunks: [UnsafeRawBufferPointer] {
        var state = state
        var chunks: [UnsafeRawBufferPointer] = []
        var start = 0
        while start < payload.count {
            let most = Self.next(&state, below: 4) == 0 ? payload.count : 16
            let end = min(payload.count, start + 1 + Self.next(&state, below: most))
            chunks.append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(payload)[start..<end]))
            start = end
        }
        return chunks
    }

    private static func next(_ state: inout UInt64, below bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }
}
