import Foundation
import SyncCore
import Testing

@testable import struct SyncCore.SchemaReader

@Suite("JSON Schema of schema files")
struct JSONSchemaTests {
    private let checker: JSONSchemaChecker

    init() throws { checker = JSONSchemaChecker(root: try ModelFixtures.json(ModelFixtures.schema)) }

    @Test("The fixtures include the known models")
    func fixturesIncludeKnownModels() {
        let known = ["blog.json", "company.json", "library.json", "orchard.json", "station.json", "zoo.json"]
        #expect(Set(ModelFixtures.names).isSuperset(of: known))
    }

    @Test("The JSON Schema accepts the fixtures and their written form", arguments: ModelFixtures.names)
    func acceptsFixtures(name: String) throws {
        #expect(checker.violations(of: try ModelFixtures.json(ModelFixtures.folder.appendingPathComponent(name))) == [])
        let written = try JSONValue(parsing: ModelFixtures.model(name).schemaFile())
        #expect(checker.violations(of: written) == [])
    }

    @Test(
        "The JSON Schema and the reader reject invalid schema files",
        arguments: [
            "[]", "{}", #"{ "entities": [] }"#, #"{ "entities": {}, "version": 1 }"#, #"{ "entities": { "A": 1 } }"#,
            #"{ "entities": { "A": { "colour": 1 } } }"#, #"{ "entities": { "A": { "abstract": "yes" } } }"#,
            #"{ "entities": { "A": { "parent": "" } } }"#, #"{ "entities": { "A": { "attributes": [] } } }"#,
            #"{ "entities": { "A": { "attributes": { "x": "int" } } } }"#,
            #"{ "entities": { "A": { "attributes": { "x": {} } } } }"#,
            #"{ "entities": { "A": { "attributes": { "x": { "type": "date", "optional": 1 } } } } }"#,
            #"{ "entities": { "A": { "attributes": { "x": { "type": "date", "nullable": true } } } } }"#,
            #"{ "entities": { "A": { "relationships": { "b": "B" } } } }"#,
            #"{ "entities": { "A": { "relationships": { "b": { "many": true } } } } }"#,
            #"{ "entities": { "A": { "relationships": { "b": { "entity": "B", "deleteRule": "drop" } } } } }"#,
        ])
    func rejectsInvalidFiles(text: String) throws {
        #expect(!checker.violations(of: try JSONValue(parsing: text)).isEmpty)
        #expect(throws: SyncError.self) { try SyncModel(schemaData: text) }
    }

    @Test("The JSON Schema has the keys and types that the reader knows")
    func hasKeysOfReader() throws {
        func keys(_ path: String...) throws -> Set<String> {
            let object = path.reduce(checker.root as JSONValue?) { $0?[$1] }
            guard case .object(let members) = try #require(object) else { return [] }
            return Set(members.map(\.key))
        }
        #expect(try keys("properties") == Set(SchemaReader.rootKeys))
        #expect(try keys("$defs", "entity", "properties") == Set(SchemaReader.entityKeys))
        #expect(try keys("$defs", "relationship", "properties") == Set(SchemaReader.relationshipKeys))
        guard case .array(let forms) = checker.root["$defs"]?["attribute"]?["oneOf"],
            case .object(let members) = forms.last?["properties"]
        else {
            Issue.record("an attribute is a type or an object")
            return
        }
        #expect(Set(members.map(\.key)) == Set(SchemaReader.attributeKeys))
        let types = AttributeType.allCases.map { JSONValue.string($0.rawValue) }
        #expect(checker.root["$defs"]?["type"]?["enum"] == .array(types))
        let rules = SyncModel.DeleteRule.allCases.map { JSONValue.string($0.rawValue) }
        #expect(checker.root["$defs"]?["relationship"]?["properties"]?["deleteRule"]?["enum"] == .array(rules))
    }
}
