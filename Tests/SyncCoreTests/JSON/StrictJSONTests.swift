import Foundation
import SyncCore
import Testing

@Suite("Strict JSON")
struct StrictJSONTests {
    /// Texts that are not JSON, and the location of the first error.
    static let malformed: [(String, String)] = [
        // Empty or incomplete documents
        ("", "1:1"), ("   ", "1:4"), ("\n\n ", "3:2"), ("\u{FEFF}", "1:4"), ("{", "1:2"), ("[", "1:2"), ("[1", "1:3"),
        ("[1,", "1:4"), ("{\"a\"", "1:5"), ("{\"a\":", "1:6"), ("{\"a\":1", "1:7"), ("{\"a\":1,", "1:8"),
        ("[[],[", "1:6"), ("[{}", "1:4"),
        // Commas and colons
        ("[1,]", "1:4"), ("[,1]", "1:2"), ("[,]", "1:2"), ("[1,,2]", "1:4"), ("[1 2]", "1:4"), ("[1;2]", "1:3"),
        ("{\"a\"}", "1:5"), ("{\"a\" 1}", "1:6"), ("{\"a\"=1}", "1:5"), ("{\"a\":}", "1:6"), ("{\"a\":1,}", "1:8"),
        ("{,\"a\":1}", "1:2"), ("{\"a\":1 \"b\":2}", "1:8"), ("{\"a\"::1}", "1:6"), ("[1:2]", "1:3"),
        // Brackets
        ("]", "1:1"), ("}", "1:1"), ("[1}", "1:3"), ("{\"a\":1]", "1:7"), ("[1]]", "1:4"), ("{}}", "1:3"),
        ("[{]}", "1:3"), ("(1)", "1:1"),
        // Keys
        ("{a:1}", "1:2"), ("{'a':1}", "1:2"), ("{1:2}", "1:2"), ("{null:1}", "1:2"), ("{[]:1}", "1:2"),
        // More than one value
        ("1 2", "1:3"), ("{} {}", "1:4"), ("[]\n[]", "2:1"), ("1,", "1:2"), ("null null", "1:6"),
        // Words
        ("nul", "1:1"), ("nulL", "1:1"), ("nulll", "1:5"), ("True", "1:1"), ("FALSE", "1:1"), ("tru e", "1:1"),
        ("undefined", "1:1"), ("NaN", "1:1"), ("Infinity", "1:1"), ("-Infinity", "1:2"), ("'a'", "1:1"), ("a", "1:1"),
        // Numbers
        ("-", "1:2"), ("+1", "1:1"), ("01", "1:1"), ("-01", "1:1"), ("00", "1:1"), ("1.", "1:3"), (".5", "1:1"),
        ("-.5", "1:2"), ("1.e5", "1:3"), ("1e", "1:3"), ("1E+", "1:4"), ("1e1.5", "1:4"), ("0x10", "1:2"),
        ("1_000", "1:2"), ("1.2.3", "1:4"), ("--1", "1:2"), ("[1.]", "1:4"), ("１", "1:1"),
        // Strings
        ("\"abc", "1:1"), ("[\"abc]", "1:2"), ("\"a\nb\"", "1:3"), ("\"\t\"", "1:2"), ("\"a\u{0}\"", "1:3"),
        ("\"abcdefghijk\u{1F}\"", "1:13"), ("\"\\", "1:2"), ("\"\\\"", "1:1"), ("\"\\x41\"", "1:2"),
        ("\"\\'\"", "1:2"), ("\"a\\\n\"", "1:3"), ("\"\\u12\"", "1:2"), ("\"\\u12G4\"", "1:2"), ("\"\\U0041\"", "1:2"),
        ("\"\\u+123\"", "1:2"), ("\"\\ud800\"", "1:2"), ("\"\\ud800x\"", "1:2"), ("\"\\ud800\\u0041\"", "1:2"),
        ("\"\\ud800\\ud800\"", "1:2"), ("\"\\udc00\"", "1:2"), ("\"\\udc00\\ud800\"", "1:2"),
        ("\"\\ud83d\\ude0\"", "1:2"),
        // Extensions of other dialects
        ("// note\n1", "1:1"), ("/* note */ 1", "1:1"), ("[1] // note", "1:5"), ("# 1", "1:1"), ("<xml/>", "1:1"),
        ("\u{FEFF}\u{FEFF}1", "1:4"), ("\u{A0}1", "1:1"), ("\u{0}", "1:1"), ("1\u{0}", "1:2"), ("\u{B}1", "1:1"),
        ("1\u{C}", "1:2"), ("\u{2028}1", "1:1"), ("\"a\"b", "1:4"), ("“a”", "1:1"),
        // Lines end with a line feed; columns count bytes.
        ("[1,\n 2,\n x]", "3:2"), ("{\r\n\"a\": tru}", "2:6"), ("[\"é\", x]", "1:8"), ("\n\n\n}", "4:1"),
        ("[\r\rx]", "1:4"),
    ]

    @Test("A malformed document is rejected at its first error", arguments: malformed)
    func rejectsMalformedDocuments(_ text: String, _ place: String) {
        let fromText = #expect(throws: SyncError.self) { try JSONValue(parsing: text) }
        #expect(summary(of: fromText) == "malformedJSON \(place)")
        let fromData = #expect(throws: SyncError.self) { try JSONValue(parsing: Data(text.utf8)) }
        #expect(fromData == fromText)
        #expect(fromText?.message.isEmpty == false)
    }

    @Test("A malformed record is rejected at the same column of its line", arguments: malformed)
    func rejectsMalformedRecords(_ text: String, _ place: String) throws {
        // These texts are valid, or fail elsewhere, inside a record.
        let others = ["]", "}", "{}}", "1,", "1 2", "{} {}", "null null", "\u{FEFF}", "\u{FEFF}\u{FEFF}1"]
        guard place.hasPrefix("1:"), !others.contains(text) else { return }
        let error = #expect(throws: SyncError.self) { try readRecords("[{},\n{\"key\":\n" + text) }
        #expect(summary(of: error) == "malformedJSON 3:\(place.dropFirst(2))")
    }

    static let malformedPayloads: [(String, String)] = [
        ("[", "1:2"), ("[{}", "1:4"), ("[{},", "1:5"), ("[{},]", "1:5"), ("[,{}]", "1:2"),
        ("[{} {}]", "1:5"),
        ("[{}]]", "1:5"), ("[{}]\nx", "2:1"), ("{} []", "1:4"), ("[{}}", "1:4"), ("[{}] [{}]", "1:6"), ("]", "1:1"),
        ("[{\"a\":1},{\"a\":}]", "1:15"), ("[\n{},\n{\"a\" 1}\n]", "3:6"),
    ]

    @Test("A malformed payload is rejected, even after valid records", arguments: malformedPayloads)
    func rejectsMalformedPayloads(_ text: String, _ place: String) {
        let error = #expect(throws: SyncError.self) { try readRecords(text) }
        #expect(summary(of: error) == "malformedJSON \(place)")
    }

    static let wellFormed: [(String, JSONValue)] = [
        ("null", nil), (" true ", true), ("\t\r\nfalse\n", false), ("0", .number("0")), ("-0", .number("-0")),
        ("1.50", .number("1.50")), ("1E+2", .number("1E+2")), ("-1.5e-7", .number("-1.5e-7")), ("0e0", .number("0e0")),
        ("123456789012345678901234567890.5", .number("123456789012345678901234567890.5")), ("1e400", .number("1e400")),
        ("\"\"", ""), ("[]", []), ("{}", .object([])), ("[ ]", []), ("{ }", .object([])),
        ("[[],{}]", [[], .object([])]),
        ("{\"\":{\"\":null}}", ["": ["": nil]]), ("{\"a\" : 1 , \"b\" : [ 2 , 3 ] }", ["a": 1, "b": [2, 3]]),
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9\u20AC\uD83D\uDE00""#, "Aé€😀"),
        (#""\u0000""#, "\u{0}"), (#""\uFFFF\ufffe\uE000\ud7ff""#, "\u{FFFF}\u{FFFE}\u{E000}\u{D7FF}"),
        (#""\uD800\uDC00\udbff\udfff""#, "\u{10000}\u{10FFFF}"), ("\"\u{7F}\u{80}\u{2028}\"", "\u{7F}\u{80}\u{2028}"),
        ("\u{FEFF}[1]", [1]),
    ]

    @Test("A well-formed document is read exactly", arguments: wellFormed)
    func readsWellFormedDocuments(_ text: String, _ expected: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == expected)
        let record = text.replacing("\u{FEFF}", with: "")
        #expect(try readRecords("[{\"key\":\(record)}]") == [["key": expected]])
    }

    @Test("The last of repeated keys wins")
    func lastRepeatedKeyWins() throws {
        let value = try JSONValue(parsing: #"{"a":1,"b":2,"\u0061":3}"#)
        #expect(value["a"] == 3)
        #expect(value == .object([.init("a", 1), .init("b", 2), .init("a", 3)]))
        #expect(value["c"] == nil)
        #expect(JSONValue.array([])["a"] == nil)
    }

    static let document = """
        {"id": 12, "né": [true, false, null, -1.5e+3], "text": "a\\u00e9\\ud83d\\ude00 \\"q\\" 日本 😀 plain text", "o": {"": {}}}
        """

    @Test("A document truncated at any byte is rejected at its end")
    func rejectsTruncatedDocuments() throws {
        let bytes = Array(Self.document.utf8)
        _ = try JSONValue(parsing: bytes)
        for count in bytes.indices {
            let error = #expect(throws: SyncError.self) { try JSONValue(parsing: Array(bytes[..<count])) }
            let column = try #require(error?.column)
            #expect(error?.line == 1 && column >= 1 && column <= count + 1)
            #expect(error?.code == .malformedJSON || error?.code == .invalidUTF8)
        }
    }

    @Test("A document with any byte changed is read, or rejected with a location inside it")
    func survivesChangedBytes() {
        let bytes = Array(Self.document.utf8)
        for index in bytes.indices {
            for byte in [0x00, 0x0A, 0x22, 0x2C, 0x2D, 0x30, 0x5B, 0x5C, 0x5D, 0x7B, 0x7D, 0x80, 0xC3, 0xED, 0xFF]
                as [UInt8]
            {
                var changed = bytes
                changed[index] = byte
                do {
                    _ = try JSONValue(parsing: changed)
                } catch let error as SyncError {
                    #expect(error.line.map { 1...2 ~= $0 } == true)
                    #expect(error.column.map { 1...bytes.count + 1 ~= $0 } == true)
                } catch {
                    Issue.record("another error: \(error)")
                }
            }
        }
    }
}
