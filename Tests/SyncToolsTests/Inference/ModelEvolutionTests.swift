import Foundation
import Testing

@testable import SyncCore
@testable import SyncTools

@Suite("Model evolution")
struct ModelEvolutionTests {
    private static let model = """
        {"entities": {
          "User": {
            "attributes": {
              "remoteID": "integer", "age": "integer", "mail": {"type": "string", "remoteKey": "contact.mail"},
              "born": "date", "active": "boolean"},
            "relationships": {"firm": {"entity": "Company", "inverse": "staff", "remoteKey": "employer"}}},
          "Company": {
            "attributes": {"id": "integer", "name": "string"},
            "relationships": {"staff": {"entity": "User", "many": true, "inverse": "firm"}}}}}
        """

    private func extended(by json: String) throws -> ModelEvolution {
        let model = try SyncModel(schemaData: Data(Self.model.utf8))
        return try ModelEvolution(of: model, by: [InferenceSample(Data(json.utf8), entity: "User")])
    }

    @Test(
        "Samples without new data leave the model unchanged",
        arguments: [
            #"[{"id": 1}]"#, #"[{"id": 1, "age": null, "born": "2024-01-01", "active": true}]"#,
            #"[{"id": 1, "age": "5", "active": 1}, {"id": 2, "age": 2.0, "active": "no"}]"#,
            #"[{"id": 1, "age": true, "born": 5, "contact": {"mail": "a"}, "employer": {"id": 2, "name": 5}}]"#,
        ])
    func keepsModelWithoutNewData(json: String) throws {
        let found = try extended(by: json)
        #expect(found.notes.isEmpty, "\(found.notes)")
        #expect(try found.model == SyncModel(schemaData: Data(Self.model.utf8)))
    }

    @Test("New attributes, wider types and new entities are added, and the rest is kept")
    func addsNewData() throws {
        let json = """
            [{"id": 1, "age": 1.5, "active": 7, "Shoe Size": 9, "employer": {"id": 2, "city": "Bonn"},
              "posts": [{"id": 5, "title": "x", "author": {"id": 1}}]}]
            """
        let found = try extended(by: json)
        #expect(
            found.notes.map(\.description) == [
                "User.age: double, was integer", "User.active: integer, was boolean", "User.shoeSize: integer, new",
                "Post: new, with id, title", "Author: new, with id", "User.posts: to many Post, new",
                "Company.city: string, new",
            ])
        let user = try #require(found.model.entity(named: "User"))
        #expect(user.attributes.first { $0.name == "shoeSize" }?.remoteKey == "Shoe Size")
        #expect(user.attributes.first { $0.name == "mail" }?.remoteKey == "contact.mail")
        #expect(user.relationships.first { $0.name == "firm" }?.inverse == "staff")
        #expect(user.relationships.first { $0.name == "posts" }?.inverse == nil)
        let again = try ModelEvolution(of: found.model, by: [InferenceSample(Data(json.utf8), entity: "User")])
        #expect(again.notes.isEmpty, "\(again.notes)")
    }

    @Test(
        "Of two keys for one attribute, the weaker key gets its own attribute",
        arguments: [
            (#""age": 1, "Age": 2"#, ["User.age2: integer, new"], "Age"),
            (#""Age": "a", "age": 2"#, ["User.age2: string, new"], "Age"),
            (#""Age": 1, "AGE": 2"#, ["User.age2: integer, new"], "AGE"),
            (#""_id": "a""#, ["User.id2: string, new"], "_id"), (#""Age": 2"#, [], nil),
            (#""remote_id": 1"#, [], nil),
        ] as [(String, [String], String?)])
    func addsWeakerKey(members: String, notes: [String], key: String?) throws {
        let json = #"[{"id": 1, \#(members)}]"#
        let found = try extended(by: json)
        #expect(found.notes.map(\.description) == notes)
        #expect(found.model.entity(named: "User")?.attributes.compactMap(\.remoteKey).last == key ?? "contact.mail")
        let again = try ModelEvolution(of: found.model, by: [InferenceSample(Data(json.utf8), entity: "User")])
        #expect(again.notes.isEmpty, "\(again.notes)")
    }

    @Test(
        "A type is widened as little as necessary",
        arguments: [
            (.integer, .double, .double), (.integer, .decimal, .decimal), (.integer, .string, .string),
            (.integer, .boolean, nil), (.boolean, .integer, .integer), (.boolean, .string, .string),
            (.double, .integer, nil), (.double, .date, .string), (.date, .integer, nil), (.date, .string, .string),
            (.uuid, .string, .string), (.url, .uuid, .string), (.string, .date, nil), (.string, .json, .json),
            (.json, .string, nil), (.binary, .string, nil), (.transformable, .json, nil),
        ] as [(AttributeType, AttributeType, AttributeType?)])
    func widensTypesMinimally(type: AttributeType, found: AttributeType, expected: AttributeType?) {
        #expect(ModelEvolution.wider(type, for: found) == expected)
    }

    @Test("The type of a primary key is never widened")
    func keepsTypeOfPrimaryKey() throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity("User", attributes: [SyncModel.Attribute("id", .integer)])
        ])
        let found = try ModelEvolution(
            of: model, by: [InferenceSample(Data(#"[{"id": "a"}]"#.utf8), entity: "User")])
        #expect(found.notes.isEmpty)
    }
}
