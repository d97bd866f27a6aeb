import Foundation
import SyncCore

/// Reads all records of a payload that arrives in buffers, and counts the chunks that it was cut into.
func readPieces(
    _ bytes: [UInt8], chunks: [Int], chunkSize: Int, form: JSONReader.Form = .json,
    maximumDepth: Int = 512
) throws -> (records: [JSONValue], pieces: Int) {
    var splitter = RecordChunker(form: form, chunkSize: chunkSize, maximumDepth: maximumDepth)
    var reader = JSONReader(form: form, maximumDepth: maximumDepth)
    var records: [JSONValue] = []
    var pieces = 0
    func read(_ piece: JSONChunk) throws {
        pieces += 1
        try piece.bytes.withUnsafeBytes { raw in
            let bytes = raw.bindMemory(to: UInt8.self)
            var tape = JSONTape()
            reader.read(bytes, at: piece.location, isLast: piece.isLast)
            while try reader.next(into: &tape) { records.append(tape.value(at: 0, in: bytes)) }
        }
    }
    var start = 0
    var index = 0
    while start < bytes.count {
        let end = min(bytes.count, start + max(1, chunks[index % chunks.count]))
        try bytes[start..<end].withUnsafeBytes { raw in
            var rest = raw[...]
            while let piece = try splitter.next(from: &rest) { try read(piece) }
        }
        start = end
        index += 1
    }
    try read(splitter.last())
    return (records, pieces)
}
