import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Pushes to a changes endpoint without an answer, and the state of their rows until the next run.
@Suite(
    "In-doubt pushes to a stub of a changes endpoint",
    .enabled(if: RESTServer.isThere, "make services builds the server"))
struct WatermelonLostResponseTests {
    private static let schema = Device.schema.replacingOccurrences(
        of: "\"remoteID\": {\"type\": \"integer\"}", with: "\"remoteID\": {\"type\": \"string\"}")

    private func device(_ space: RESTSpace, _ configuration: SyncEngine.Configuration = Device.configuration) throws
        -> Device
    {
        try Device(WatermelonService(url: space.url.appendingPathComponent("sync")), schema: Self.schema, configuration)
    }

    @Test(
        "A new row deleted before its push is answered is deleted on the service too",
        arguments: [true, false], [true, false])
    func deletedBeforeAnswer(_ wasDone: Bool, _ hasOwnKey: Bool) async throws {
        for pushesOnly in [true, false] {
            let space = try await RESTServer.shared.space(["dialect": "changes"])
            let (one, two) = (try device(space, Device.impatient), try device(space))
            try await one.engine.sync()
            for (title, key) in [("goes", "aaaaaaaaaaaaaaa1"), ("stays", "aaaaaaaaaaaaaaa2")] {
                if hasOwnKey {
                    try await one.write("INSERT INTO Task (remoteID, title) VALUES ('\(key)', '\(title)')")
                } else {
                    try await one.stack.insert("Task", values: ["title": .string(title)])
                }
            }
            // Request 1 is the pull, request 2 the push.
            let fault: JSONValue = ["at": 2, "kind": .string(wasDone ? "drop-after" : "drop-before")]
            try await space.put("_faults", [fault])
            await #expect(throws: SyncError.self) { try await one.engine.sync() }
            #expect(try await space.rows("tasks").count == (wasDone ? 2 : 0))
            try await one.write("DELETE FROM Task WHERE title = 'goes'")
            if pushesOnly { try await one.engine.push() }
            try await one.engine.sync()
            try await two.engine.sync()
            #expect(try await space.rows("tasks").compactMap { $0["title"] } == ["stays"])
            for device in [one, two] {
                #expect(try await device.rows("SELECT title FROM Task") == ["stays"])
                #expect(try await device.engine.sync().isEmpty)
                #expect(try await device.leftovers() == [])
            }
        }
    }
}
