import SyncCore
import Testing

@Suite("Payload format detection")
struct PayloadFormatDetectorTests {
    @Test(
        "JSON:API, GraphQL, keyed objects and several lists are detected",
        arguments: [
            (#"{"data": [{"type": "users", "id": "1", "attributes": {}}]}"#, PayloadFormatDetector.jsonAPI),
            (#"{"jsonapi": {"version": "1.0"}, "data": []}"#, .jsonAPI),
            (#"{"data": {"users": {"edges": [{"node": {"id": 1}}]}}}"#, .graphQL),
            (#"{"data": {"viewer": {"repos": {"nodes": [], "pageInfo": {}}}}}"#, .graphQL),
            (#"{"data": null, "errors": [{"message": "no"}]}"#, .graphQL),
            (#"{"AD": {"name": "Andorra"}, "AE": {"name": "Emirates", "x": 1}}"#, .keyed),
            (#"{"users": [{"id": 1}], "companies": [{"id": 2}], "count": 3}"#, .lists(["users", "companies"])),
        ])
    func detectsFormats(_ text: String, _ shape: PayloadFormatDetector) throws {
        #expect(try PayloadFormatDetector(of: JSONValue(parsing: text)) == shape)
    }

    @Test(
        "Plain lists, records and envelopes with one list have no special format",
        arguments: [
            "[]", #"[{"id": 1}]"#, #"{"id": 1, "name": "x"}"#, #"{"data": [{"id": 1}]}"#, #"{"data": []}"#, "{}", "5",
            #"{"id": 1, "address": {"city": "x"}}"#, #"{"a": {"b": 1}, "c": {"d": 2}}"#,
            #"{"nodes": [1], "kind": "graph"}"#,
        ])
    func plainPayloadsHaveNoFormat(_ text: String) throws {
        #expect(try PayloadFormatDetector(of: JSONValue(parsing: text)) == nil)
    }
}
