import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Rows that were deleted there and edited on several devices, each of which brings them back (`editWins`).
@Suite("A row that several devices bring back")
struct RevivedRowTests {
    private static let ways: [ServiceCapabilities.CreateIdempotency] = [.key, .marker("marker")]

    private static func service(_ way: ServiceCapabilities.CreateIdempotency) -> FakeService {
        FakeService(
            ServiceCapabilities(
                ids: way == .clientID ? .client : .server, deletions: .tombstones, createIdempotency: way,
                hasPreconditions: true, givesTimes: true, batchSize: 10))
    }

    private static func device(
        _ service: FakeService, _ policy: ConflictPolicy = .clientWins, groups: [[String]] = []
    ) async throws -> Device {
        let entities = ["Project", "Task", "Tag"].map {
            SyncedEntity($0, policy: policy, deleteConflicts: .editWins, groups: $0 == "Task" ? groups : [])
        }
        let device = try Device(service, entities: entities)
        try await device.engine.sync()
        return device
    }

    /// Refuses the next pushes.
    private static func refuse(_ device: Device, _ service: FakeService, _ count: Int) async throws {
        await service.setFault { request, _ in
            if case .push = request { .refuse } else { nil }
        }
        for number in 0..<count {
            if number > 0 {
                try await device.write("UPDATE Task SET points = coalesce(points, 0) + 1 WHERE remoteID = 1")
            }
            try await device.engine.sync()
            #expect(try await device.engine.parkedRows().count == 1)
        }
        await service.setFault(nil)
    }

    @Test(
        "is one row, also if an edit of one of them was refused before, or the first try to bring it back",
        arguments: ways, [1, 2])
    func refusedBefore(_ way: ServiceCapabilities.CreateIdempotency, _ refusals: Int) async throws {
        for isRevivalRefused in [false, true] {
            let service = Self.service(way)
            await service.put("Task", 1, ["title": "t"])
            await service.put("Task", 2, ["title": "other"])
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
}
