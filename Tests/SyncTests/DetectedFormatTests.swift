import Foundation
import Sync
import Testing

/// The error for a payload that cannot be read names its detected format and what reads it.
@Suite("Detected payload formats")
struct DetectedFormatTests {
    private static let model = """
        {"entities": {
          "User": {"attributes": {"id": "integer", "name": "string"}, "relationships": {"company": {"entity": "Company"}}},
          "Company": {"attributes": {"id": "string", "name": "string"}}}}
        """

    private func error(_ text: String, _ entity: String = "User", _ options: SyncOptions = .init()) async -> SyncError?
    {
        await #expect(throws: SyncError.self, "\(text.prefix(60))") {
            let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Self.model.utf8)))
            try await Sync.changes(Data(text.utf8), inEntity: entity, stack: stack, options: options)
        }
    }

    static let forms: [(String, DetectedFormat, String)] = [
        ("{\"id\": 1}\n{\"id\": 2}\n", .ndjson, "options.format = .ndjson"),
        (
            #"{"data": [{"type": "users", "id": "1", "attributes": {"name": "a"}}]}"#, .jsonAPI,
            "options.format = .jsonAPI"
        ),
        (#"{"data": {"users": {"edges": [{"node": {"id": 1}}]}}}"#, .graphQL, "options.format = .graphQL"),
        (#"{"1": {"name": "a"}, "2": {"name": "b"}}"#, .keyed(namesFitKey: true), "options.keyedBy = .primaryKey"),
        (#"{"a": {"name": "a"}, "b": {"name": "b"}}"#, .keyed(namesFitKey: false), "options.keyedBy = .attribute"),
        (
            #"{"users": [{"id": 1}], "companies": [{"id": "x"}], "tags": [{"id": 1}]}"#,
            .entities(["users": "User", "companies": "Company"]), #"["companies": "Company", "users": "User"]"#
        ),
        ("id,name\n1,a\n2,b\n", .csv, "CSV"), ("id;name\n1;a\n", .csv, "CSV"),
        ("\n<!DOCTYPE html>\n<html><body>Log in</body></html>", .html, "a web page"),
        ("<?xml version=\"1.0\"?><users/>", .xml, "XML"), ("<users><user id='1'/></users>", .xml, "XML"),
        ("---\n- id: 1\n", .yaml, "YAML"), ("id: 1\nname: a\n", .yaml, "YAML"), ("- id: 1\n  name: a\n", .yaml, "YAML"),
    ]

    @Test("The error for a payload of another format names that format and what reads it", arguments: forms)
    func errorNamesDetectedFormat(text: String, form: DetectedFormat, words: String) async throws {
        let found = await error(text)
        #expect(found?.detectedFormat == form)
        #expect(found?.description.contains(words) == true, "\(found.map { "\($0)" } ?? "")")
    }

    @Test("The format of a large payload is detected by its beginning", arguments: [true, false])
    func largePayloadIsDetected(keyed: Bool) async throws {
        let records = (1...20_000).map { keyed ? #""\#($0)": {"name": "a, [\"b"}"# : #"{"id": \#($0), "name": "a"}"# }
        let text = keyed ? "{" + records.joined(separator: ", ") + "}" : records.joined(separator: "\n")
        #expect(await error(text)?.detectedFormat == (keyed ? .keyed(namesFitKey: true) : .ndjson))
    }

    @Test(
        "No format is detected for a payload that is broken or of another kind",
        arguments: [
            "[{\"id\": 1}", "{\"id\": 1} {\"id\": 2}", "{\n}\n}", "nonsense", "one, two", "7",
            "{\"message\": \"none\"}",
            #"{"company": {"id": "7", "name": "x"}, "boss": {"name": "y"}}"#, #"{"a": {"x": 1}, "b": {"x": 2}}"#,
            #"{"results": [{"id": 1}], "errors": [{"id": 2}]}"#, #"[{"x": 1}]"#,
        ])
    func unknownPayloadHasNoFormat(text: String) async throws {
        #expect(await error(text)?.detectedFormat == nil)
    }
}
