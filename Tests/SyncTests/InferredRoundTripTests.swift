import Foundation
import Sync
import SyncTools
import Testing

@Suite("Round trips with inferred models")
struct InferredRoundTripTests {
    @Test(
        "An export with an inferred model equals the payload, with dotted keys and the order of lists",
        arguments: [
            #"[{"id":1,"@odata.etag":"x"}]"#,
            #"[{"id":1,"a.b":1,"a":{"b":2}}]"#,
            #"[{"id":1,"a":{"b.c":1,"b":{"c":2}},"a.b":{"c":3}}]"#,
            #"[{"id":1,"x.y":{"id":5,"n":"a"},"x":{"id":6,"m":"b"}}]"#,
            #"[{"id":1,"a\\b.c":1,"a\\":2,"..":3}]"#,
            #"[{"id":1,"tags.list":[{"id":9},{"id":2}]}]"#,
            #"[{"id":1,"artists":[{"id":9},{"id":2}]},{"id":2,"artists":[{"id":2},{"id":9}]}]"#,
            #"[{"id":1,"artists":[{"id":"b"},{"id":"a"},{"id":"c"}]}]"#,
            #"[{"id":1,"artists":[{"id":10},{"id":9},{"id":100}]}]"#,
            #"[{"id":1,"rows":[{"text":"b"},{"text":"a"}]}]"#,
        ])
    func exportEqualsPayload(json: String) async throws {
        let (stack, result) = try await imported(json)
        #expect(result.unmappedKeys.isEmpty)
        #expect(result.diagnostics.isEmpty)
        let exported = try await stack.export("R")
        #expect(try JSONValue.array(exported).sorted == JSONValue(parsing: json).sorted)
        let again = try await Sync.changes(Data(json.utf8), inEntity: "R", stack: stack)
        #expect(again["R"].updatedCount == 0)
    }

    @Test(
        "An inferred relationship is ordered only if a list differs from the order of its keys",
        arguments: [
            (#"[{"id":1,"artists":[{"id":2},{"id":9},{"id":10}]},{"id":2,"artists":[{"id":9}]}]"#, false),
            (#"[{"id":1,"artists":[{"id":"10"},{"id":"9"}]}]"#, false),
            (#"[{"id":1,"artists":[{"id":10},{"id":9}]}]"#, true),
            (#"[{"id":1,"artists":[{"id":1},{"id":2}]},{"id":2,"artists":[{"id":2},{"id":1}]}]"#, true),
            (#"[{"id":1,"artists":[{"id":1},{"id":1}]}]"#, false),
        ])
    func orderedOnlyIfNeeded(json: String, isOrdered: Bool) throws {
        let model = try SyncModel(inferredFrom: Data(json.utf8), entity: "R")
        #expect(model.entity(named: "R")?.relationships.map(\.isOrdered) == [isOrdered])
    }

    @Test("An inferred relationship is ordered if a list of IDs differs from the order of its keys")
    func listOfIDsIsOrdered() throws {
        let json = #"[{"id":1,"tag_ids":[3,1],"tag":{"id":1}},{"id":2,"tag":{"id":3}}]"#
        let model = try SyncModel(inferredFrom: Data(json.utf8), entity: "R")
        let tags = model.entity(named: "R")?.relationships.first { $0.isToMany }
        #expect(tags?.isOrdered == true)
    }

    // MARK: Attributes with null samples only

    @Test(
        "An attribute with null samples only becomes a relationship when samples have objects",
        arguments: [
            (#"{"id":5,"n":"a"}"#, false), (#"[{"id":6,"n":"b"},{"id":5,"n":"a"}]"#, true), (#"{"n":"a"}"#, false),
        ])
    func nullAttributeBecomesRelationship(value: String, isToMany: Bool) async throws {
        let before = try SyncModel(inferredFrom: Data(#"[{"id":1,"x":null}]"#.utf8), entity: "R")
        let json = Data("[{\"id\":1,\"x\":\(value)}]".utf8)
        let found = try ModelEvolution(of: before, by: [InferenceSample(json, entity: "R")])
        let entity = try #require(found.model.entity(named: "R"))
        #expect(entity.attributes.map(\.name) == ["id"])
        #expect(entity.relationships.map(\.name) == ["x"])
        #expect(entity.relationships.map(\.isToMany) == [isToMany])
        #expect(found.notes.contains { $0.description.contains("previously only null") })
        let stack = try DataStack.inMemory(found.model)
        let result = try await Sync.changes(json, inEntity: "R", stack: stack)
        #expect(result.unmappedKeys.isEmpty && result.diagnostics.isEmpty)
    }

    @Test("Objects under one key and IDs under its ID key make one relationship")
    func twoKeysMakeOneRelationship() async throws {
        let before = try SyncModel(inferredFrom: Data(#"[{"id":1,"y_id":null}]"#.utf8), entity: "R")
        let json = Data(#"[{"id":1,"y":{"id":"q","s":1}},{"id":2,"y_id":"q"}]"#.utf8)
        let found = try ModelEvolution(of: before, by: [InferenceSample(json, entity: "R")])
        let entity = try #require(found.model.entity(named: "R"))
        #expect(entity.attributes.map(\.name) == ["id"])
        #expect(entity.relationships.map(\.name) == ["y"])
        let stack = try DataStack.inMemory(found.model)
        try await Sync.changes(json, inEntity: "R", stack: stack)
        #expect(try await stack.count("R", where: "y.s == 1") == 2)
    }

    @Test("An attribute with null samples stays if rows have values of it, or if new samples are null too")
    func attributeStays() throws {
        let before = try SyncModel(inferredFrom: Data(#"[{"id":1,"x":null}]"#.utf8), entity: "R")
        let objects = InferenceSample(Data(#"[{"id":1,"x":{"id":5}}]"#.utf8), entity: "R")
        let kept = try ModelEvolution(of: before, by: [objects]) { entity, attribute in
            entity == "R" && attribute == "x"
        }
        #expect(kept.model.entity(named: "R")?.relationships.isEmpty == true)
        let nulls = InferenceSample(Data(#"[{"id":1,"x":null}]"#.utf8), entity: "R")
        #expect(try ModelEvolution(of: before, by: [nulls]).notes.isEmpty)
    }

    private func imported(_ json: String) async throws -> (DataStack, SyncResult) {
        let stack = try DataStack.inMemory(SyncModel(inferredFrom: Data(json.utf8), entity: "R"))
        return (stack, try await Sync.changes(Data(json.utf8), inEntity: "R", stack: stack))
    }
}
