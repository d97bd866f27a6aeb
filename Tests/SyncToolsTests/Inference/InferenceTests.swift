import Foundation
import SyncCore
import SyncTools
import Testing

@Suite("Inference")
struct InferenceTests {
    /// JSON values of a user under the key `x`, and the type of the attribute.
    @Test(
        "The narrowest type that keeps every value is inferred",
        arguments: [
            (["1", "null", "-3"], AttributeType.integer), (["1", "2.5"], .double), (["7.0"], .double),
            (["12345678901234567890"], .decimal), (["0.12345678901234567890", "1"], .decimal),
            (["9007199254740993", "0.5"], .decimal), (["1e400"], .json), (["true", "null"], .boolean),
            (["true", "1"], .json), (["1", "\"a\""], .string), (["null"], .json),
            (["\"2024-02-29T10:00:00Z\"", "\"2024-02-29\""], .date), (["\"2024-02-29\"", "\"\""], .string),
            (["\"2024\""], .string), (["\"1700000000\""], .string), (["\"2023-02-29\""], .string),
            (["\"0f8fad5b-d9cb-469f-a165-70867728950e\""], .uuid),
            (["\"http://a.example\"", "\"HTTPS://b.example/c\""], .url), (["\"mailto:a@b.c\""], .string),
            (["\"aGVsbG8=\""], .string), (["[]"], .json), (["{}"], .json), (["[1, 2]"], .json), (["[[{}]]"], .json),
            (["{\"a\": 1}", "5"], .json), (["[{\"id\": 1}]", "{\"id\": 1}"], .json),
            (["{\"id\": 1}", "{\"a\": 1}"], .json), (["{\"12\": 1}"], .json),
        ])
    func infersNarrowestType(_ values: [String], _ type: AttributeType) throws {
        let records = values.enumerated().map { "{\"id\": \($0.offset), \"x\": \($0.element)}" }
        let model = try SyncModel(inferredFrom: Data("[\(records.joined(separator: ","))]".utf8), entity: "User")
        #expect(model.entities.map(\.name) == ["User"])
        #expect(model.entity(named: "User")?.attributes.map(\.name) == ["id", "x"])
        #expect(model.entity(named: "User")?.attributes.last?.type == type)
    }

    /// JSON of users; the relationship, its destination, whether it is to-many, and its inverse.
    @Test(
        "Relationships are inferred from nested objects",
        arguments: [
            (#"{"id":1,"home_town":{"id":2}}"#, "homeTown", "HomeTown", false, nil as String?),
            (#"{"id":1,"address":{"street":"x"}}"#, "address", "Address", false, nil),
            (#"{"id":1,"tags":[{"id":2}]},{"id":2,"tags":[{"id":2}]}"#, "tags", "Tag", true, nil),
            (#"{"id":1,"tags":[{"id":2}]}"#, "tags", "Tag", true, nil),
            (#"{"id":1,"notes":[{"id":2}]},{"id":2,"notes":[{"id":3}]}"#, "notes", "Note", true, nil),
            (#"{"id":1,"notes":[{"id":2,"user_id":1}]}"#, "notes", "Note", true, "user"),
            (#"{"id":1,"line_items":[{"x":2}]}"#, "lineItems", "LineItem", true, nil),
            (#"{"id":1,"user":{"id":2}}"#, "user", "User", false, nil),
        ])
    func nestedObjects(_ json: String, _ name: String, _ target: String, _ isToMany: Bool, _ inverse: String?) throws {
        let model = try SyncModel(inferredFrom: Data("[\(json)]".utf8), entity: "User")
        let user = try #require(model.entity(named: "User"))
        #expect(user.relationships == [SyncModel.Relationship(name, to: target, many: isToMany, inverse: inverse)])
        #expect(model.entities.flatMap(\.relationships).allSatisfy { $0.deleteRule == .nullify })
    }

    @Test(
        "Values beside objects are IDs if one is the ID of an object, and otherwise stay JSON",
        arguments: [("2", true), ("7", false), ("\"2\"", false)])
    func valuesBesideObjects(_ value: String, _ areIDs: Bool) throws {
        let json = #"[{"id":1,"city":{"id":2,"name":"a"}},{"id":2,"city":\#(value)}]"#
        let model = try SyncModel(inferredFrom: Data(json.utf8), entity: "User")
        let user = try #require(model.entity(named: "User"))
        #expect(user.relationships == (areIDs ? [SyncModel.Relationship("city", to: "City")] : []))
        #expect(user.attributes.last?.type == (areIDs ? .integer : .json))
    }

    @Test(
        "An inverse is inferred if many lists share no row",
        arguments: [
            (5, 4, false, "user" as String?), (4, 5, false, nil), (5, 3, false, nil), (9, 9, true, nil),
        ])
    func infersInverseFromManyLists(users: Int, notes: Int, shared: Bool, _ inverse: String?) throws {
        let records = (0..<users).map { user in
            let ids = (0..<notes).map { shared ? $0 : user * notes + $0 }
            return #"{"id":\#(user),"notes":[\#(ids.map { #"{"id":\#($0)}"# }.joined(separator: ","))]}"#
        }
        let model = try SyncModel(inferredFrom: Data("[\(records.joined(separator: ","))]".utf8), entity: "User")
        #expect(model.entity(named: "User")?.relationships.map(\.inverse) == [inverse])
    }

    @Test("Keys with IDs become relationships to the entities of other samples")
    func infersRelationshipsFromIDs() throws {
        let posts = InferenceSample(
            Data(#"[{"id": 1, "user_id": 7, "tag_ids": ["a"], "x_id": 3}]"#.utf8), entity: "Post")
        let users = InferenceSample(Data(#"{"id": 7}"#.utf8), entity: "User")
        let tags = InferenceSample(Data("{\"id\": \"a\"}\n{\"id\": \"b\"}".utf8), entity: "Tag", form: .ndjson)
        let model = try InferredModel(from: [posts, users, tags]).model
        let post = try #require(model.entity(named: "Post"))
        #expect(
            post.relationships == [
                SyncModel.Relationship("user", to: "User"), SyncModel.Relationship("tags", to: "Tag", many: true),
            ])
        #expect(post.attributes.map(\.name) == ["id", "xID"])
    }

    @Test("Two keys have one entity if the same row occurs under both")
    func mergesEntitiesOfSameRow() throws {
        let same = #"[{"id": 1, "author": {"id": 2, "name": "A"}, "editor": {"id": 2, "name": "A"}}]"#
        #expect(try names(same) == ["Author", "User"])
        let other = #"[{"id": 1, "author": {"id": 2, "name": "A"}, "editor": {"id": 3, "name": "B"}}]"#
        #expect(try names(other) == ["Author", "Editor", "User"])
        let contradicting = #"[{"id": 1, "author": {"id": 2, "name": "A"}, "editor": {"id": 2, "name": "B"}}]"#
        #expect(try names(contradicting) == ["Author", "Editor", "User"])
    }

    @Test("IDs are compared by bytes, so that é in two encodings is two rows")
    func comparesIDsByBytes() throws {
        let objects = #"""
            [{"id": 1, "tag": {"id": "\u00e9", "name": "A"}}, {"id": 2, "tag": {"id": "e\u0301", "name": "B"}}]
            """#
        #expect(try names(objects) == ["Tag", "User"])
    }

    private func names(_ json: String) throws -> [String] {
        try SyncModel(inferredFrom: Data(json.utf8), entity: "User").entities.map(\.name)
    }

    @Test("IDs that are numbers and texts become texts, and the primary key can be given")
    func infersPrimaryKey() throws {
        let mixed = try SyncModel(inferredFrom: Data(#"[{"id": 1}, {"id": "a"}]"#.utf8), entity: "User")
        #expect(try mixed.primaryKey(of: "User")?.attribute.type == .string)
        let named = try SyncModel(
            inferredFrom: Data(#"[{"ISBN": "1", "id": 1}]"#.utf8), entity: "Book", primaryKey: "ISBN")
        #expect(try named.primaryKey(of: "Book")?.local == "isbn")
        let error = try #require(throws: SyncError.self) {
            try SyncModel(inferredFrom: Data(#"[{"name": "a"}]"#.utf8), entity: "User")
        }
        #expect(error.code == .primaryKeyMissing)
        #expect(error.message.contains("'name'"))
    }

    @Test(
        "An empty key is excluded, and its objects belong to no entity",
        arguments: ["1", #"{"id": 5}"#, #"[{"a": 1}]"#])
    func excludesEmptyKey(value: String) throws {
        let json = Data(#"[{"id": 1, "": \#(value)}]"#.utf8)
        let found = try InferredModel(from: [InferenceSample(json, entity: "User")])
        #expect(found.model.entities.map(\.name) == ["User"])
        #expect(found.model.entity(named: "User")?.attributes.map(\.name) == ["id"])
        #expect(found.notes.map(\.description).contains("User: the key '' is excluded: it is empty"))
    }

    @Test("An inference note has the result and its evidence")
    func notesHaveEvidence() throws {
        let json = Data(#"[{"id": 1, "age": 4}, {"id": 2, "age": null}, {"name": "x"}]"#.utf8)
        let remarks = try InferredModel(from: [InferenceSample(json, entity: "User")]).notes.map(\.description)
        #expect(remarks.contains("User: 3 objects with the key 'id', 1 without it, which a sync skips"))
        #expect(remarks.contains("User.age: integer: 1 values, 1 null"))
    }
}
