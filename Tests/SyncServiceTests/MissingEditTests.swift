import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Rows that were edited or deleted locally, and that a listing of the service lacks.
@Suite("Edited rows missing from the service")
struct MissingEditTests {
    private let service = InMemoryService(
        ServiceCapabilities(
            idAssignment: .server, deletionDetection: .listing, createIdempotency: .idempotencyKey,
            supportsPreconditions: true, providesModificationTimes: true))

    private func device(_ policy: DeleteConflictPolicy) async throws -> Device {
        for id in 1...8 { await service.set("Task", JSONValue(id), ["title": .string("t\(id)")]) }
        let device = try Device(service, entities: [SyncedEntity("Task", deleteConflictPolicy: policy)])
        try await device.engine.sync()
        return device
    }

    @Test(
        "An edited row missing from a listing is deleted and logged, or created again with editWins",
        arguments: DeleteConflictPolicy.allCases, [false, true])
    func edited(_ policy: DeleteConflictPolicy, _ isBlocked: Bool) async throws {
        let device = try await device(policy)
        try await device.write("UPDATE Task SET title = 'mine' WHERE remoteID = 1")
        if isBlocked {
            try await device.write(
                """
                UPDATE sync_outbox SET state = 'blocked', reason = 'rejected', message = 'status 422: no',
                  rejections = 1, judged = seq
                """)
        }
        await service.remove("Task", 1)
        let report = try await device.engine.pull()
        #expect(report.total.pulledDeletes == (policy == .deleteWins ? 1 : 0))
        #expect(
            try await device.rows("SELECT title FROM Task WHERE remoteID = 1")
                == (policy == .deleteWins ? [] : ["mine"]))
        #expect(try await !device.engine.conflicts().isEmpty)
        try await device.engine.sync()
        let there = await service.contents(of: "Task").values.filter { $0["title"] == "mine" }
        #expect(there.count == (policy == .deleteWins ? 0 : 1))
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A locally deleted row missing from a listing needs no request to delete it",
        arguments: DeleteConflictPolicy.allCases)
    func deleted(_ policy: DeleteConflictPolicy) async throws {
        let device = try await device(policy)
        try await device.write("DELETE FROM Task WHERE remoteID = 1")
        try await device.write(
            """
            UPDATE sync_outbox SET state = 'blocked', reason = 'rejected', message = 'status 409: no',
              rejections = 1, judged = seq
            """)
        await service.remove("Task", 1)
        try await device.engine.pull()
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.conflicts().isEmpty)
    }

    @Test("Edited rows missing from a listing count for the deletion limit")
    func overLimit() async throws {
        let device = try await device(.deleteWins)
        for id in 9...30 { await service.set("Task", JSONValue(id), ["title": "t"]) }
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'mine'")
        for id in 1...25 { await service.remove("Task", JSONValue(id)) }
        await #expect {
            try await device.engine.pull()
        } throws: {
            ($0 as? SyncError)?.code == .deletionLimitExceeded
        }
        #expect(try await device.rows("SELECT count(*) FROM Task WHERE title = 'mine'") == ["30"])
    }

    @Test("A new row missing from a listing is not deleted")
    func newRow() async throws {
        let device = try await device(.deleteWins)
        try await device.stack.insert("Task", values: ["title": "new"])
        try await device.engine.pull()
        #expect(try await device.rows("SELECT count(*) FROM Task WHERE title = 'new'") == ["1"])
    }
}
