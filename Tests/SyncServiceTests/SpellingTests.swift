import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Strings that are equal in Swift and different in SQLite and in services.
@Suite("Unicode normalization")
struct SpellingTests {
    private static let composed = "caf\u{e9}"
    private static let decomposed = "cafe\u{301}"

    @Test(
        "Differently normalized keys are two rows, and a differently normalized value is an edit",
        arguments: [false, true])
    func apart(_ isOneDomain: Bool) async throws {
        let service = InMemoryService()
        for id in [Self.composed, Self.decomposed] { await service.set("Thing", .string(id), ["title": .string(id)]) }
        let schema =
            #"{"entities": {"Thing": {"attributes": {"remoteID": "string", "title": "string", "count": "integer"}}}}"#
        let entity = isOneDomain ? SyncedEntity.mergingWholeRow("Thing") : "Thing"
        let device = try Device(service, schema: schema, entities: [entity])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Thing") == ["2"])
        try await device.write("UPDATE Thing SET count = length(remoteID)")
        for id in [Self.composed, Self.decomposed] { await service.set("Thing", .string(id), ["note": "theirs"]) }
        try await device.engine.sync()
        #expect(await service.contents(of: "Thing")[.string(Self.composed)]?["count"] == 4)
        #expect(await service.contents(of: "Thing")[.string(Self.decomposed)]?["count"] == 5)
        try await device.stack.write { db in
            try db.execute(
                sql: "UPDATE Thing SET title = ? WHERE remoteID = ?", arguments: [Self.decomposed, Self.composed])
        }
        try await device.engine.sync()
        let title = await service.contents(of: "Thing")[.string(Self.composed)]?["title"]
        #expect(title == .string(Self.decomposed))
        #expect(try await device.leftovers() == [])
    }
}
