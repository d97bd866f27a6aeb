/// Bytes that come one by one, such as those of `URLSession.AsyncBytes`, in chunks.
struct GatheredBytes<Bytes: AsyncSequence & Sendable>: AsyncSequence, Sendable where Bytes.Element == UInt8 {
    let bytes: Bytes

    func makeAsyncIterator() -> Iterator { Iterator(bytes: bytes.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        private static var chunkSize: Int { 1 << 16 }

        var bytes: Bytes.AsyncIterator

        /// The end of the bytes is not asked for twice: an iterator need not answer after it.
        private var isAtEnd = false

        init(bytes: Bytes.AsyncIterator) { self.bytes = bytes }

        mutating func next() async throws -> [UInt8]? {
            if isAtEnd { return nil }
            var chunk: [UInt8] = []
            chunk.reserveCapacity(Self.chunkSize)
            while chunk.count < Self.chunkSize {
                guard let byte = try await bytes.next() else {
                    isAtEnd = true
                    break
                }
                chunk.append(byte)
            }
            return chunk.isEmpty ? nil : chunk
        }
    }
}
