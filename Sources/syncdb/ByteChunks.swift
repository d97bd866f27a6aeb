import Foundation

/// The bytes that a reader has yet to give. They are there once.
struct ByteChunks: AsyncSequence, Sendable {
    typealias Element = Data

    let reader: ByteReader

    func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    struct Iterator: AsyncIteratorProtocol {
        let reader: ByteReader

        mutating func next() async throws -> Data? { try reader.next() }
    }
}
