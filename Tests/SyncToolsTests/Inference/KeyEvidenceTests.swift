import Foundation
import SyncCore
import SyncTools
import Testing

@Suite("Inference of primary keys")
struct KeyEvidenceTests {
    private func key(_ json: String, _ entity: String = "User", infersKey: Bool = false) throws -> [String] {
        var sample = InferenceSample(Data(json.utf8), entity: entity)
        sample.infersKey = infersKey
        return try InferredModel(from: [sample]).model.primaryKeyParts(of: entity).map(\.local)
    }

    @Test(
        "A primary key is inferred from its name, and the stronger name wins",
        arguments: [
            (#"{"uuid": "a", "_id": "b", "user_id": 1}"#, "id"), (#"{"user_id": 1, "uuid": "a"}"#, "uuid"),
            (#"{"objectId": "a", "user_id": 1}"#, "objectId"), (#"{"name": "a", "user_id": 1}"#, "userID"),
            (#"{"userId": 1}"#, "userId"), (#"{"UserID": 1}"#, "userID"), (#"{"id": 1, "user_id": 2}"#, "id"),
        ])
    func infersKeyFromName(_ record: String, _ name: String) throws { #expect(try key("[\(record)]") == [name]) }

    @Test("Nested objects that all have a key become rows with that primary key")
    func infersKeysOfNestedObjects() throws {
        let json = #"[{"id": 1, "authors": [{"author_id": 5, "name": "A"}], "place": {"uuid": "x", "a": 1}}]"#
        let model = try SyncModel(inferredFrom: Data(json.utf8), entity: "Book")
        #expect(try model.primaryKey(of: "Author")?.local == "authorID")
        #expect(try model.primaryKey(of: "Place")?.local == "uuid")
    }

    /// Records, and a part of the error's message.
    @Test(
        "Without a known name, the error suggests keys whose values are unique",
        arguments: [
            (
                #"{"name": "a", "geonameid": 1}, {"name": "b", "geonameid": 2}"#,
                "'geonameid' is unique in all 2 records: --primary-key geonameid"
            ),
            (#"{"x": 1, "code": "a"}, {"x": 2, "code": "b"}"#, "--primary-key code"),
            (
                #"{"name": "a", "version": 1}, {"name": "a", "version": 2}, {"name": "b", "version": 2}"#,
                "'name', 'version' are together unique in all 3 records: --primary-key name,version"
            ),
            (
                #"{"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 1, "c": 2}, {"a": 1, "b": 2, "c": 1}, {"a": 2, "b": 1, "c": 1}"#,
                "--primary-key a,b,c"
            ),
            (#"{"a": 1.5, "b": true}, {"a": 2.5, "b": false}"#, "and no other key can"),
            (
                #"{"a": 1, "b": "x"}, {"a": 1, "b": "x"}, {"a": 2, "b": "x"}"#,
                "no combination of up to three keys is unique; the closest is 'a': 1 of 3 records"
            ),
            (#"{"a": 1}, {"a": 2}, {"b": 3}"#, "and no other key can"),
            (#"{"a": null}, {"a": 1}"#, "and no other key can"),
            (#"{"the key": 1, "q": 1}, {"the key": 2, "q": 1}"#, "--primary-key 'the key'"),
        ])
    func suggestsUniqueKeys(_ records: String, _ text: String) throws {
        let error = try #require(throws: SyncError.self) { try key("[\(records)]") }
        #expect(error.code == .primaryKeyMissing)
        #expect(error.message.contains(text), "\(error.message)")
    }

    @Test("The best suggestion is used and noted if infersKey is set")
    func usesBestSuggestion() throws {
        let json = #"[{"name": "a", "version": 1}, {"name": "a", "version": 2}, {"name": "b", "version": 2}]"#
        #expect(try key(json, infersKey: true) == ["name", "version"])
        var sample = InferenceSample(Data(json.utf8), entity: "Package")
        sample.infersKey = true
        let remarks = try InferredModel(from: [sample]).notes.map(\.description)
        #expect(
            remarks.contains(
                "Package: the key is inferred from values: 'name', 'version' are together unique in all 3 records"))
        #expect(throws: SyncError.self) { try key(#"[{"a": 1}, {"a": 1}]"#, infersKey: true) }
    }

    @Test("A composite key can be given by name")
    func acceptsCompositeKey() throws {
        let json = Data(#"[{"Name": "a", "Version": 1, "size": 2}, {"Name": "a", "Version": 2, "size": 2}]"#.utf8)
        let model = try SyncModel(inferredFrom: json, entity: "Package", primaryKey: ["Name", "Version"])
        #expect(model.entity(named: "Package")?.primaryKey == ["name", "version"])
        let error = try #require(throws: SyncError.self) {
            try SyncModel(inferredFrom: json, entity: "Package", primaryKey: ["Name", "Major"])
        }
        #expect(error.message.contains("the keys 'Name', 'Major'"))
    }

    @Test("A composite key of 20,000 records is found")
    func findsKeyOfManyRecords() throws {
        let records = (0..<20_000).map { #"{"a":\#($0 / 200),"b":\#($0 % 200),"c":\#($0 % 7),"d":"x"}"# }
        #expect(try key("[\(records.joined(separator: ","))]", infersKey: true) == ["a", "b"])
    }

    @Test(
        "The format of another kind of payload is detected",
        arguments: [
            (#"{"data": [{"type": "a", "id": "1", "attributes": {}}]}"#, .jsonAPI),
            (#"{"data": {"users": {"nodes": [{"id": 1}]}}}"#, .graphQL),
            (#"{"AD": {"name": "a"}, "AE": {"name": "b"}}"#, .keyed(namesFitKey: nil)),
            (
                #"{"users": [{"id": 1}], "companies": [{"id": 1}]}"#,
                .entities(["users": "User", "companies": "Company"])
            ),
        ] as [(String, DetectedFormat)])
    func detectsFormat(_ json: String, _ form: DetectedFormat) throws {
        let error = try #require(throws: SyncError.self) { try key(json) }
        #expect(error.detectedFormat == form, "\(error)")
    }

    @Test("An error about deeper GraphQL lists has their key paths")
    func errorHasKeyPathsOfDeeperLists() throws {
        let json = #"{"data": {"repository": {"issues": {"edges": [{"node": {"id": "1"}}]}, "labels": {"nodes": []}}}}"#
        let sample = InferenceSample(Data(json.utf8), entity: "Issue", form: .graphQL)
        let error = try #require(throws: SyncError.self) { try InferredModel(from: [sample]) }
        #expect(error.keyPaths.contains(["repository", "issues"]), "\(error)")
    }

    @Test("JSON:API resources become entities named after their types, with relationships")
    func infersFromJSONAPI() throws {
        let json = #"""
            {"included": [{"type": "people", "id": "1", "attributes": {"name": "A"}}], "data": [
              {"type": "blog-posts", "id": "1", "attributes": {"title": "T"}, "links": {"self": "x"}, "relationships": {
                "author": {"data": {"type": "people", "id": "1"}}, "labels": {"data": [{"type": "tag-things", "id": "1"}]}}}]}
            """#
        let sample = InferenceSample(Data(json.utf8), entity: "Post", form: .jsonAPI)
        let model = try InferredModel(from: [sample]).model
        let post = try #require(model.entity(named: "Post"))
        #expect(post.resourceType == "blog-posts")
        #expect(post.attributes.map(\.name) == ["id", "title", "links"])
        #expect(post.relationships.map(\.destination) == ["Person", "TagThing"])
        #expect(model.entity(named: "Person")?.attributes.map(\.name) == ["id", "name"])
    }

    @Test("GraphQL connections, several lists and keyed records are inferred in their format")
    func infersFromOtherFormats() throws {
        let graph = #"""
            {"data": {"users": {"edges": [{"node":
              {"id": 1, "__typename": "User", "notes": {"nodes": [{"id": 2}]}}}]}}}
            """#
        let model = try InferredModel(from: [InferenceSample(Data(graph.utf8), entity: "User", form: .graphQL)]).model
        #expect(model.entity(named: "User")?.relationships == [SyncModel.Relationship("notes", to: "Note", many: true)])
        #expect(model.entity(named: "User")?.attributes.map(\.name) == ["id"])

        var lists = InferenceSample(
            Data(#"{"users": [{"id": 1, "company_id": 7}], "companies": [{"id": 7, "n": 1}]}"#.utf8), entity: "")
        lists.entities = ["users": "User", "companies": "Company"]
        let several = try InferredModel(from: [lists]).model
        #expect(several.entities.map(\.name).sorted() == ["Company", "User"])
        #expect(several.entity(named: "User")?.relationships.map(\.destination) == ["Company"])

        var keyed = InferenceSample(
            Data(
                #"{"AD": {"name": "a", "texts": {"de": {"t": 1}}}, "AE": {"name": "b", "texts": {"fr": {"t": 2}}}}"#
                    .utf8),
            entity: "Country")
        keyed.keyedBy = "iso"
        let countries = try InferredModel(from: [keyed]).model
        #expect(try countries.primaryKey(of: "Country")?.local == "iso")
        #expect(countries.entity(named: "Country")?.relationships.first?.keyedBy == "key")
    }
}
