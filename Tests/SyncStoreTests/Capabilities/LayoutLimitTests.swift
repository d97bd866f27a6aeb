import Foundation
import MemoryStore
import Sync
import SyncCore
import SyncStore
import Testing

@Suite("Names and default values that a store cannot keep")
struct LayoutLimitTests {
    /// One name for each kind of name in a database, with the length of the name in bytes.
    private static let schema = #"""
        { "entities": {
          "Person": { "attributes": { "id": "integer", "größe": "integer" },
                      "relationships": {
                        "home": { "entity": "Place" },
                        "friends": { "entity": "Person", "many": true, "inverse": "friends" },
                        "visits": { "entity": "Place", "many": true, "ordered": true, "inverse": "visitor" } } },
          "Employee": { "parent": "Person", "attributes": { "salary": "decimal" } },
          "Place": { "attributes": { "x": "integer", "y": "integer" }, "primaryKey": ["x", "y"],
                     "relationships": { "visitor": { "entity": "Person", "inverse": "visits" } } } } }
        """#

    private func layout(hasExistingTables: Bool = false) throws -> StoreLayout {
        let model = try SyncModel(schemaData: Data(Self.schema.utf8))
        return StoreLayout(model.compiled, hasExistingTables: hasExistingTables)
    }

    private func capabilities(_ length: Int) -> StoreCapabilities {
        var capabilities = StoreCapabilities()
        capabilities.identifierLength = length
        return capabilities
    }

    @Test("The longest name decides whether a model fits")
    func longestName() throws {
        let layout = try layout()
        let longest = try #require(layout.indexNames.map(\.utf8.count).max())
        try layout.check(capabilities(longest))
        let error = #expect(throws: SyncError.self) { try layout.check(capabilities(longest - 1)) }
        #expect(error?.code == .invalidModel && error?.problems.count == 1)
        #expect(error?.entity == error?.problems.first?.entity && error?.path == error?.problems.first?.path)
        try layout.check(.unlimited)
    }

    @Test("An error has each long name, its entity, its length, and the limit")
    func allNames() throws {
        let error = #expect(throws: SyncError.self) { try layout().check(capabilities(6)) }
        let problems = try #require(error?.problems)
        let found = problems.map { "\($0.path): \($0.message)" }
        for expected in [
            "entities.Person.attributes.größe: the column 'größe' has 7 bytes, and the store keeps names of at most "
                + "6 bytes; declare a shorter 'column'",
            "entities.Employee: the view 'Employee' has 8 bytes, and the store keeps names of at most 6 bytes; give the "
                + "entity a shorter name",
            "entities.Place: the index 'sync_key_Place' has 14 bytes, and the store keeps names of at most 6 bytes; "
                + "give the entity a shorter name",
        ] {
            #expect(found.contains(expected), "\(found)")
        }
        let texts = problems.map { $0.message.split(separator: "'")[1] }
        for name in [
            "homeID", "Person_friends", "visitorID", "sync_visitor_order", "sync_index_Person_homeID",
            "sync_index_Person_friends",
        ] {
            #expect(texts.contains(Substring(name)) == (name != "homeID"), "\(name)")
        }
        #expect(problems.allSatisfy { ["Person", "Employee", "Place"].contains($0.entity) })
        #expect(error?.message == "the store cannot keep \(problems.count) names or default values of the model")
    }

    @Test("Existing tables have no indexes and views of the model")
    func existingTables() throws {
        let error = #expect(throws: SyncError.self) { try layout(hasExistingTables: true).check(capabilities(6)) }
        #expect(error?.problems.contains { $0.message.contains("the index") || $0.message.contains("view") } == false)
    }

    @Test(
        "A default value that the store cannot keep is a problem of the model",
        arguments: [
            ("\"string\"", #""a\u0000b""#), ("\"integer\"", "1001"), ("\"double\"", "0.75"), ("\"decimal\"", "2.51"),
            ("\"date\"", "\"2001-01-01T00:00:00Z\""), ("\"json\"", #"{"a": ["\u0000"]}"#),
        ])
    func defaults(type: String, value: String) throws {
        let schema = """
            { "entities": { "Note": { "attributes": {
              "id": "integer", "value": { "type": \(type), "default": \(value) } } } } }
            """
        let model = try SyncModel(schemaData: Data(schema.utf8))
        let error = #expect(throws: SyncError.self) {
            try MemoryStack(model, capabilities: LimitedStore.capabilities)
        }
        #expect(error?.code == .invalidModel && error?.entity == "Note")
        #expect(error?.path == "entities.Note.attributes.value.default")
        _ = try MemoryStack(model)
    }

    @Test("A model within the limits is opened")
    func opens() throws {
        _ = try LimitedStore.stack()
    }
}
