import Foundation
import TestSize
import Testing

@testable import SyncCore

/// Objects of thousands of keys. Each test takes almost no time; with quadratic work it would take minutes.
@Suite("Objects of many keys")
struct ManyKeysTests {
    private static let count = LongTests.count(2_000, many: 20_000)

    private func model(_ attributes: [SyncModel.Attribute] = []) throws -> SyncModel {
        try SyncModel(entities: [
            SyncModel.Entity(
                "User", attributes: [SyncModel.Attribute("id", .integer)] + attributes,
                relationships: [
                    SyncModel.Relationship("company", to: "Company"),
                    SyncModel.Relationship("tags", to: "Tag", many: true),
                ]),
            SyncModel.Entity("Company", attributes: [SyncModel.Attribute("id", .integer)]),
            SyncModel.Entity("Tag", attributes: [SyncModel.Attribute("id", .integer)]),
        ])
    }

    private func graph(_ text: String, _ model: SyncModel) throws -> PayloadGraph {
        try PayloadGraphBuilder(
            inEntity: "User", of: model, parent: nil, operations: .all, options: SyncOptions()
        ).map(Data(text.utf8), options: SyncOptions()).graph
    }

    private func record(_ count: Int = count, _ members: (Int) -> String) -> String {
        #"[{"id": 1, \#((0..<count).map(members).joined(separator: ", "))}]"#
    }

    @Test(
        "Many keys for one to-one relationship give one link assertion",
        arguments: [#""company": {"id": %d}"#, #""company_id": %d"#, #""company": %d"#])
    func manyKeysForOneRelationship(member: String) throws {
        let graph = try graph(record { member.replacing("%d", with: "\($0)") }, model())
        let company = try graph.model.entity(named: "Company")
        let link = try #require(try graph.model.entity(named: "User").relationship(named: "company")).link
        #expect(graph[company.table].nodes.count == 1)
        #expect(graph[link].assertions.count == 1)
    }

    @Test("Many lists for one relationship give the link assertions of the last list")
    func manyListsForOneRelationship() throws {
        let ids = (0..<50).map(String.init).joined(separator: ",")
        let graph = try graph(record { $0 % 2 == 0 ? "\"tag_ids\": [\(ids)]" : "\"tags\": [{\"id\": 3}]" }, model())
        let link = try #require(try graph.model.entity(named: "User").relationship(named: "tags")).link
        #expect(graph[link].assertions.count == 1)
    }

    @Test(
        "Many unmapped keys are counted separately, even if they are alike",
        arguments: ["k", "temperature_measured_", "user_name_"])
    func countsManyUnmappedKeys(name: String) throws {
        let attributes = (0..<LongTests.count(100, many: 1000)).map { SyncModel.Attribute("value\($0)", .integer) }
        let graph = try graph(record { "\"\(name)\($0)_celsius\": 1, \"\(name)\($0)_celsius\": 2" }, model(attributes))
        #expect(graph.unmappedKeys.count == Self.count)
        #expect(graph.unmappedKeys.allSatisfy { $0.count == 2 })
    }

    @Test("Many attributes and relationships are each found by key")
    func findsManyProperties() throws {
        let names = (0..<LongTests.count(500, many: 3000)).map { "someValue\($0)" }
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "User",
                attributes: [SyncModel.Attribute("id", .integer)] + names.map { SyncModel.Attribute($0, .integer) },
                relationships: names.map { SyncModel.Relationship($0 + "Owner", to: "User") })
        ])
        let members = names.flatMap { ["\"\(Inflection.snakeCase($0))\": 1", "\"\($0)OwnerID\": 2"] }
        let graph = try graph("[{\"id\": 1, \(members.joined(separator: ", "))}]", model)
        #expect(graph.unmappedKeys == [])
        #expect(graph.links.reduce(0) { $0 + $1.assertions.count } == names.count)
    }

    @Test("Unmapped keys and inserted rows of many results are merged")
    func mergesManyResults() throws {
        var results = ResultAccumulator()
        for number in 0..<Self.count {
            var result = SyncResult(entity: "User")
            result.unmappedKeys = [
                .unmapped("k\(number)", of: "User", count: 1), .unmapped("x", of: "User", count: 1),
            ]
            result.entities["User", default: .init()].inserted = [.integer(Int64(number))]
            results.add(result)
        }
        let found = results.merged()
        let merged = try #require(found)
        #expect(merged.unmappedKeys.count == Self.count + 1)
        #expect(merged.unmappedKeys.first { $0.path == "x" }?.count == Self.count)
        #expect(merged["User"].inserted.count == Self.count)
    }
}
