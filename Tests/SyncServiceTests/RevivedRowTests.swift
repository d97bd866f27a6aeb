import Foundation
import Sync
import SyncTesting
import TestSize
import Testing

@testable import SyncService

/// Rows that the service deleted and several devices edited; each device restores them (`editWins`).
@Suite("Rows restored by several devices")
struct RevivedRowTests {
    private static let ways: [ServiceCapabilities.CreateIdempotency] = [.idempotencyKey, .markerField("marker")]

    private static func service(
        _ way: ServiceCapabilities.CreateIdempotency, deletions: ServiceCapabilities.DeletionDetection = .tombstones
    ) -> InMemoryService {
        InMemoryService(
            ServiceCapabilities(
                idAssignment: way == .clientID ? .client : .server, deletionDetection: deletions,
                createIdempotency: way,
                supportsPreconditions: true, providesModificationTimes: true, maxBatchSize: 10))
    }

    private static func device(
        _ service: InMemoryService, _ policy: ConflictPolicy = .clientWins, groups: [[String]] = []
    ) async throws -> Device {
        let entities = ["Project", "Task", "Tag"].map {
            SyncedEntity(
                $0, conflictPolicy: policy, deleteConflictPolicy: .editWins, fieldGroups: $0 == "Task" ? groups : [])
        }
        let device = try Device(service, entities: entities)
        try await device.engine.sync()
        return device
    }

    /// Rejects the next pushes.
    private static func refuse(_ device: Device, _ service: InMemoryService, _ count: Int) async throws {
        await service.setFault { request, _ in
            if case .push = request { .refuse } else { nil }
        }
        for number in 0..<count {
            if number > 0 {
                try await device.write("UPDATE Task SET points = coalesce(points, 0) + 1 WHERE remoteID = 1")
            }
            try await device.engine.sync()
            #expect(try await device.engine.blockedChanges().count == 1)
        }
        await service.setFault(nil)
    }

    @Test(
        "A row that two devices restore is one row, even if an edit or the restoring create was rejected",
        arguments: ways, [1, 2])
    func rejectedBefore(_ way: ServiceCapabilities.CreateIdempotency, _ refusals: Int) async throws {
        for isRevivalRefused in [false, true] {
            let service = Self.service(way)
            await service.set("Task", 1, ["title": "t"])
            await service.set("Task", 2, ["title": "other"])
            let devices = [try await Self.device(service), try await Self.device(service)]
            for device in devices { try await device.write("UPDATE Task SET title = 'mine' WHERE remoteID = 1") }
            if isRevivalRefused { await service.remove("Task", 1) }
            try await Self.refuse(devices[0], service, refusals)
            if isRevivalRefused {
                try await devices[0].write("UPDATE Task SET done = 1 WHERE title = 'mine'")
            } else {
                await service.remove("Task", 1)
            }
            for device in devices + devices { try await device.engine.sync() }
            let titles = await service.contents(of: "Task").values.map { $0["title"] }
            #expect(titles.count == 2, "\(titles), \(isRevivalRefused)")
            #expect(await service.creations == 1)
            for device in devices {
                #expect(try await device.rows("SELECT count(*) FROM Task") == ["2"])
                #expect(try await device.leftovers() == [])
            }
        }
    }

    @Test("A restored row is one row, even if the other device's copy was pulled before the deletion was found")
    func pulledBefore() async throws {
        let service = Self.service(.idempotencyKey, deletions: .listing)
        await service.set("Project", 1, ["name": "p"])
        for id in 1...2 { await service.set("Task", JSONValue(id), ["title": "t"]) }
        let devices = [try await Self.device(service), try await Self.device(service)]
        await service.set("Project", 1, ["name": "renamed"])
        try await devices[1].engine.sync()
        // Each device moves a task below the project, and restores the project for it.
        for (number, device) in devices.enumerated() {
            try await device.write("UPDATE Task SET projectID = 1 WHERE remoteID = \(number + 1)")
        }
        await service.remove("Project", 1)
        for device in devices + devices { try await device.engine.sync() }
        #expect(await service.contents(of: "Project").count == 1)
        for device in devices {
            let tasks = "SELECT title FROM Task JOIN Project ON projectID = Project.remoteID"
            #expect(try await device.rows(tasks) == ["t", "t"])
            #expect(try await device.leftovers() == [])
        }
    }

    @Test("A row is restored again if its restored copy was deleted too")
    func revivalDeleted() async throws {
        for deletions in [ServiceCapabilities.DeletionDetection.listing, .tombstones] {
            let service = Self.service(.idempotencyKey, deletions: deletions)
            await service.set("Task", 1, ["title": "t"])
            let devices = [try await Self.device(service), try await Self.device(service)]
            for device in devices { try await device.write("UPDATE Task SET title = 'mine'") }
            await service.remove("Task", 1)
            try await devices[0].engine.sync()
            try await devices[0].write("DELETE FROM Task")
            try await devices[0].engine.sync()
            #expect(await service.contents(of: "Task").isEmpty)
            for device in devices.reversed() + devices { try await device.engine.sync() }
            #expect(await service.contents(of: "Task").values.map { $0["title"] } == ["mine"])
            for device in devices {
                #expect(try await device.rows("SELECT title FROM Task") == ["mine"])
                #expect(try await device.leftovers() == [])
            }
        }
    }

    @Test("Restoring a row resolves its open conflict with the local value")
    func openConflict() async throws {
        for way in Self.ways {
            let service = Self.service(way)
            await service.set("Task", 1, ["title": "t", "points": 1])
            let device = try await Self.device(service, .manual)
            try await device.write("UPDATE Task SET points = 2")
            await service.set("Task", 1, ["points": 3])
            try await device.engine.sync()
            #expect(try await device.engine.conflicts().map(\.winner) == ["open"])
            await service.remove("Task", 1)
            try await device.engine.sync()
            #expect(try await device.engine.conflicts().filter { $0.field == "points" }.map(\.winner) == ["local"])
            #expect(await service.contents(of: "Task").values.map { $0["points"] } == [2])
            #expect(try await device.rows("SELECT points FROM Task") == ["2"])
            #expect(try await device.leftovers() == [])
        }
    }

    @Test("Deleting the old copy of a row that another device restored keeps the restored row")
    func deletedUnderOldKey() async throws {
        let service = Self.service(.idempotencyKey)
        await service.set("Task", 1, ["title": "t"])
        let devices = [try await Self.device(service), try await Self.device(service)]
        try await devices[0].write("UPDATE Task SET title = 'first'")
        try await devices[1].write("UPDATE Task SET title = 'second'")
        await service.remove("Task", 1)
        try await devices[0].engine.sync()
        await service.setFault { request, _ in
            if case .push = request { .failsAfterApply } else { nil }
        }
        try await devices[1].engine.sync()
        await service.setFault(nil)
        #expect(try await devices[1].rows("SELECT title FROM Task ORDER BY title") == ["first", "second"])
        try await devices[1].write("DELETE FROM Task WHERE title = 'second'")
        for device in devices.reversed() { try await device.engine.sync() }
        #expect(await service.contents(of: "Task").values.map { $0["title"] } == ["first"])
        for device in devices {
            #expect(try await device.rows("SELECT title FROM Task") == ["first"])
            #expect(try await device.leftovers() == [])
        }
    }

    private static let row = """
        SELECT title, points, done, (SELECT group_concat(tagID) FROM (SELECT tagID FROM Tag_tasks ORDER BY tagID)) FROM Task
        """

    /// Returns two devices that have synced a task with two tags.
    private static func known(
        _ way: ServiceCapabilities.CreateIdempotency, _ policy: ConflictPolicy, groups: [[String]] = []
    ) async throws -> (service: InMemoryService, devices: [Device]) {
        let service = service(way)
        for id in 1...3 { await service.set("Tag", JSONValue(id), ["name": "g"]) }
        await service.set("Task", 1, ["title": "t", "points": 1, "done": false, "tag_ids": [1, 2]])
        var devices: [Device] = []
        for _ in 0..<2 { devices.append(try await device(service, policy, groups: groups)) }
        return (service, devices)
    }

    @Test(
        "A restored row has the edits of all devices with each policy, and no conflicts in unedited columns",
        arguments: ConflictPolicy.allCases, [0, 1, 2])
    func edits(_ policy: ConflictPolicy, _ place: Int) async throws {
        let way = ([.idempotencyKey, .markerField("marker"), .clientID] as [ServiceCapabilities.CreateIdempotency])[
            place]
        let cases = [false, true].flatMap { isPulledFirst in [[], [["points", "project"]]].map { (isPulledFirst, $0) } }
        for (isPulledFirst, groups) in LongTests.some(cases, every: 4, of: LongTests.number(policy) + place) {
            let (service, devices) = try await Self.known(way, policy, groups: groups)
            try await devices[0].write("UPDATE Task SET title = 'mine'")
            try await devices[0].write("INSERT INTO Tag_tasks (taskID, tagID) VALUES (1, 3)")
            try await devices[1].write("UPDATE Task SET points = 77; DELETE FROM Tag_tasks WHERE tagID = 1")
            await service.remove("Task", 1)
            if isPulledFirst {
                try await devices[1].engine.pull()
                // Another edit of the row to restore.
                try await devices[1].write("UPDATE Task SET done = 1")
            }
            for device in devices + devices { try await device.engine.sync() }
            let done = isPulledFirst ? "1" : "0"
            for device in devices {
                #expect(try await device.rows(Self.row) == ["mine 77 \(done) 2,3"], "\(isPulledFirst) \(groups)")
                #expect(try await device.engine.conflicts().allSatisfy { $0.field.isEmpty })
                #expect(try await device.leftovers() == [])
            }
            let rows = await service.contents(of: "Task")
            #expect(rows.count == 1)
            #expect(rows.values.first?["title"] == "mine" && rows.values.first?["points"] == 77)
            #expect(await service.creations == 1)
        }
    }

    @Test(
        "A restored row that two devices edited in the same column is merged by the policy",
        arguments: [(ConflictPolicy.clientWins, "B"), (.serverWins, "A"), (.lastWriterWins, "A")])
    func conflict(_ winner: (ConflictPolicy, String)) async throws {
        let ways: [ServiceCapabilities.CreateIdempotency] = [.idempotencyKey, .markerField("marker"), .clientID]
        for way in LongTests.some(ways, every: 3, of: LongTests.number(winner.0)) { try await conflict(winner, way) }
    }

    private func conflict(
        _ winner: (ConflictPolicy, String), _ way: ServiceCapabilities.CreateIdempotency
    ) async throws {
        let (service, devices) = try await Self.known(way, winner.0)
        try await devices[0].write("UPDATE Task SET title = 'A'")
        try await devices[1].write("UPDATE Task SET title = 'B'")
        // Date the edit before the restoring create.
        try await devices[1].write("UPDATE sync_base SET edited = edited - 3600000")
        await service.remove("Task", 1)
        for device in devices + devices { try await device.engine.sync() }
        #expect(await service.contents(of: "Task").values.map { $0["title"] } == [.string(winner.1)])
        let log = try await devices[1].engine.conflicts().filter { !$0.field.isEmpty }
        #expect(log.map(\.field) == ["title"])
        #expect(log.first?.base == "t" && log.first?.local == "B" && log.first?.remote == "A")
        for device in devices {
            #expect(try await device.rows("SELECT title FROM Task") == [winner.1])
            #expect(try await device.leftovers() == [])
        }
    }

    @Test("A row to restore that is deleted before it is sent leaves nothing over")
    func deletedAgain() async throws {
        let (service, devices) = try await Self.known(.idempotencyKey, .clientWins)
        try await devices[0].write("UPDATE Task SET title = 'mine'; DELETE FROM Tag_tasks WHERE tagID = 1")
        await service.remove("Task", 1)
        try await devices[0].engine.pull()
        try await devices[0].write("DELETE FROM Task")
        try await devices[0].engine.sync()
        #expect(await service.contents(of: "Task").isEmpty)
        #expect(try await devices[0].leftovers() == [])
    }
}
