import Foundation
import SyncCore
import Testing

@Suite("Schema files")
struct SchemaFileTests {
    @Test("A schema file declares entities, attributes and relationships")
    func declaresEntities() throws {
        let model = try ModelFixtures.model("blog.json")
        #expect(model.entities.map(\.name) == ["Company", "Note", "Tag", "User"])
        let user = try #require(model.entity(named: "User"))
        #expect(user.primaryKey == "remoteID")
        #expect(
            user.attributes == [
                SyncModel.Attribute("remoteID", .integer), SyncModel.Attribute("firstName", .string),
                SyncModel.Attribute("email", .string, remoteKey: "contact.email_address"),
                SyncModel.Attribute("userType", .string),
                SyncModel.Attribute("joinedAt", .date, renamedFrom: "createdAt"),
                SyncModel.Attribute("passwordHint", .string, isExported: false),
            ])
        #expect(
            user.relationships == [
                SyncModel.Relationship("company", to: "Company", inverse: "users"),
                SyncModel.Relationship("notes", to: "Note", many: true, inverse: "user", deleteRule: .cascade),
                SyncModel.Relationship("follows", to: "User", many: true),
            ])
        let note = try #require(model.entity(named: "Note"))
        #expect(note.renamedFrom == "Post")
        #expect(note.attributes.first == SyncModel.Attribute("slug", .string, isPrimaryKey: true))
        #expect(
            note.relationships.last
                == SyncModel.Relationship(
                    "tags", to: "Tag", many: true, ordered: true, inverse: "notes", remoteKey: "labels"))
        let name = model.entity(named: "Company")?.attributes.last
        #expect(name == SyncModel.Attribute("name", .string, isOptional: false, defaultValue: .string("")))
    }

    @Test("A schema file declares inheritance")
    func declaresInheritance() throws {
        let model = try ModelFixtures.model("zoo.json")
        let animal = try #require(model.entity(named: "Animal"))
        #expect(animal.isAbstract && animal.parent == nil)
        #expect(model.entity(named: "Parrot")?.parent == "Bird")
        #expect(try model.primaryKey(of: "Parrot")?.local == "id")
        #expect(model.entity(named: "Keeper")?.relationships.map(\.isOptional) == [true, false, true])
    }

    @Test("A schema file declares defaults of every type")
    func declaresDefaults() throws {
        let station = try #require(try ModelFixtures.model("station.json").entity(named: "Station"))
        let defaults = station.attributes.map(\.defaultValue)
        let uuid = try #require(UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF"))
        let expected: [StoredValue?] = [
            nil, .integer(-9_007_199_254_740_993), .double(0.1),
            Decimal(string: "1234567890.0123456789").map { .decimal($0) }, .boolean(true),
            .string("\"quoted\"\n\u{1}é"), .date(Date(timeIntervalSince1970: 1_614_834_367.089)), .uuid(uuid),
            .url("https://example.org/a?b=c#d"), .binary(Data([0, 1, 2, 3])),
            .json(["a": ["c": true], "b": [1, 2.5, nil]]), nil, nil,
        ]
        #expect(defaults == expected)
        #expect(station.attributes.first { $0.name == "secret" }?.transformer == "Vault")
    }

    @Test("The schema file key fingerprints of earlier versions is ignored")
    func ignoresFingerprints() throws {
        let model = try SyncModel(
            schemaData: #"{ "entities": { "A": { "fingerprints": true, "attributes": { "id": "integer" } } } }"#)
        let plain = try SyncModel(schemaData: #"{ "entities": { "A": { "attributes": { "id": "integer" } } } }"#)
        #expect(model == plain)
        #expect(model.schemaFile() == plain.schemaFile())
    }

    @Test("A written schema file reads as the same model", arguments: ModelFixtures.names)
    func roundTrips(name: String) throws {
        let model = try ModelFixtures.model(name)
        let written = model.schemaFile()
        #expect(try SyncModel(schemaData: written) == model)
        #expect(try SyncModel(schemaData: written).schemaFile() == written)
    }

    @Test("Only values that differ from the default are written, one property a line")
    func writesNonDefaultValues() throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "User", parent: "Party",
                attributes: [
                    SyncModel.Attribute("name", .string),
                    SyncModel.Attribute(
                        "code", .string, remoteKey: "Code", isPrimaryKey: true, isOptional: false,
                        defaultValue: .string("a\"b"), transformer: "Upper", isExported: false, renamedFrom: "nr",
                        sourceType: "String"),
                ],
                relationships: [
                    SyncModel.Relationship(
                        "logins", to: "Login", many: true, ordered: true, inverse: "user", deleteRule: .deny,
                        remoteKey: "log.ins", isExported: false, isOptional: false, renamedFrom: "sessions")
                ], renamedFrom: "Person"),
            SyncModel.Entity("Login", relationships: [SyncModel.Relationship("user", to: "User")]),
            SyncModel.Entity(
                "Party", isAbstract: true, primaryKey: "id", attributes: [SyncModel.Attribute("id", .uuid)]),
        ])
        let text = """
            {
              "entities": {
                "Login": {
                  "relationships": {
                    "user": { "entity": "User", "inverse": "logins" }
                  }
                },
                "Party": {
                  "abstract": true,
                  "primaryKey": "id",
                  "attributes": {
                    "id": "uuid"
                  }
                },
                "User": {
                  "parent": "Party",
                  "renamedFrom": "Person",
                  "attributes": {
                    "name": "string",
                    "code": { "type": "string", "primaryKey": true, "remoteKey": "Code", "optional": false, \
            "default": "a\\"b", "transformer": "Upper", "export": false, "renamedFrom": "nr", "sourceType": "String" }
                  },
                  "relationships": {
                    "logins": { "entity": "Login", "many": true, "ordered": true, "inverse": "user", \
            "deleteRule": "deny", "remoteKey": "log.ins", "export": false, "optional": false, \
            "renamedFrom": "sessions" }
                  }
                }
              }
            }

            """
        #expect(String(decoding: model.schemaFile(), as: UTF8.self) == text)
        #expect(try SyncModel(schemaData: text) == model)
        let empty = try SyncModel(entities: [])
        #expect(String(decoding: empty.schemaFile(), as: UTF8.self) == "{\n  \"entities\": {}\n}\n")
        #expect(try SyncModel(schemaData: empty.schemaFile()) == empty)
    }
}
