import Foundation
import SyncCore
import TestSize
import Testing

@Suite("Chunking of payloads")
struct RecordChunkerTests {
    /// Returns the description of the records, or of the error with its location.
    private func outcome(_ read: () throws -> [JSONValue]) -> String {
        do {
            return "\(try read())"
        } catch {
            return "\(error)"
        }
    }

    private func expectSame(
        _ bytes: [UInt8], _ form: JSONReader.Form = .json, chunks: [Int], chunkSize: Int
    ) {
        let whole = outcome { try readRecords(bytes, form: form) }
        let pieces = outcome {
            try readPieces(bytes, chunks: chunks, chunkSize: chunkSize, form: form).records
        }
        #expect(
            whole == pieces,
            "\(String(decoding: bytes.prefix(200), as: UTF8.self)) in chunks of \(chunks), pieces of \(chunkSize)")
    }

    static let sizes = [1, 2, 3, 5, 8, 13, 64, 100_000]

    static let documents: [String] = [
        "", " ", "\n\n", "[]", " [ ] \n", "{}", "[{}]", "[{\"a\":1},\t{\"b\":[]} ]", "\u{FEFF}[{\"a\":null}, {}]",
        "\u{FEFF}", "[{}\u{FEFF},{}]", "[\u{FEFF}{}]", "{\"a\":{\"b\":[{}]}}", "5", "null", "\"x\"", "tru", "[null]",
        "[{},5]", "[{},5.5,{}]", "[[{}]]", "[{},[],{}]", "[{},\"x\\\"]\"]", "[{\"a\":\"}]\\\\\"},{\"b\":\"\\\"{\"}]",
        "[{} {}]", "[{},]", "[,{}]", "[{},,{}]", "[{}", "[{},", "[{\"a\":", "[{\"a\":\"x", "[{\"a\":\"x\\", "[{}]]",
        "[{}] x", "[{}]\n\n{}", "[{}]é", "[{}é", "[{\"a\":tru},{}]", "[{}\n,\n{\"a\":01}]", "[{\n},\n\n {\"a\" 1}]",
        "[{\"a\":[}]", "[{\"a\":{]},{}]", "}", "]", "[}", "[{}}", "[{\"a\":\"\\ud83d\"},{}]", "[{\"é\":\"\\u00e9ü😀\"}]",
        "[{\"a\":1,\"a\":2},{}]", "[{\"a\":\"\u{1}\"}]", "[{\"a\":1}\u{1}]", "x", "é", "[é]", "[{}, nul]",
        "{\"a\":1} 5", "[1.,{}]", "[{},-,{}]", "[1e,\"x\"]",
    ]

    @Test("A chunked document gives the same records and errors as a whole", arguments: documents)
    func chunkedDocumentEqualsWhole(_ text: String) {
        for chunk in Self.sizes {
            for size in Self.sizes { expectSame(Array(text.utf8), chunks: [chunk], chunkSize: size) }
        }
    }

    @Test(
        "A long stretch without the end of a record is scanned in large steps",
        arguments: [
            "[{\"a\":\"\(String(repeating: "x", count: 1_000_000))\"},{}]",
            "{\"a\":[\(String(repeating: "1,", count: 500_000))1]}", String(repeating: " ", count: 1_000_000) + "[]",
        ])
    func longRecordsTakeFewSteps(_ text: String) throws {
        for size in [1, 64, 4096] {
            var splitter = RecordChunker(chunkSize: size)
            var bytes = text
            try bytes.withUTF8 { bytes in
                var rest = UnsafeRawBufferPointer(bytes)[...]
                while try splitter.next(from: &rest) != nil {}
            }
            #expect(splitter.steps < 100)
        }
    }

    @Test("Records after a large one are cut into small chunks again")
    func smallChunksAfterLargeRecord() throws {
        let large = "{\"a\":\"\(String(repeating: "x", count: 10_000))\"}"
        let text = "[\(large),\(Array(repeating: "{\"a\":1}", count: 1000).joined(separator: ","))]"
        let (records, pieces) = try readPieces(Array(text.utf8), chunks: [100_000], chunkSize: 1)
        #expect(records.count == 1001)
        #expect(pieces == 1002)
        #expect(try readPieces(Array(text.utf8), chunks: [100_000], chunkSize: 100).pieces == 85)
    }

    static let lines: [String] = [
        "", "\n\n", "{\"a\":1}", "{\"a\":1}\n{\"a\":2}\n", "{\"a\":1}\r\n\r\n  {\"a\":2} \t\r\n", "\u{FEFF}{}\n{}",
        "{}\n\u{FEFF}{}", "{\"a\":\"\\n\"}\n{\n\"b\":\n[1,\n2]}\n{}", "{} {}", "{},\n{}", "{}\n{\n", "{}\n{\"a\" 1}",
        "{}\nnul",
        "{}\n5\n{}", "[{}]\n", "{}\n\n\"x\"\n", "{}\n}", "{}\n]\n{}", "{\"a\":\"x\ny\"}\n{}", "{}\né\n{}",
        "{}\n{}é\n{}", "{}\n\u{1}\n",
    ]

    @Test("Chunked NDJSON gives the same records and errors as a whole", arguments: lines)
    func chunkedLinesEqualWhole(_ text: String) {
        for chunk in Self.sizes {
            for size in Self.sizes { expectSame(Array(text.utf8), .ndjson, chunks: [chunk], chunkSize: size) }
        }
    }

    static let keyPaths: [(String, [String])] =
        RecordReadingTests.keyPaths.map { ($0.0, $0.1) } + RecordReadingTests.missingKeyPaths.map { ($0.0, $0.1) } + [
            (#"{"a":[{},{},{}],"b":[{"a":1}],"c":"]}"}"#, ["a"]), (#"{"x":"a","a":{"a":[{},{}]}}"#, ["a", "a"]),
            (#"{"a":{"b":[{"b":[{}]},{}]},"a":1}"#, ["a", "b"]), (#"{"a":"b","b":[{},{}]}"#, ["b"]), ("[{}]", ["a"]),
            (#"{"a":"[","b":[]}"#, ["a"]), (#"{"a":{"b":1}} {}"#, ["a"]), (#"{"x":{"a":[{}]},"a":[{},{}]} "#, ["a"]),
            (#"{"a" :"#, ["a"]), (#"{"a":[{},"#, ["a"]), (#"{"a":[{}],"b""#, ["a"]), (#"{"a""#, ["a"]),
        ]

    @Test("A chunked document with a key path gives the same records and errors as a whole", arguments: keyPaths)
    func chunkedKeyPathEqualsWhole(_ text: String, _ keyPath: [String]) {
        for chunk in Self.sizes {
            for size in Self.sizes {
                expectSame(Array(text.utf8), .locations(.list(at: keyPath)), chunks: [chunk], chunkSize: size)
            }
        }
    }

    @Test("A damaged document gives the same error in chunks as a whole")
    func chunkedDamageEqualsWhole() {
        let text = """
            [ {"id": 1, "name": "Ada \\"x\\" \\u00e9 ü", "tags": [1, 2.5e3, -0], "on": true},
              {"id": 2, "nested": {"a": [{"b": null}], "c": "]}"}}, {}, {"id": 3, "text": "\\\\"}
            ]
            """
        let alphabet = Array(#"[]{}",:\0x "#.utf8) + [0x0A, 0xC3, 0xA9, 0x00]
        for seed in RandomTest.damage.seeds {
            var random = RandomBytes(seed: UInt64(seed))
            var bytes = Array(text.utf8)
            for _ in 0..<random.next(3) {
                let place = random.next(bytes.count)
                switch random.next(4) {
                case 0: bytes.remove(at: place)
                case 1: bytes.insert(alphabet[random.next(alphabet.count)], at: place)
                case 2: bytes[place] = alphabet[random.next(alphabet.count)]
                default: bytes.removeLast(bytes.count - max(1, place))
                }
            }
            let isNDJSON = random.next(2) != 0
            let form: JSONReader.Form = isNDJSON ? .ndjson : .locations(.list(at: random.next(3) == 0 ? ["id"] : []))
            let chunks = (0..<3).map { _ in 1 + random.next(40) }
            expectSame(bytes, form, chunks: chunks, chunkSize: 1 + random.next(80))
        }
    }

    @Test("Chunks have about the requested size, and larger ones only for larger records")
    func chunksHaveRequestedSize() throws {
        let records = (0..<1000).map { #"{"id":\#($0)}"# }
        let text = "[" + records.joined(separator: ",") + "]"
        let cut = try readPieces(Array(text.utf8), chunks: [100], chunkSize: 1000)
        #expect(cut.records.count == 1000)
        #expect((text.utf8.count / 1100...text.utf8.count / 900 + 1).contains(cut.pieces))
        let large = #"{"text":"\#(String(repeating: "x", count: 50_000))"}"#
        #expect(try readPieces(Array("[{},\(large),{}]".utf8), chunks: [999], chunkSize: 1000).records.count == 3)
    }

    @Test("The chunker stops where no record can follow instead of buffering the rest")
    func stopsWhereNoRecordCanFollow() {
        let long = String(repeating: "x", count: 500_000)
        let texts = [
            long, "[" + long, "[{}]" + long, "[{}," + long, "}" + long, String(repeating: "[", count: 500_000),
        ]
        let cases = texts.map { ($0, JSONReader.Form.json) } + [long, "{}\n" + long, "}" + long].map { ($0, .ndjson) }
        for (text, form) in cases {
            let bytes = Array(text.utf8)
            var splitter = RecordChunker(form: form, chunkSize: 1000)
            let piece = bytes.withUnsafeBytes { raw in
                var rest = raw[...]
                return try? splitter.next(from: &rest)
            }
            #expect((piece?.bytes.count ?? .max) < 100_000)
            expectSame(bytes, form, chunks: [bytes.count], chunkSize: 1000)
        }
    }

    @Test("A record over the maximum size is rejected with its location")
    func rejectsOversizedRecord() {
        let bytes = Array("[{},\n{},{\"a\":\"\(String(repeating: "x", count: 5000))\"}]".utf8)
        var splitter = RecordChunker(chunkSize: 4, maximumSize: 1000)
        let error = #expect(throws: SyncError.self) {
            try bytes.withUnsafeBytes { raw in
                var rest = raw[...]
                while try splitter.next(from: &rest) != nil {}
            }
        }
        #expect(summary(of: error) == "recordTooLarge 2:3")
    }
}

/// A generator that gives the same numbers for the same seed.
private struct RandomBytes {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }
}
