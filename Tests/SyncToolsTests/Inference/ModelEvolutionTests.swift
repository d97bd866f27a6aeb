import Foundation
import Testing

@testable import SyncCore
@testable import SyncTools

@Suite("A model extended by samples")
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
        let model = try SyncModel(schema: Data(Self.model.utf8))
        return try ModelEvolution(of: model, by: [InferenceSample(Data(json.utf8), entity: "User")])
    }

    @Test(
        "is the same where the samples have nothing new",
        arguments: [
            #"[{"id": 1}]"#, #"[{"id": 1, "age": null, "born": "2024-01-01", "active": true}]"#,
            #"[{"id": 1, "age": true, "born": 5, "contact": {"mail": "a"}, "employer": {"id": 2, "name": 5}}]"#,
        ])
    func nothing(json: String) throws {
        let found = try extended(by: json)
        #expect(found.remarks.isEmpty, "\(found.remarks)")
        #expect(try found.model == SyncModel(schema: Data(Self.model.utf8)))
    }

    @Test("has new attributes, wider types and new entities, and keeps what it had")
    func additions() throws {
        let json = """
            [{"id": 1, "age": 1.5, "active": 7, "Shoe Size": 9, "employer": {"id": 2, "city": "Bonn"},
              "posts": [{"id": 5, "title": "x", "author": {"id": 1}}]}]
            """
        let found = try extended(by: json)
        #expect(
            found.remarks.map(\.description) == [
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
        #expect(again.remarks.isEmpty, "\(again.remarks)")
    }

    @Test(
        "widens a type as little as it must",
        arguments: [
            (.integer, .double, .double), (.integer, .decimal, .decimal), (.integer, .string, .string),
            (.integer, .boolean, nil), (.boolean, .integer, .integer), (.boolean, .string, .string),
            (.double, .integer, nil), (.double, .date, .string), (.date, .integer, nil), (.date, .string, .string),
            (.uuid, .string, .string), (.url, .uuid, .string), (.string, .date, nil), (.string, .json, .json),
            (.json, .string, nil), (.binary, .string, nil), (.transformable, .json, nil),
        ] as [(AttributeType, AttributeType, AttributeType?)])
    func wider(type: AttributeType, found: AttributeType, expected: AttributeType?) {
        #expect(ModelEvolution.wider(type, for: found) == expected)
    }

    @Test("never widens its key")
    func key() throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity("User", attributes: [SyncModel.Attribute("id", .integer)])
        ])
        let found = try ModelEvolution(
            of: model, by: [InferenceSample(Data(#"[{"id": "a"}]"#.utf8), entity: "User")])
        #expect(found.remarks.isEmpty)
    }
}
