import Foundation
import SyncCore
import TestSize
import Testing

@testable import SyncTools

/// Models and objects of thousands of members. With quadratic work these tests would take minutes.
@Suite("Validation of many members")
struct ManyMembersTests {
    @Test("Many properties with inverses are validated")
    func validatesManyInverses() throws {
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
        #expect(model.validate().filter { $0.kind == .missingInverse } == [])
    }

    @Test("Many relationships without an inverse are reported, each with a few candidates")
    func reportsManyMissingInverses() throws {
        let count = LongTests.count(300, many: 3000)
        let names = (0..<count).map { "m\($0)" }
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "A", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: names.map { SyncModel.Relationship($0, to: "B") }),
            SyncModel.Entity(
                "B", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: names.map { SyncModel.Relationship($0, to: "A") }),
        ])
        let found = model.validate().filter { $0.kind == .missingInverse }
        #expect(found.count == 2 * count)
        #expect(
            found.first?.message
                == "A.m0 has no inverse, and B.m0 or B.m1 or B.m2 or B.m3 or B.m4 and \(count - 5) more could be it")
    }

    @Test("Hundreds of unmapped keys are compared with every name, and of thousands only the first")
    func limitsNameComparisons() throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "User",
                attributes: [SyncModel.Attribute("id", .integer)]
                    + (0..<LongTests.count(100, many: 1000)).map { SyncModel.Attribute("someValue\($0)", .integer) })
        ])
        let count = LongTests.count(200, many: 20_000)
        let members = (0..<count).map { "\"same_valu\($0)\": 1" }
        let found = try [SyncDiagnostic](
            validating: Data("[{\"id\": 1, \(members.joined(separator: ", "))}]".utf8), of: "User", in: model,
            hasParent: false,
            options: SyncOptions(), dryRun: SyncResult(entity: "User"))
        let unmapped = found.filter { $0.kind == .unmappedKey }
        #expect(unmapped.count == count)
        let compared = unmapped.prefix { $0.suggestion?.hasPrefix("did you mean 'someValue") ?? false }
        #expect(LongTests.areWanted ? (1..<count).contains(compared.count) : compared.count == count)
        #expect(
            unmapped.dropFirst(compared.count).allSatisfy { $0.suggestion == "add an attribute, or ignore the key" })
    }
}
