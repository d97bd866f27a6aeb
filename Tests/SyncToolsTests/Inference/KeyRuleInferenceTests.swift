import Foundation
import SyncCore
import SyncTools
import Testing

@Suite("Key rules in inference and model evolution")
struct KeyRuleInferenceTests {
    @Test("The model gets the case of most keys, and entities that differ get their own")
    func infersKeyCase() throws {
        func rules(_ json: String) throws -> [String] {
            let model = try SyncModel(inferredFrom: Data(json.utf8), entity: "User")
            return [model.keyCase?.word ?? "-"] + model.entities.map { "\($0.name) \($0.keyCase?.word ?? "-")" }
        }
        #expect(try rules(#"{"id": 1, "first_name": "a"}"#) == ["-", "User -"])
        #expect(try rules(#"{"id": 1, "name": "a"}"#) == ["-", "User -"])
        #expect(try rules(#"{"id": 1, "firstName": "a"}"#) == ["camelCase", "User -"])
        #expect(try rules(#"{"id": 1, "first-name": "a"}"#) == ["kebab-case", "User -"])
        #expect(try rules(#"{"Id": 1, "Name": "a"}"#) == ["PascalCase", "User -"])
        #expect(try rules(#"{"id": 1, "firstName": "a", "last_name": "b"}"#) == ["-", "User -"])
        #expect(
            try rules(#"{"id": 1, "firstName": "a", "lastName": "b", "town": {"id": 2, "post_code": "c"}}"#)
                == ["camelCase", "Town snake_case", "User -"])
    }

    @Test("Ignored keys do not extend a model, whatever their values")
    func ignoredKeysDoNotExtendModel() throws {
        let model = try SyncModel(
            entities: [
                SyncModel.Entity(
                    "User", attributes: [SyncModel.Attribute("id", .integer)],
                    relationships: [SyncModel.Relationship("firm", to: "Firm")],
                    ignoredKeys: ["links.*", "stats.raw"]),
                SyncModel.Entity("Firm", attributes: [SyncModel.Attribute("id", .integer)]),
            ], keyCase: .kebab, ignoredKeys: ["*-url"])
        func remarks(_ json: String) throws -> [String] {
            try ModelEvolution(of: model, by: [InferenceSample(Data(json.utf8), entity: "User")]).notes.map(
                \.description)
        }
        #expect(
            try remarks(
                #"[{"id": 1, "html-url": "a", "links": {"self": "b"}, "firm": {"id": 2, "logo-url": "c"}, "stats": {"raw": 1}}]"#
            ) == [])
        #expect(
            try remarks(
                #"[{"id": 1, "html-url": "a", "stats": {"raw": 1, "sum": 2, "x-url": 3}, "firm": {"id": 2, "size": 1}}]"#
            )
                == ["Stats: new, with sum", "User.stats: to one Stats, new", "Firm.size: integer, new"])
        let json = Data(
            #"{"id": 1, "first-name": "a", "lastName": "b", "best-friend": {"id": 3, "nick-name": "c"}}"#.utf8)
        let extended = try ModelEvolution(of: model, by: [InferenceSample(json, entity: "User")]).model
        #expect(extended.keyCase == .kebab && extended.ignoredKeys == ["*-url"])
        #expect(extended.entity(named: "User")?.attributes.map(\.remoteKey) == [nil, nil, "lastName"])
        #expect(extended.entity(named: "User")?.relationships.last?.remoteKey == nil)
        #expect(extended.entity(named: "BestFriend")?.keyCase == nil)
    }
}
