import Foundation
import GRDB
import Sync
import Testing

/// `syncdb schema swift` writes the types in `Models` from the fixture models. `.ci/check-macros` compares them.
@Suite("Models of Swift types")
struct FixtureModelTests {
    private static let models = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../../Fixtures/Models").standardizedFileURL

    private static func model(_ name: String) throws -> SyncModel {
        try SyncModel(contentsOf: models.appendingPathComponent("\(name).json"))
    }

    @Test(
        "A model of Swift types equals that of the schema file",
        arguments: [
            ("archive", Archive.syncModel),
            ("blog", Blog.syncModel),
            ("company", Company.syncModel),
            ("depot", Depot.syncModel),
            ("fleet", Fleet.syncModel),
            ("forge", Forge.syncModel),
            ("forge-flat", Forgeflat.syncModel),
            ("garage", Garage.syncModel),
            ("harbour", Harbour.syncModel),
            ("household", Household.syncModel),
            ("iso-codes", Isocodes.syncModel),
            ("library", Library.syncModel),
            ("orchard", Orchard.syncModel),
            ("press", Press.syncModel),
            ("rides", Rides.syncModel),
            ("shapes", Shapes.syncModel),
            ("station", Station.syncModel),
            ("studio", Studio.syncModel),
            ("studio-renamed", Studiorenamed.syncModel),
            ("studio-untitled", Studiountitled.syncModel),
            ("tasks", Tasks.syncModel),
            ("village", Village.syncModel),
            ("zoo", Zoo.syncModel),
            ("zoo-ids", Zooids.syncModel),
        ] as [(String, @Sendable () throws -> SyncModel)])
    func modelEqualsSchemaFile(name: String, model: @Sendable () throws -> SyncModel) throws {
        let (typed, file) = (try model(), try Self.model(name))
        #expect(typed.entities.map(\.name) == file.entities.map(\.name))
        for (typed, file) in zip(typed.entities, file.entities) { #expect(typed == file) }
        #expect(typed == file)
    }

    @Test("Generated records without Sync read the rows of a sync and write the same rows")
    func recordsWithoutSync() async throws {
        let stack = try DataStack.inMemory(Self.model("zoo"))
        let json = #"""
            [{"id": 1, "badge-number": "b", "animals": [], "deputy": {"id": 2, "badge-number": null}}]
            """#
        try await Sync.changes(Data(json.utf8), inEntity: "Keeper", stack: stack)
        let uuid = "6F9619FF-8B86-D011-B42D-00CF4FC964FF"
        let parrots =
            #"[{"id": "\#(uuid)", "name": "Polly", "weight": 0.25, "canFly": true, "vocabulary": ["hi"], "keeper_id": 1}]"#
        try await Sync.changes(Data(parrots.utf8), inEntity: "Parrot", stack: stack)
        let polly = try await stack.writer.write { db throws in
            let polly = try #require(try ZooRecords.Parrot.fetchOne(db))
            try db.execute(sql: "DELETE FROM Animal")
            try polly.insert(db)
            return polly
        }
        #expect(polly.id.uuidString == uuid)
        #expect(polly.weight == "0.25")
        #expect(polly.vocabulary == #"["hi"]"#)
        #expect(polly.keeperID == 1)
        let again = try await Sync.changes(Data(parrots.utf8), inEntity: "Parrot", stack: stack)
        #expect(again["Parrot"].isEmpty)
        #expect(again["Parrot"].unchangedCount == 1)
    }
}
