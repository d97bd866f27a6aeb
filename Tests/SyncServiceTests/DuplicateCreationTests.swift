import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Rows that were created locally and also exist on the service.
@Suite("Rows created locally and on the service")
struct DuplicateCreationTests {
    @Test("A pulled record with the marker of any attempt is the local row", arguments: ["", "-1"])
    func marker(_ attempt: String) async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .markerField("client_ref"),
                supportsPreconditions: true,
                providesModificationTimes: true))
        let device = try Device(service)
        try await device.stack.insert("Task", values: ["title": "mine"])
        // An older copy of the store sent the create.
        let birth = try #require(try await device.rows("SELECT creation_id FROM sync_outbox").first)
        await service.set("Task", 9, ["title": "mine", "points": .null, "client_ref": .string(birth + attempt)])
        try await device.write("UPDATE Task SET points = 5")
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, title, points FROM Task") == ["9 mine 5"])
        #expect(await service.creations == 0)
        #expect(await service.contents(of: "Task")[9]?["points"] == 5)
        #expect(try await device.leftovers() == [])
    }

    @Test("A pulled record is the new row also if the page has other records", arguments: [false, true])
    func amongOthers(_ hasNaturalKey: Bool) async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .markerField("client_ref"),
                supportsPreconditions: true, providesModificationTimes: true))
        let task = hasNaturalKey ? SyncedEntity("Task", naturalKey: ["title"]) : "Task"
        let device = try Device(service, entities: ["Project", task, "Tag"])
        try await device.stack.insert("Task", values: ["title": "mine"])
        try await device.write("UPDATE Task SET points = 5")
        let id = try #require(try await device.rows("SELECT creation_id FROM sync_outbox").first)
        for other in 1...3 { await service.set("Task", JSONValue(other), ["title": .string("other \(other)")]) }
        await service.set(
            "Task", 9, ["title": "mine", "points": .null, "client_ref": hasNaturalKey ? .null : .string(id)])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, points FROM Task WHERE title = 'mine'") == ["9 5"])
        #expect(await service.creations == 0)
        #expect(await service.contents(of: "Task")[9]?["points"] == 5)
        #expect(try await device.leftovers() == [])
    }

    @Test("A new row whose key is the ID of another record stays a row of its own, also with a natural key")
    func unrelated() async throws {
        let service = InMemoryService()
        await service.set("Task", 1, ["title": "theirs", "points": 4])
        await service.set("Task", 2, ["title": "mine", "points": 4])
        let device = try Device(service, entities: ["Project", SyncedEntity("Task", naturalKey: ["title"]), "Tag"])
        try await device.write("INSERT INTO Task (title, points) VALUES ('mine', 5), ('other', 6)")
        try await device.engine.sync()
        #expect(
            try await device.rows("SELECT title, points FROM Task ORDER BY 1") == ["mine 5", "other 6", "theirs 4"])
        #expect(await service.contents(of: "Task")[1]?["title"] == "theirs")
        #expect(await service.contents(of: "Task")[2]?["points"] == 5)
        #expect(await service.creations == 1)
        #expect(try await device.leftovers() == [])
    }

    @Test("A new row with the natural key of a deleted row does not replace the deletion")
    func deletedBefore() async throws {
        let service = InMemoryService()
        await service.set("Task", 1, ["title": "mine", "points": 4])
        let device = try Device(service, entities: ["Project", SyncedEntity("Task", naturalKey: ["title"]), "Tag"])
        try await device.engine.sync()
        try await device.write("DELETE FROM Task; INSERT INTO Task (remoteID, title, points) VALUES (70, 'mine', 5)")
        await service.set("Task", 1, ["title": "mine", "points": 4])
        try await device.engine.sync()
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title, points FROM Task") == ["mine 5"])
        #expect(await service.contents(of: "Task").values.map { $0["points"] } == [5])
        #expect(try await device.leftovers() == [])
    }

    @Test("A blocked create is unblocked if its record is pulled")
    func unblocked() async throws {
        let service = InMemoryService()
        let device = try Device(service, entities: ["Project", SyncedEntity("Task", naturalKey: ["title"]), "Tag"])
        try await device.stack.insert("Task", values: ["title": "mine", "points": 5])
        try await device.write(
            """
            UPDATE sync_outbox SET state = 'blocked', reason = 'rejected', message = 'there is one',
              rejections = 2
            """)
        await service.set("Task", 9, ["title": "mine", "points": 4])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, title, points FROM Task") == ["9 mine 5"])
        #expect(await service.contents(of: "Task")[9]?["points"] == 5)
        #expect(try await device.leftovers() == [])
    }

    /// How a local row turns out to be a record of the service.
    enum Way: CaseIterable {
        case id, naturalKey, lostAnswer
    }

    /// Creates a row locally, dated one hour ago, and on the service, changed the given number of minutes ago.
    private func twin(
        _ way: Way, _ policy: ConflictPolicy, theirs: JSONValue, minutes: Double, later: String? = nil,
        isWhole: Bool = false
    ) async throws -> (device: Device, row: JSONValue?) {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: way == .naturalKey ? .server : .client, deletionDetection: .tombstones,
                createIdempotency: way == .naturalKey ? .idempotencyKey : .clientID, supportsPreconditions: true,
                providesModificationTimes: true))
        let task = SyncedEntity(
            "Task", conflictPolicy: policy, mergesWholeRow: isWhole, naturalKey: way == .naturalKey ? ["done"] : [])
        let device = try Device(service, entities: [task])
        try await device.engine.sync()
        try await device.write(
            "INSERT INTO Task (remoteID, title, done) VALUES (\(way == .naturalKey ? -1 : 5), 'mine', 1)")
        if way == .lostAnswer {
            let loss = LostAnswer()
            await service.setFault { request, _ in loss.fault(request) }
            await #expect(throws: (any Error).self) {
                try await Device(device.stack, service, entities: [task], Device.impatient).engine.push()
            }
            await service.setFault(nil)
        }
        try await device.write("UPDATE sync_made SET edited = edited - 3600000")
        if let later { try await device.write(later) }
        await service.set("Task", 5, theirs, time: Date(timeIntervalSinceNow: -60 * minutes))
        try await device.engine.sync()
        #expect(try await device.leftovers() == [])
        return (device, await service.contents(of: "Task")[5])
    }

    @Test(
        "With lastWriterWins, each column has the time of its last write or of its row's creation",
        arguments: Way.allCases, [30.0, 90])
    func times(_ way: Way, _ minutes: Double) async throws {
        let isLaterThere = minutes < 60
        let (device, row) = try await twin(
            way, .lastWriterWins, theirs: ["title": "theirs", "points": 7, "done": true], minutes: minutes,
            later: "UPDATE Task SET points = 8")
        #expect(row?["title"] == (isLaterThere ? "theirs" : "mine"))
        // The column was written just now.
        #expect(row?["points"] == 8)
        #expect(try await device.rows("SELECT title, points FROM Task") == [isLaterThere ? "theirs 8" : "mine 8"])
        let log = try await device.engine.conflicts().filter { $0.field == "title" }
        #expect(log.map(\.why) == ["the \(isLaterThere ? "remote" : "local") edit is later"])
    }

    @Test(
        "With lastWriterWins, columns that were never written take the remote value", arguments: Way.allCases,
        [30.0, 90])
    func neverSet(_ way: Way, _ minutes: Double) async throws {
        let theirs: JSONValue = ["title": "mine", "points": 7, "done": true]
        var (device, row) = try await twin(way, .lastWriterWins, theirs: theirs, minutes: minutes)
        #expect(row?["points"] == 7)
        #expect(try await device.rows("SELECT points FROM Task") == ["7"])
        // Writing null is an edit.
        (device, row) = try await twin(
            way, .lastWriterWins, theirs: theirs, minutes: minutes,
            later: "UPDATE Task SET points = 1; UPDATE Task SET points = NULL")
        #expect(row?["points"] == .null)
        #expect(try await device.rows("SELECT points FROM Task") == ["nil"])
    }

    @Test(
        "With lastWriterWins and one field for each row, the row has the time of its last write",
        arguments: Way.allCases)
    func wholeRows(_ way: Way) async throws {
        for later in [nil, "UPDATE Task SET points = 8"] {
            let (_, row) = try await twin(
                way, .lastWriterWins, theirs: ["title": "theirs", "points": 7, "done": true], minutes: 30, later: later,
                isWhole: true)
            #expect(row?["title"] == (later == nil ? "theirs" : "mine"))
            #expect(row?["points"] == (later == nil ? 7 : 8))
        }
    }

    @Test("Other policies ignore the times", arguments: [ConflictPolicy.clientWins, .serverWins])
    func otherPolicies(_ policy: ConflictPolicy) async throws {
        let (_, row) = try await twin(
            .id, policy, theirs: ["title": "theirs", "points": 7, "done": true], minutes: 30)
        #expect(row?["title"] == (policy == .clientWins ? "mine" : "theirs"))
    }
}

/// Carries out the first push, loses its answer, and is busy afterwards.
final class LostAnswer: @unchecked Sendable {
    private let lock = NSLock()
    private var isOver = false

    func fault(_ request: InMemoryService.Request) -> InMemoryService.Fault? {
        lock.withLock {
            if isOver { return .busy }
            guard case .push = request else { return nil }
            isOver = true
            return .failsAfterApply
        }
    }
}
