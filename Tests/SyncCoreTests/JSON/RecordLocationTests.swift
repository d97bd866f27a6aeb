import Foundation
import Testing

@testable import SyncCore

@Suite("Documents with several record locations")
struct RecordLocationTests {
    static let forms: [JSONReader.Form] = [
        .locations(.members(at: [])), .locations(.members(at: ["a", "b"])), .locations(.jsonAPI),
        .locations(.graphQL(at: [])),
        .locations(.graphQL(at: ["viewer", "users"])),
        .locations(.lists(at: [["users"], ["data", "companies"]], labels: ["users", "data.companies"])),
    ]

    static let documents = [
        "", " ", "{}", "[]", "null", "5", "{\"AD\":{}}", " { \"AD\" : {\"a\":1} ,\n\"A\\\"E\": {\"b\":[{},{}]} } ",
        "{\"AD\":{},\"AE\":5}", "{\"AD\":{},}", "{\"AD\":{} \"AE\":{}}", "{\"AD\" {}}", "{\"AD\":{}", "{\"AD\":{}} x",
        "{\"AD\":null,\"AE\":{}}", "[{\"a\":1},{}]", "{\"a\":{\"b\":{\"x\":{},\"y\":{\"z\":{}}},\"c\":[1]},\"d\":{}}",
        "{\"a\":{\"c\":1}}", "{\"a\":5}", "{\"a\":{\"b\":{}},\"a\":{\"b\":{}}}",
        "{\"data\":[{\"id\":1},{\"id\":2}],\"included\":[{\"id\":3}],\"links\":{\"next\":\"x\"}}",
        "{\"included\":[{\"id\":3},{\"id\":4}],\"meta\":{\"data\":[{}]},\"data\":[{\"id\":1}]}",
        "{\"data\":{\"id\":1},\"included\":[]}", "{\"data\":null}", "{\"data\":5}", "{\"data\":[5]}",
        "{\"data\":[{}],\"data\":[]}",
        "{\"errors\":[{\"title\":\"no\"}]}", "{\"data\":[{},{}],\"errors\":[{\"title\":\"no\"}]}",
        "{\"errors\":[],\"data\":[{}]}",
        "{\"meta\":{\"data\":[{}]}}", "{\"data\":[{},{}],\"included\":[{},{},]}",
        "{\"data\":[{\"a\":\"]}\"},{}],\"x\":tru}",
        "{\"data\":{\"users\":{\"edges\":[{\"node\":{\"id\":1}},{\"node\":null},{\"cursor\":\"c\",\"node\":{\"id\":2}}]}}}",
        "{\"data\":{\"users\":{\"pageInfo\":{\"hasNextPage\":true,\"endCursor\":\"c\"},\"nodes\":[{\"id\":1},null,{\"id\":2}]}}}",
        "{\"data\":{\"users\":{\"nodes\":[{\"id\":1}],\"edges\":[{\"node\":{\"id\":1}}]}}}",
        "{\"data\":{\"users\":{\"edges\":[{\"cursor\":1}]}}}", "{\"data\":{\"users\":[{\"id\":1},{\"id\":2}]}}",
        "{\"data\":{\"user\":{\"id\":1,\"notes\":{\"nodes\":[{}]}}}}", "{\"data\":{\"a\":[{}],\"b\":[{}]}}",
        "{\"nodes\":[{\"id\":1},{\"id\":2}]}", "{\"id\":1,\"name\":\"x\"}", "{\"data\":{\"user\":null}}",
        "{\"data\":{\"viewer\":{\"id\":9,\"users\":{\"nodes\":[{\"id\":1},{\"id\":2}]}},\"x\":{}}}",
        "{\"viewer\":{\"users\":[{\"id\":1}]}}", "{\"data\":{\"viewer\":{}}}",
        "{\"users\":[{\"id\":1},{\"id\":2}],\"data\":{\"x\":[{}],\"companies\":[{\"id\":7}]}}",
        "{\"data\":{\"companies\":{\"id\":7}},\"users\":[]}", "{\"users\":[{}]}",
        "{\"users\":null,\"data\":{\"companies\":[]}}",
        "{\"users\":[{}],\"users\":[{}],\"data\":{\"companies\":[]}}",
        "{\"us\\u0065rs\":[{},{}],\"data\":{\"companies\":[{}]}}",
    ]

    /// Returns the records with their list and name, the page information and the lists with one record; or the error.
    private func outcome(_ bytes: [UInt8], _ form: JSONReader.Form, cutting: (chunk: Int, piece: Int)?) -> String {
        var found: [String] = []
        func read(_ reader: inout JSONReader, _ bytes: UnsafeBufferPointer<UInt8>) throws {
            var tape = JSONTape()
            while try reader.next(into: &tape) {
                let place = reader.tokenLocation
                let name = place.name < 0 ? "" : tape.text(at: place.name, in: bytes)
                found.append("\(place.list)[\(place.index)]\(name) \(tape.value(at: place.token, in: bytes))")
            }
        }
        do {
            guard let cutting else {
                try bytes.withUnsafeBufferPointer { bytes in
                    var reader = JSONReader(bytes, form: form)
                    try read(&reader, bytes)
                    found.append("\(reader.page) \(reader.singleRecordLists.sorted())")
                }
                return "\(found)"
            }
            var splitter = RecordChunker(form: form, chunkSize: cutting.piece)
            var reader = JSONReader(form: form)
            func readPiece(_ piece: JSONChunk) throws {
                try piece.bytes.withUnsafeBytes { raw in
                    let bytes = raw.bindMemory(to: UInt8.self)
                    reader.read(bytes, at: piece.location, isLast: piece.isLast)
                    try read(&reader, bytes)
                }
            }
            for start in stride(from: 0, to: bytes.count, by: cutting.chunk) {
                try bytes[start..<min(bytes.count, start + cutting.chunk)].withUnsafeBytes { raw in
                    var rest = raw[...]
                    while let piece = try splitter.next(from: &rest) { try readPiece(piece) }
                }
            }
            try readPiece(splitter.last())
            found.append("\(reader.page) \(reader.singleRecordLists.sorted())")
            return "\(found)"
        } catch {
            return "\(error)"
        }
    }

    @Test("A document read in chunks gives the same records as a whole, in every form", arguments: documents)
    func chunksGiveSameRecords(_ text: String) {
        for form in Self.forms {
            let whole = outcome(Array(text.utf8), form, cutting: nil)
            for piece in [1, 2, 3, 7, 20, 1000] {
                for chunk in [1, 4, 1000] {
                    #expect(
                        outcome(Array(text.utf8), form, cutting: (chunk, piece)) == whole,
                        "\(text) as \(form) in pieces of \(piece), chunks of \(chunk)")
                }
            }
        }
    }

    @Test("A document with many keyed records is cut between records")
    func cutsBetweenRecords() throws {
        let members = (0..<200).map { "\"k\($0)\": {\"id\": \($0)}" }.joined(separator: ",\n")
        var splitter = RecordChunker(form: .locations(.members(at: [])), chunkSize: 50)
        var pieces = 0
        var largest = 0
        var text = "{\(members)}"
        try text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)[...]
            while let piece = try splitter.next(from: &rest) {
                pieces += 1
                largest = max(largest, piece.bytes.count)
            }
        }
        #expect(pieces > 80)
        #expect(largest < 100)
    }

    @Test(
        "A malformed document is rejected with its problem and path",
        arguments: [
            (0, "[5]", "expected a record (JSON object), found a number (at [0])"),
            (0, "{\"AD\": [1]}", "expected a record (JSON object), found an array (at [\"AD\"])"),
            (0, "5", "expected an object or an array of records, found a number (at $)"),
            (1, "{\"a\": {\"c\": 1}}", "no key 'b'; available: 'c' (at a)"),
            (2, "{\"meta\": {}}", "no key 'data'; available: 'meta' (at $)"),
            (2, "{\"date\": {}}", "no key 'data'; available: 'date'; did you mean 'date'? (at $)"),
            (2, "{\"data\": [1]}", "expected a record (JSON object), found a number (at data[0])"),
            (
                2, "{\"errors\": [{\"status\": \"404\", \"title\": \"Not Found\"}]}",
                "the payload contains an error of the service: 404: Not Found (at errors)"
            ),
            (3, "{\"data\": {\"a\": [], \"b\": []}}", "the response has several fields, 'a', 'b'"),
            (
                3, "{\"data\": null}",
                "the payload has no records where its document format requires them; check the format (at $)"
            ),
            (4, "{\"data\": {\"viewer\": 5}}", "expected records, found a number (at data.viewer)"),
            (5, "{\"users\": [{}], \"users\": []}", "the key 'users' occurs twice"),
            (5, "{\"users\": []}", "no key 'data'; available: 'users' (at $)"),
        ])
    func rejectsMalformedDocuments(_ form: Int, _ text: String, _ message: String) {
        let outcome = outcome(Array(text.utf8), Self.forms[form], cutting: nil)
        #expect(outcome.hasPrefix(message), "\(outcome)")
    }
}
