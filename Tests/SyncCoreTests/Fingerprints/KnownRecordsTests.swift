import Foundation
import Testing

@testable import SyncCore

@Suite("Known records")
struct KnownRecordsTests {
    private static let hasher = RecordHasher(seed: RecordHash(low: 3, high: 4))

    private func end(_ text: String) -> Int? {
        Array(text.utf8).withUnsafeBufferPointer { RecordBoundary.end(of: $0, from: 0) }
    }

    @Test(
        "An object ends at its own brace",
        arguments: [
            #"{}"#, #"{"a":{"b":[{},{}]}}"#, #"{"a":"}"}"#, #"{"a":"\"}"}"#, #"{"a":"\\"}"#, #"{"é{":"\\\"{"}"#,
            #"{"long":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}aaaaaaa","n":{"x":1234567890123}}"#,
        ])
    func ends(_ text: String) {
        #expect(end(text + ",{}") == text.utf8.count)
        #expect(end(text) == text.utf8.count)
        #expect(end(String(text.dropLast())) == nil)
    }

    /// The hashes of records, and which of them are met in a payload.
    private func uses(_ records: [String], in payload: String, form: JSONReader.Form = .json) throws -> ([Int32], Int) {
        let known = KnownRecords(
            records.map { Array($0.utf8).withUnsafeBytes { Self.hasher.hash($0) } },
            lengths: records.map { UInt32($0.utf8.count) }, hasher: Self.hasher)
        var read = 0
        try Array(payload.utf8).withUnsafeBufferPointer { bytes in
            var reader = JSONReader(bytes, form: form)
            var tape = JSONTape()
            loop: while true {
                switch try reader.next(into: &tape, knowing: known) {
                case .end: break loop
                case .known: break
                case .record:
                    read += 1
                    #expect(bytes[reader.recordRange.lowerBound] == 0x7B)
                    #expect(bytes[reader.recordRange.upperBound - 1] == 0x7D)
                }
            }
        }
        return (known.uses, read)
    }

    private let records = (0..<20).map { "{\"id\":\($0),\"text\":\"\(String(repeating: "x}", count: $0))\"}" }

    @Test("They are met in their order, in any other, and among others")
    func orders() throws {
        let all = records.map { _ in Int32(1) }
        #expect(try uses(records, in: "[\(records.joined(separator: ","))]") == (all, 0))
        #expect(try uses(records, in: "[ \(records.reversed().joined(separator: " ,\n")) ]") == (all, 0))
        let mixed = records.map { "\($0),{\"id\": 5 , \"more\":[ ] }" }.joined(separator: ",")
        #expect(try uses(records, in: "[\(mixed)]") == (all, records.count))
        #expect(try uses(records, in: records.joined(separator: "\n"), form: .ndjson) == (all, 0))
    }

    @Test("A record that differs in one byte is read")
    func difference() throws {
        let payload = "[\(records.joined(separator: ","))]".replacing("\"id\":3,", with: "\"id\":4,")
        let (uses, read) = try uses(records, in: payload)
        #expect(read == 1)
        #expect(uses[3] == 0)
    }

    @Test("One that is to be read is read")
    func staged() throws {
        let known = KnownRecords(
            [Array("{}".utf8).withUnsafeBytes { Self.hasher.hash($0) }], lengths: [2], hasher: Self.hasher)
        known.stage(0)
        try Array("[{}]".utf8).withUnsafeBufferPointer { bytes in
            var reader = JSONReader(bytes)
            var tape = JSONTape()
            let step = try reader.next(into: &tape, knowing: known)
            #expect(step == .record)
        }
    }
}
