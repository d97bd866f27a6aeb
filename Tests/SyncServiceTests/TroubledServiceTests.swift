import Sync
import SyncTesting
import Testing

@testable import SyncService

/// The service of a random history.
@Suite("Service of a random history")
struct TroubledServiceTests {
    @Test("After a page without a hidden row, the cursor stays before the row, even if the row is listed meanwhile")
    func listedDuringPull() async throws {
        var omissions = 0
        for seed in 0..<20 {
            let memory = InMemoryService(
                ServiceCapabilities(
                    idAssignment: .client, deletionDetection: .tombstones, createIdempotency: .clientID,
                    supportsPreconditions: true, providesModificationTimes: true, maxBatchSize: 10), pageSize: 1)
            let troubles = HistoryTroubles([.bodiless])
            let service = TroubledService(memory, troubles, HistoryLedger(), [.bodiless])
            await troubles.begin(UInt64(seed))
            for id in ["a", "b"] {
                _ = try await service.push([
                    PushOperation(
                        entity: "Task", kind: .create, id: .string(id), record: ["title": "t"], version: nil,
                        idempotencyKey: id)
                ])
            }
            let first = try await service.pull(PullRequest(entity: "Task", cursor: nil))
            if first.records.isEmpty { omissions += 1 }
            await service.listHiddenRows()
            let last = try await service.pull(PullRequest(entity: "Task", cursor: nil, page: first.nextPage))
            var next = try await service.pull(PullRequest(entity: "Task", cursor: last.cursor))
            var pulled = first.records + last.records + next.records
            while let page = next.nextPage {
                next = try await service.pull(PullRequest(entity: "Task", cursor: last.cursor, page: page))
                pulled += next.records
            }
            #expect(Set(pulled.map(\.id)) == ["a", "b"], "seed \(seed)")
        }
        #expect(omissions > 0)
    }
}
