import SyncCore
import Testing

@Suite("Record reading")
struct RecordReadingTests {
    // MARK: Documents

    static let documents: [(String, [JSONValue])] = [
        ("[]", []), (" [ ] \n", []), ("{}", [.object([])]), ("[{\"a\":1},\t{\"b\":[]} ]", [["a": 1], ["b": []]]),
        ("\u{FEFF}[{\"a\":null}]", [["a": nil]]), ("\u{FEFF}{\"a\":1}", [["a": 1]]),
        ("\r\n{\"a\":{\"b\":[{}]}}\r\n", [["a": ["b": [.object([])]]]]),
    ]

    @Test("An array gives its elements as records, and an object is one record", arguments: documents)
    func readsDocuments(_ text: String, _ expected: [JSONValue]) throws {
        #expect(try readRecords(text) == expected)
    }

    @Test("The reader stays finished after the last record")
    func staysFinished() throws {
        let bytes = Array("[{}]".utf8)
        try bytes.withUnsafeBufferPointer { buffer throws in
            var reader = JSONReader(buffer)
            var tape = JSONTape()
            #expect(reader.recordIndex == -1)
            #expect(try reader.next(into: &tape))
            #expect(reader.recordIndex == 0)
            for _ in 0..<3 { #expect(try !reader.next(into: &tape)) }
        }
    }

    static let refusedRoots: [(String, String)] = [
        ("5", "$"), ("null", "$"), ("\"x\"", "$"), ("true", "$"), ("[null]", "[0]"), ("[{},5]", "[1]"),
        ("[[{}]]", "[0]"),
        ("[{},{},\"x\"]", "[2]"), ("[{},[],{}]", "[1]"), ("[false]", "[0]"),
    ]

    @Test("A value that is not a record is rejected with its path", arguments: refusedRoots)
    func rejectsOtherValues(_ text: String, _ path: String) {
        let error = #expect(throws: SyncError.self) { try readRecords(text) }
        #expect(summary(of: error) == "recordExpected \(path)")
    }

    @Test(
        "An empty document is rejected in every form", arguments: ["", " ", "\r\n\t \n", "\u{FEFF}", "\u{FEFF}\n"])
    func rejectsEmptyDocuments(_ text: String) {
        for form in [JSONReader.Form.json, .ndjson, .locations(.list(at: ["a", "b"]))] {
            let error = #expect(throws: SyncError.self) { try readRecords(text, form: form) }
            #expect(summary(of: error) == "noRecords")
        }
    }

    // MARK: NDJSON

    static let lines: [(String, [JSONValue])] = [
        ("{\"a\":1}", [["a": 1]]), ("\n\n{\"a\":1}\n\n", [["a": 1]]), ("{\"a\":1}\n{\"a\":2}\n", [["a": 1], ["a": 2]]),
        ("{\"a\":1}\r\n\r\n  {\"a\":2} \t\r\n", [["a": 1], ["a": 2]]), ("\u{FEFF}{}\n{}", [.object([]), .object([])]),
        ("{\"a\":\"\\n\"}\n", [["a": "\n"]]),
    ]

    @Test("NDJSON gives one record for each line that is not blank", arguments: lines)
    func readsLines(_ text: String, _ expected: [JSONValue]) throws {
        #expect(try readRecords(text, form: .ndjson) == expected)
    }

    static let refusedLines: [(String, String)] = [
        ("{} {}", "malformedJSON 1:4"), ("{},\n{}", "malformedJSON 1:3"), ("{}\n{\n", "malformedJSON 3:1"),
        ("{}\n{\"a\" 1}", "malformedJSON 2:6"), ("{}\nnul", "malformedJSON 2:1"), ("{}\n5\n", "recordExpected [1]"),
        ("[{}]\n", "recordExpected [0]"), ("{}\n\n\"x\"", "recordExpected [1]"), ("{}\n}", "malformedJSON 2:1"),
    ]

    @Test("An NDJSON line that is not a record is rejected", arguments: refusedLines)
    func rejectsBadLines(_ text: String, _ expected: String) {
        let error = #expect(throws: SyncError.self) { try readRecords(text, form: .ndjson) }
        #expect(summary(of: error) == expected)
    }

    // MARK: Key paths

    static let keyPaths: [(String, [String], Int)] = [
        (#"{"a":[{"x":1},{"x":2}]}"#, ["a"], 2), (#"{"a":{}}"#, ["a"], 1), (#"{ "a" : [ ] , "b" : 1 }"#, ["a"], 0),
        (#"{"z":{"a":[5]},"a":{"q":null,"b":[{},{},{}],"r":[[]]},"y":"\n"}"#, ["a", "b"], 3),
        (#"{"\u0061\"":[{}]}"#, ["a\""], 1), (#"{"":{"":[{}]}}"#, ["", ""], 1), (#"{"a.b":[{}]}"#, ["a.b"], 1),
        ("\u{FEFF}\n{\"a\":[{}]}\n", ["a"], 1), (#"{"b":{"a":[]},"a":[{}]}"#, ["a"], 1), (#"{"é":[{}]}"#, ["é"], 1),
    ]

    @Test("The records at a key path are read", arguments: keyPaths)
    func readsKeyPaths(_ text: String, _ keyPath: [String], _ count: Int) throws {
        #expect(try readRecords(text, form: .locations(.list(at: keyPath))).count == count)
    }

    static let missingKeyPaths: [(String, [String], String)] = [
        (#"{"b":1}"#, ["a"], "keyPathNotFound $"), ("{}", ["a"], "keyPathNotFound $"),
        ("[]", ["a"], "keyPathNotFound $"),
        ("5", ["a"], "recordExpected $"), ("null", ["a"], "recordExpected $"), (#""a""#, ["a"], "recordExpected $"),
        ("<html>", ["a"], "malformedJSON 1:1"), ("[1,", ["a"], "malformedJSON 1:4"),
        (#"{"a":{"c":[]}}"#, ["a", "b"], "keyPathNotFound a"),
        (#"{"a":[{"b":[]}]}"#, ["a", "b"], "keyPathNotFound a"), (#"{"a":null}"#, ["a", "b"], "keyPathNotFound a"),
        (#"{"a":{"b":{}}}"#, ["a", "b", "c"], "keyPathNotFound a.b"), (#"{"A":[]}"#, ["a"], "keyPathNotFound $"),
        (#"{"a":5}"#, ["a"], "recordExpected a"), (#"{"a":{"b":null}}"#, ["a", "b"], "recordExpected a.b"),
        // The whole document is checked, before and after the records.
        (#"{"b":tru,"a":[]}"#, ["a"], "malformedJSON 1:6"), (#"{"b":1,}"#, ["a"], "malformedJSON 1:8"),
        (#"{,"a":[]}"#, ["a"], "malformedJSON 1:2"), (#"{"b":1 "a":[]}"#, ["a"], "malformedJSON 1:8"),
        (#"{"a":[{}]"#, ["a"], "malformedJSON 1:10"), (#"{"a":[{}],}"#, ["a"], "malformedJSON 1:11"),
        (#"{"a":[{}],"b":01}"#, ["a"], "malformedJSON 1:15"), (#"{"a":[{}]}x"#, ["a"], "malformedJSON 1:11"),
        (#"{"a":[{}]]"#, ["a"], "malformedJSON 1:10"), ("", ["a"], "noRecords"),
        ("{", ["a"], "malformedJSON 1:2"),
        (#"{"a":[],"b":2,"a":[{}]}"#, ["a"], "malformedJSON 1:15"),
    ]

    @Test("A key path without records, or a malformed document around it, is rejected", arguments: missingKeyPaths)
    func rejectsBadKeyPaths(_ text: String, _ keyPath: [String], _ expected: String) {
        let error = #expect(throws: SyncError.self) { try readRecords(text, form: .locations(.list(at: keyPath))) }
        #expect(summary(of: error) == expected)
    }

    @Test("The error for a missing key path names the keys that exist")
    func missingKeyPathNamesKeys() {
        let error = #expect(throws: SyncError.self) {
            try readRecords(#"{"users":[],"total":0}"#, form: .locations(.list(at: ["people"])))
        }
        for name in ["people", "users", "total"] { #expect(error?.message.contains("'\(name)'") == true) }
    }

    // MARK: Depth and size

    @Test("512 levels are read, and a deeper document is rejected at level 513")
    func limitsDepth() throws {
        let nested = { (levels: Int) in String(repeating: "[", count: levels) + String(repeating: "]", count: levels) }
        _ = try JSONValue(parsing: nested(512))
        let error = #expect(throws: SyncError.self) { try JSONValue(parsing: nested(513)) }
        #expect(summary(of: error) == "nestingTooDeep 1:513")

        // The root array, the record and the objects of a key path count as levels.
        #expect(try readRecords("{\"a\":\(nested(511))}").count == 1)
        #expect(try readRecords("[{\"a\":\(nested(510))}]").count == 1)
        #expect(try readRecords("{\"k\":[{\"a\":\(nested(509))}]}", form: .locations(.list(at: ["k"]))).count == 1)
        for (text, keyPath, column) in [
            ("{\"a\":\(nested(512))}", [], 5 + 512), ("[{\"a\":\(nested(511))}]", [], 6 + 511),
            ("{\"k\":[{\"a\":\(nested(510))}]}", ["k"], 11 + 510), ("{\"z\":\(nested(512)),\"k\":[]}", ["k"], 5 + 512),
            ("{\"k\":[],\"z\":\(nested(512))}", ["k"], 12 + 512),
        ] as [(String, [String], Int)] {
            let error = #expect(throws: SyncError.self) { try readRecords(text, form: .locations(.list(at: keyPath))) }
            #expect(summary(of: error) == "nestingTooDeep 1:\(column)")
        }
    }

    @Test(
        "A megabyte of opening brackets is rejected at the depth limit",
        arguments: ["[", "{\"a\":", "[{\"a\":", "[1,"])
    func rejectsEndlessNesting(_ opening: String) {
        let bytes = Array(String(repeating: opening, count: 1_000_000 / opening.utf8.count).utf8)
        let error = #expect(throws: SyncError.self) { try JSONValue(parsing: bytes) }
        #expect(error?.code == .nestingTooDeep && error?.line == 1)
        let levels = opening == "[{\"a\":" ? 2 : 1
        #expect(error?.column == 512 / levels * opening.utf8.count + 1)
    }

    @Test("The deepest allowed document is read on a small stack")
    func readsDeepDocumentsOnSmallStacks() async throws {
        let text = String(repeating: "{\"a\":[", count: 256) + String(repeating: "]}", count: 256)
        let length = try await Task.detached { CanonicalJSON.bytes(try JSONValue(parsing: text)).count }.value
        #expect(length == text.utf8.count)
    }

    @Test("Long strings, numbers and lists are read")
    func readsLongValues() throws {
        let string = String(repeating: "0123456789", count: 1_000_000)
        #expect(try readRecords("[{\"a\":\"\(string)\"}]") == [["a": .string(string)]])
        let digits = String(repeating: "9", count: 1_000_000)
        #expect(try JSONValue(parsing: digits) == .number(digits))
        let list = "[" + Array(repeating: "{}", count: 100_000).joined(separator: ",") + "]"
        #expect(try readRecords(list).count == 100_000)
    }
}
