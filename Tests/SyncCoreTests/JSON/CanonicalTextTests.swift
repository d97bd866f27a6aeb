import SyncCore
import Testing

@Suite("Canonical JSON text")
struct CanonicalTextTests {
    static let texts: [(String, String)] = [
        (#" { "b" : 1 , "a" : [ true , null ] } "#, #"{"a":[true,null],"b":1}"#), ("{}", "{}"), ("[ ]", "[]"),
        ("false", "false"), ("\"\"", "\"\""),
        // Keys are sorted by bytes, and the last of repeated keys wins.
        (#"{"a":1,"b":2,"\u0061":{"x":3}}"#, #"{"a":{"x":3},"b":2}"#),
        (
            #"{"aa":1,"a":2,"":3,"é":4,"z":5,"Z":6,"10":7,"9":8}"#,
            #"{"":3,"10":7,"9":8,"Z":6,"a":2,"aa":1,"z":5,"é":4}"#
        ),
        (#"{"\"k\n":"v"}"#, #"{"\"k\n":"v"}"#), (#"[{"b":{"d":1,"c":2},"a":3}]"#, #"[{"a":3,"b":{"c":2,"d":1}}]"#),
        // Numbers are written by their exact value.
        ("[7,7.0,7e0,70e-1,0.7E1,7.000]", "[7,7,7,7,7,7]"), ("[0,-0,0.0,0e5,-0.00e-3]", "[0,0,0,0,0]"),
        ("[1e-3,1.50,-2.50,1e3,12e-1,100]", "[0.001,1.5,-2.5,1000,1.2,100]"),
        (
            "[123456789012345678901234567890,0.1234567890123456789]",
            "[123456789012345678901234567890,0.1234567890123456789]"
        ),
        ("[1e400,1e401,10e400,1.5e-401,1e-400]", "[1\(zeros(400)),1e401,1e401,15e-402,0.\(zeros(399))1]"),
        // Strings have as few escapes as possible.
        (#""\/\u00e9\ud83d\ude00\u0041\u007f""#, "\"/é😀A\u{7F}\""),
        (#""\"\\\n\r\t\u0000\u001F""#, #""\"\\\n\r\t\u0000\u001f""#), (#""\u2028\u2029""#, "\"\u{2028}\u{2029}\""),
    ]

    private static func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }

    @Test("Equal values have equal canonical bytes", arguments: texts)
    func equalValuesHaveEqualBytes(_ text: String, _ expected: String) throws {
        let value = try JSONValue(parsing: text)
        let canonical = CanonicalJSON.bytes(value)
        #expect(String(decoding: canonical, as: UTF8.self) == expected)
        #expect(try CanonicalJSON.bytes(JSONValue(parsing: canonical)) == canonical)
        #expect(fromTape(text) == expected)
    }

    private func fromTape(_ text: String) -> String? {
        Array("[{\"k\":\(text)}]".utf8).withUnsafeBufferPointer { buffer in
            var reader = JSONReader(buffer)
            var tape = JSONTape()
            var out: [UInt8] = []
            guard (try? reader.next(into: &tape)) == true else { return nil }
            CanonicalJSON.append(tape, at: 2, in: buffer, to: &out)
            return String(decoding: out, as: UTF8.self)
        }
    }

    @Test("Control characters are escaped and parse as JSON")
    func escapesControlCharacters() throws {
        for code in UInt32(0)..<0x20 {
            let text = String(Character(try #require(Unicode.Scalar(code))))
            let bytes = CanonicalJSON.bytes(.string(text))
            #expect(bytes.allSatisfy { $0 >= 0x20 })
            #expect(try JSONValue(parsing: bytes) == .string(text))
        }
    }

    @Test("Keys that are canonically equivalent but differ in bytes are different keys")
    func keepsEquivalentKeysApart() throws {
        // Swift strings compare by canonical equivalence, JSON keys by bytes.
        let (composed, combined) = ("\u{E9}", "e\u{301}")
        let text = "{\"\(combined)\":1,\"\(composed)\":2}"
        let value = try JSONValue(parsing: text)
        #expect(CanonicalJSON.bytes(value) == Array(text.utf8))
        #expect(value[combined] == 1)
        #expect(value[composed] == 2)
    }

    @Test("Strings that are canonically equivalent but differ in bytes are different values")
    func keepsEquivalentStringsApart() {
        let (composed, combined) = ("\u{E9}", "e\u{301}")
        #expect(JSONValue.string(composed) != .string(combined))
        #expect(JSONValue.object([.init(composed, 1)]) != .object([.init(combined, 1)]))
        #expect(StoredValue.string(composed) != .string(combined))
        #expect(StoredValue.url(composed) != .url(combined))
        #expect(StoredValue.json(.string(composed)) != .json(.string(combined)))
        #expect(StoredValue.string(combined) == .string(combined))
        #expect(CanonicalJSON.bytes("\u{E9}") != CanonicalJSON.bytes("e\u{301}"))
    }
}
