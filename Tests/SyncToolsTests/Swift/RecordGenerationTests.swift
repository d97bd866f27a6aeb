import Foundation
import Sync
import SyncTools
import Testing

@Suite("Generated GRDB records")
struct RecordGenerationTests {
    /// Returns the properties of a generated record.
    private func properties(of type: String, _ schema: String) throws -> [String] {
        let model = try SyncModel(schemaData: Data(schema.utf8))
        let text = SwiftCodeGenerator(model, form: .records).text
        let start = try #require(text.range(of: "struct \(type): Codable"))
        return text[start.upperBound...].split(separator: "\n").dropFirst()
            .prefix { !$0.isEmpty && !$0.contains("static") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test("A record has the foreign keys of its table, and none that another table has")
    func foreignKeysAreOfTheTable() throws {
        let schema = """
            { "entities": {
              "Holder": { "attributes": { "id": "integer" },
                "relationships": { "pass": { "entity": "Pass", "inverse": "holder" } } },
              "Pass": { "attributes": { "id": "string" },
                "relationships": { "holder": { "entity": "Holder" }, "seals": { "entity": "Seal", "many": true } } },
              "Seal": { "attributes": { "id": "integer", "passID": "string" },
                "relationships": { "pass": { "entity": "Pass" } } } } }
            """
        #expect(try properties(of: "Holder", schema) == ["var id: Int", "var passID: String?"])
        #expect(try properties(of: "Pass", schema) == ["var id: String"])
        #expect(
            try properties(of: "Seal", schema) == ["var id: Int", "var passID: String?", "var pass_ref: String?"])
    }

    @Test("A foreign key to a table with a surrogate key is an integer, although its entity has a key of its own")
    func foreignKeyOfSurrogateKey() throws {
        let schema = """
            { "entities": {
              "Animal": { "primaryKey": "id", "attributes": { "id": "integer" } },
              "Cat": { "parent": "Animal", "primaryKey": "chip", "attributes": { "chip": "string" } },
              "Toy": { "attributes": { "id": "integer" }, "relationships": { "cat": { "entity": "Cat" } } } } }
            """
        #expect(try properties(of: "Toy", schema) == ["var id: Int", "var catID: Int64?"])
        #expect(try properties(of: "Cat", schema) == ["var id: Int?", "var chip: String", "var sync_entity: String"])
    }
}
