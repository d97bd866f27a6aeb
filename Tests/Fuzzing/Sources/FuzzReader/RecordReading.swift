import Foundation
import FuzzSupport
import SyncCore

/// The result of reading records: the records until the end or the error.
struct RecordReading: Equatable {
    var records: [JSONValue] = []
    var error: SyncError?

    /// Reads the input without a copy, so that the address sanitizer detects reads beyond its end.
    init(of input: UnsafeBufferPointer<UInt8>, form: JSONReader.Form = .json) {
        var reader = JSONReader(input, form: form)
        attempt {
            try $0.read(&reader, input)
            var tape = JSONTape()
            require(try !reader.next(into: &tape), "a record after the last one")
        }
        error?.requirePlace(in: input)
    }

    /// Reads the input in chunks.
    init(of input: UnsafeBufferPointer<UInt8>, form: JSONReader.Form, cuts: PayloadCuts) {
        var chunker = RecordChunker(form: form, chunkSize: cuts.chunkSize)
        var reader = JSONReader(form: form)
        attempt { reading in
            for chunk in cuts.chunks {
                var rest = chunk[...]
                while let piece = try chunker.next(from: &rest) { try reading.read(piece, &reader) }
                require(rest.isEmpty, "the chunker left bytes of a chunk")
            }
            try reading.read(chunker.last(), &reader)
        }
    }

    private mutating func read(_ piece: JSONChunk, _ reader: inout JSONReader) throws {
        try piece.bytes.withUnsafeBytes { raw in
            let bytes = raw.bindMemory(to: UInt8.self)
            reader.read(bytes, at: piece.location, isLast: piece.isLast)
            try read(&reader, bytes)
        }
    }

    private mutating func read(_ reader: inout JSONReader, _ bytes: UnsafeBufferPointer<UInt8>) throws {
        var tape = JSONTape()
        while try reader.next(into: &tape) { records.append(tape.value(at: 0, in: bytes)) }
    }

    private mutating func attempt(_ body: (inout RecordReading) throws -> Void) {
        do {
            try body(&self)
        } catch let error as SyncError {
            self.error = error
        } catch {
            fail("not a SyncError: \(error)")
        }
    }
}
