import SyncCore
import Testing

@Suite("JSON encoding")
struct EncodingTests {
    /// Sequences that are not UTF-8, by the table of well-formed sequences in the Unicode standard.
    static let invalid: [[UInt8]] = [
        // A continuation byte without a leading byte
        [0x80], [0xBF], [0x80, 0x80],
        // Overlong encodings
        [0xC0, 0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0xAF], [0xE0, 0x9F, 0xBF], [0xF0, 0x80, 0x80, 0xAF],
        [0xF0, 0x8F, 0xBF, 0xBF], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80],
        // Surrogates
        [0xED, 0xA0, 0x80], [0xED, 0xAF, 0xBF], [0xED, 0xB0, 0x80], [0xED, 0xBF, 0xBF],
        [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80],
        // Beyond U+10FFFF
        [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF7, 0xBF, 0xBF, 0xBF], [0xFE], [0xFF],
        // Truncated sequences
        [0xC3], [0xE2], [0xE2, 0x82], [0xF0], [0xF0, 0x9F], [0xF0, 0x9F, 0x98], [0xC3, 0x28], [0xE2, 0x28, 0xA1],
        [0xE2, 0x82, 0x28], [0xF0, 0x9F, 0x28, 0x80], [0xF0, 0x9F, 0x98, 0xC3],
        // Latin-1
        [0xE9, 0x74, 0xE9],
    ]

    @Test("Invalid UTF-8 in a string is rejected at its first bad byte, at any offset", arguments: invalid)
    func rejectsInvalidStrings(_ sequence: [UInt8]) {
        for before in 0..<18 {
            let text = [0x22] + Array(repeating: UInt8(ascii: "a"), count: before) + sequence
            for rest in [Array("\"".utf8), Array("aaaaaaaaaaaaaaaa\"".utf8), []] {
                let error = #expect(throws: SyncError.self) { try JSONValue(parsing: text + rest) }
                #expect(summary(of: error) == "invalidUTF8 1:\(before + 2)", "\(before) before, \(rest.count) after")
            }
        }
    }

    @Test("Invalid UTF-8 in a key is rejected at its first bad byte", arguments: invalid)
    func rejectsInvalidKeys(_ sequence: [UInt8]) {
        let error = #expect(throws: SyncError.self) {
            try readRecords(Array("[\n{\"k".utf8) + sequence + Array("\":1}]".utf8))
        }
        #expect(summary(of: error) == "invalidUTF8 2:4")
    }

    @Test(
        "Invalid UTF-8 outside of strings is rejected as such", arguments: [0x80, 0xC0, 0xFE, 0xFF] as [UInt8])
    func rejectsInvalidBytesOutsideStrings(_ byte: UInt8) {
        for text in [[byte], Array("[1, ".utf8) + [byte], Array("{\"a\":1".utf8) + [byte], Array("{}".utf8) + [byte]] {
            let error = #expect(throws: SyncError.self) { try JSONValue(parsing: text) }
            #expect(summary(of: error) == "invalidUTF8 1:\(text.count)")
        }
    }

    @Test("UTF-16 and UTF-32 are rejected at the first unexpected byte")
    func rejectsOtherEncodings() {
        let texts: [([UInt8], String)] = [
            ([0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00], "invalidUTF8 1:1"), ([0xFE, 0xFF, 0x00, 0x7B], "invalidUTF8 1:1"),
            ([0x7B, 0x00, 0x7D, 0x00], "malformedJSON 1:2"), ([0x00, 0x7B, 0x00, 0x7D], "malformedJSON 1:1"),
            ([0x00, 0x00, 0x00, 0x7B], "malformedJSON 1:1"),
        ]
        for (bytes, expected) in texts {
            let error = #expect(throws: SyncError.self) { try JSONValue(parsing: bytes) }
            #expect(summary(of: error) == expected)
            let fromReader = #expect(throws: SyncError.self) { try readRecords(bytes) }
            #expect(summary(of: fromReader) == expected)
        }
    }

    @Test("The first and last characters of each UTF-8 length are read")
    func readsFirstAndLastOfEachLength() throws {
        let scalars: [UInt32] = [
            0x20, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xCFFF, 0xD000, 0xD7FF, 0xE000, 0xFFFD, 0xFFFF, 0x10000,
            0x3FFFF,
            0x40000, 0xFFFFF, 0x100000, 0x10FFFF,
        ]
        for scalar in scalars {
            let character = String(Character(try #require(Unicode.Scalar(scalar))))
            for before in 0..<10 {
                let text = String(repeating: "a", count: before) + character + "b"
                #expect(try JSONValue(parsing: "\"\(text)\"") == .string(text))
            }
        }
    }

    @Test("An escaped character equals the character")
    func readsEscapes() throws {
        for scalar in stride(from: UInt32(0), through: 0x10FFFF, by: 61) {
            guard let character = Unicode.Scalar(scalar) else { continue }
            let units = String(Character(character)).utf16
            let escapes = units.map { unit in
                let digits = String(unit, radix: 16, uppercase: unit.isMultiple(of: 2))
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
            let value = try JSONValue(parsing: "\"\(escapes.joined())\"")
            guard case .string(let text) = value else {
                Issue.record("no string")
                continue
            }
            #expect(Array(text.unicodeScalars) == [character])
        }
    }
}
