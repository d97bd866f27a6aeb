import Foundation
import SyncCore
import TestSize
import Testing

/// Models of thousands of entities and properties. Each test takes about a second; with quadratic work it would take
/// minutes.
@Suite("Large models")
struct ManyEntitiesTests {
    @Test("A model of many entities that reference each other is compiled")
    func compilesManyEntities() throws {
        let count = LongTests.count(1000, many: 5000)
        let model = try SyncModel(
            entities: (0..<count).map { number in
                SyncModel.Entity(
                    "E\(number)", attributes: [SyncModel.Attribute("id", .integer)],
                    relationships: [
                        SyncModel.Relationship("next", to: "E\((number + 1) % count)", inverse: "previous"),
                        SyncModel.Relationship("previous", to: "E\((number + count - 1) % count)"),
                    ])
            })
        #expect(model.compiled.links.count == count)
        #expect(try SyncModel(schemaData: model.schemaFile()) == model)
    }

    @Test("Many subentities share one table")
    func manySubEntitiesShareOneTable() throws {
        let parent = SyncModel.Entity(
            "Parent",
            attributes: [SyncModel.Attribute("id", .integer)]
                + (0..<200).map { SyncModel.Attribute("a\($0)", .integer) })
        let count = LongTests.count(1000, many: 3000)
        let children = (0..<count).map {
            SyncModel.Entity("E\($0)", parent: "Parent", attributes: [SyncModel.Attribute("own\($0)", .string)])
        }
        let model = try SyncModel(entities: children + [parent])
        #expect(model.compiled.hierarchies.count == 1)
        #expect(try model.compiled.entity(named: "Parent").family.count == count + 1)
        #expect(try model.compiled.entity(named: "E7").slots.count == 202)
    }

    @Test("A model of many properties, with inverses and inherited ones, is compiled")
    func compilesManyProperties() throws {
        let names = (0..<LongTests.count(300, many: 5000)).map { "m\($0)" }
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "A",
                attributes: [SyncModel.Attribute("id", .integer)]
                    + names.map { SyncModel.Attribute("v" + $0, .string) },
                relationships: names.map { SyncModel.Relationship($0, to: "B", inverse: $0) }),
            SyncModel.Entity(
                "B", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: names.map { SyncModel.Relationship($0, to: "A") }),
            SyncModel.Entity("C", parent: "A", attributes: names.map { SyncModel.Attribute("w" + $0, .string) }),
        ])
        #expect(model.compiled.links.count == names.count)
    }

    @Test("An entity that inherits through more than 100 entities is rejected")
    func limitsInheritance() throws {
        let chain = (0..<LongTests.count(500, many: 3000)).map {
            SyncModel.Entity("E\($0)", parent: $0 == 0 ? nil : "E\($0 - 1)")
        }
        let error = try #require(throws: SyncError.self) { try SyncModel(entities: chain) }
        #expect(error.code == .invalidModel)
        #expect(error.problems.first?.message == "has more than 100 ancestors")
        #expect(throws: Never.self) { try SyncModel(entities: Array(chain.prefix(101))) }
    }
}
