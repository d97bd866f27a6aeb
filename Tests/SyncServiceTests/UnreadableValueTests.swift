import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

@Suite("Values that the model cannot read")
struct UnreadableValueTests {
    private static let schema = """
        {"entities": {"Thing": {"attributes": {"remoteID": {"type": "integer"}, "at": "date", "what": "json", "who": "uuid",
          "price": "decimal", "count": "integer", "title": "string"}}}}
        """

    private static func service(requiresCompleteRecords: Bool) -> InMemoryService {
        InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .idempotencyKey,
                supportsPreconditions: true, providesModificationTimes: true,
                maxBatchSize: 10, requiresCompleteRecords: requiresCompleteRecords))
    }

    @Test(
        "A local value that the model cannot read blocks its change and is not sent as null",
        arguments: [
            "at = 'garbage'", "what = 'no json'", "who = 'x'", "price = '1,5'",
        ])
    func blocked(_ set: String) async throws {
        let service = InMemoryService()
        let record: JSONValue = [
            "at": "2026-11-24T08:00:00Z", "what": ["a": 1], "who": "6F9619FF-8B86-D011-B42D-00C04FC964FF",
            "price": "1.5",
            "count": 1, "title": "t",
        ]
        for id in 1...2 { await service.set("Thing", JSONValue(id), record) }
        let device = try Device(service, schema: Self.schema, entities: ["Thing"])
        try await device.engine.sync()
        try await device.write("UPDATE Thing SET \(set) WHERE remoteID = 1")
        try await device.write("UPDATE Thing SET title = 'edited', what = 'null' WHERE remoteID = 2")
        let before = await service.contents(of: "Thing")[1]
        #expect(try await device.engine.sync().total.pushedUpdates == 1)
        #expect(await service.contents(of: "Thing")[1] == before)
        let name = set.prefix { $0 != " " }
        #expect(
            try await device.engine.blockedChanges().first?.reason.contains("the value of '\(name)' is not of type")
                == true
        )
        try await device.write("UPDATE Thing SET \(name) = NULL WHERE remoteID = 1")
        try await device.engine.sync()
        #expect(try await device.leftovers() == [])
    }

    @Test("Unreadable values of the service are preserved if rows are sent whole", arguments: [true, false])
    func there(_ sendsWholeRows: Bool) async throws {
        let service = Self.service(requiresCompleteRecords: sendsWholeRows)
        let record: JSONValue = [
            "at": "next monday", "who": "nobody", "price": "1,50 €", "count": .number("10000000000000000000000000"),
            "title": "t",
        ]
        await service.set("Thing", 1, record)
        let entity = sendsWholeRows ? SyncedEntity("Thing") : .mergingWholeRow("Thing")
        let device = try Device(service, schema: Self.schema, entities: [entity])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT at, who, price, count FROM Thing") == ["nil nil nil nil"])
        try await device.write("UPDATE Thing SET title = 'mine'")
        try await device.engine.sync()
        for name in ["at", "who", "price", "count"] {
            #expect(await service.contents(of: "Thing")[1]?[name] == record[name])
        }
        #expect(await service.contents(of: "Thing")[1]?["title"] == "mine")
        // Edited values are sent, and values that are readable now are not preserved.
        try await device.write("UPDATE Thing SET count = 7, title = 'again'")
        if sendsWholeRows { await service.set("Thing", 1, ["price": "2.5"]) }
        try await device.engine.sync()
        #expect(await service.contents(of: "Thing")[1]?["count"] == 7)
        #expect(await service.contents(of: "Thing")[1]?["price"] == (sendsWholeRows ? .number("2.5") : record["price"]))
        #expect(await service.contents(of: "Thing")[1]?["who"] == "nobody")
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "Unreadable values of the service are preserved in a row that is created again",
        arguments: ["key", "editWins", "reset"])
    func createdAgain(_ why: String) async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .client, deletionDetection: .tombstones, createIdempotency: .clientID,
                supportsPreconditions: true,
                providesModificationTimes: true, maxBatchSize: 10, requiresCompleteRecords: true))
        await service.set("Thing", 1, ["at": "next monday", "count": 1, "title": "t"])
        var configuration = Device.configuration
        configuration.deleteConflictPolicy = .editWins
        let device = try Device(service, schema: Self.schema, entities: ["Thing"], configuration)
        try await device.engine.sync()
        switch why {
        case "key": try await device.write("UPDATE Thing SET remoteID = 2")
        case "editWins":
            try await device.write("UPDATE Thing SET title = 'mine'")
            await service.remove("Thing", 1)
        default:
            try await device.engine.reset(.remoteState)
            await service.removeWithoutTombstone("Thing", 1)
        }
        try await device.engine.sync()
        let rows = await service.contents(of: "Thing")
        #expect(rows.count == 1)
        #expect(rows.values.first?["at"] == "next monday")
        #expect(rows.values.first?["count"] == 1)
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "An unreadable value follows the key of its row, whatever the conflict clause of the statement",
        arguments: ["", "OR IGNORE", "OR REPLACE", "OR ABORT", "OR FAIL", "OR ROLLBACK"])
    func movedKey(_ clause: String) async throws {
        let service = Self.service(requiresCompleteRecords: true)
        await service.set("Thing", 1, ["at": "first monday", "title": "a"])
        await service.set("Thing", 2, ["at": "second monday", "title": "b"])
        let device = try Device(service, schema: Self.schema, entities: ["Thing"])
        try await device.engine.sync()
        try await device.write("DELETE FROM Thing WHERE remoteID = 2")
        try await device.write("UPDATE \(clause) Thing SET remoteID = 2 WHERE remoteID = 1")
        #expect(try await device.rows("SELECT remoteID, title FROM Thing") == ["2 a"])
        #expect(try await device.rows("SELECT k, value FROM sync_unreadable") == ["2 \"first monday\""])
        try await device.engine.sync()
        #expect(try await device.leftovers() == [])
    }
}
