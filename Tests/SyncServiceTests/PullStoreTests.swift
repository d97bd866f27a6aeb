import Foundation
import MemoryStore
import Sync
import SyncCore
import SyncStore
import SyncTesting
import Testing

@testable import SyncService

/// `Sync.importPages` into a store without an outbox: dictionaries in memory.
@Suite("Imports into a store without an outbox")
struct PullStoreTests {
    private let stack: MemoryStack

    init() throws { stack = try MemoryStack(SyncModel(schemaData: Data(Device.schema.utf8))) }

    /// A service whose deletions only a listing of its IDs shows.
    private static let listing = ServiceCapabilities(
        idAssignment: .server, deletionDetection: .listing, createIdempotency: .idempotencyKey,
        supportsPreconditions: true, providesModificationTimes: true)

    private func setTasks(_ ids: ClosedRange<Int>, _ service: InMemoryService) async {
        for id in ids { await service.set("Task", JSONValue(id), ["title": .string("t\(id)")]) }
    }

    /// Checks that the store has the records of the service, and no others.
    private func expectAllRecords(of service: InMemoryService) async {
        let (stored, there) = await (stack.pulled.records(of: "Task"), service.contents(of: "Task"))
        #expect(stored == there)
    }

    @discardableResult
    private func importTasks(
        _ service: InMemoryService, _ configuration: SyncEngine.Configuration = Device.impatient,
        progress: (@Sendable (Int, Int?) -> Void)? = nil
    ) async throws -> SyncReport.Changes {
        try await Sync.importPages(
            from: service, entity: "Task", stack: stack, configuration: configuration, progress: progress
        ).total
    }

    @Test("The first import stores all records, and the next import the changes since its cursor")
    func changes() async throws {
        let service = InMemoryService()
        await setTasks(1...7, service)
        let counts = Locked<[Int]>([])
        let first = try await importTasks(service) { count, _ in counts.withLock { $0.append(count) } }
        #expect(first.pulledInserts == 7)
        #expect(counts.value == [3, 6, 7])
        await expectAllRecords(of: service)
        await service.deleteRequests()
        await service.set("Task", 2, ["title": "changed"])
        await service.remove("Task", 3)
        let second = try await importTasks(service)
        #expect(second.pulledInserts == 0 && second.pulledUpdates == 1 && second.pulledDeletes == 1)
        #expect(await service.requests == [.pull("Task")])
        await expectAllRecords(of: service)
        #expect(try await importTasks(service).isEmpty)
    }

    @Test("An import that is interrupted at each page continues at that page")
    func interrupted() async throws {
        let service = InMemoryService()
        await setTasks(1...7, service)
        await service.setFault { _, number in number == 2 ? .failsBeforeApply : nil }
        for count in [3, 6] {
            await service.deleteRequests()
            let error = await #expect(throws: SyncError.self) { try await importTasks(service) }
            #expect(error?.code == .serviceUnavailable)
            #expect(await stack.pulled.records(of: "Task").count == count)
        }
        await service.deleteRequests()
        #expect(try await importTasks(service).pulledInserts == 1)
        #expect(await service.requests == [.pull("Task")])
        await expectAllRecords(of: service)
    }

    @Test("A pull of all records that is interrupted deletes nothing, and deletes the rows that it lacks at its end")
    func fullListing() async throws {
        let service = InMemoryService()
        await setTasks(1...6, service)
        try await importTasks(service)
        await service.removeWithoutTombstone("Task", 1)
        await setTasks(7...7, service)
        await stack.pulled.deleteCursors()
        await service.deleteRequests()
        await service.setFault { _, number in number == 2 ? .failsBeforeApply : nil }
        await #expect(throws: SyncError.self) { try await importTasks(service) }
        #expect(await stack.pulled.records(of: "Task").keys.contains(1))
        await service.setFault(nil)
        await service.deleteRequests()
        let changes = try await importTasks(service)
        #expect(changes.pulledInserts == 1 && changes.pulledDeletes == 1)
        // The rest of the pull, then the missing row.
        #expect(await service.requests == [.pull("Task"), .fetch([1], "Task")])
        await expectAllRecords(of: service)
    }

    @Test("The deletion limit keeps rows that a listing of IDs lacks")
    func deletionLimit() async throws {
        let service = InMemoryService(Self.listing)
        await setTasks(1...20, service)
        var configuration = Device.impatient
        try await importTasks(service, configuration)
        for id in 1...11 { await service.remove("Task", JSONValue(id)) }
        for _ in 1...2 {
            let error = await #expect(throws: SyncError.self) { try await importTasks(service, configuration) }
            #expect(error?.code == .deletionLimitExceeded && error?.entity == "Task")
            #expect(await stack.pulled.records(of: "Task").count == 20)
        }
        configuration.deletionLimit = .rows(11)
        #expect(try await importTasks(service, configuration).pulledDeletes == 11)
        await expectAllRecords(of: service)
    }
}
