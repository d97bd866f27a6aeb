import Foundation
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

    init() throws { stack = MemoryStack(try SyncModel(schemaData: Data(Device.schema.utf8))) }

    /// A service whose deletions only a listing of its IDs shows.
    private static let listing = ServiceCapabilities(
        idAssignment: .server, deletionDetection: .listing, createIdempotency: .idempotencyKey,
        supportsPreconditions: true, providesModificationTimes: true)

    private func setTasks(_ ids: ClosedRange<Int>, _ service: InMemoryService) async {
        for id in ids { await service.set("Task", JSONValue(id), ["title": .string("t\(id)")]) }
    }

    /// Checks that the store has the records of the service, and no others.
    private func expectAllRecords(of service: InMemoryService) async {
        let (stored, there) = await (stack.store.records(of: "Task"), service.contents(of: "Task"))
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
            #expect(await stack.store.records(of: "Task").count == count)
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
        await stack.store.deleteCursors()
        await service.deleteRequests()
        await service.setFault { _, number in number == 2 ? .failsBeforeApply : nil }
        await #expect(throws: SyncError.self) { try await importTasks(service) }
        #expect(await stack.store.records(of: "Task").keys.contains(1))
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
            #expect(await stack.store.records(of: "Task").count == 20)
        }
        configuration.deletionLimit = .rows(11)
        #expect(try await importTasks(service, configuration).pulledDeletes == 11)
        await expectAllRecords(of: service)
    }
}

/// A stack without an outbox.
private final class MemoryStack: SyncStack, StoreHost {
    let model: SyncModel
    let syncLimit = SyncLimit()
    let feed = Feed<SyncResult>()
    let store = MemoryStore()
    private static let refusal = SyncError(.invalidOption, "the store only imports pages")

    init(_ model: SyncModel) { self.model = model }

    var host: SyncHost { SyncHost(self) }

    func withReader<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        throw Self.refusal
    }

    func writing<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreWriter) throws -> Result
    ) async throws -> Result {
        throw Self.refusal
    }

    func pullStore(_ registration: EngineRegistration) throws -> any PullStore { store }

    func engineStore(_ registration: EngineRegistration) throws -> any EngineStore { throw Self.refusal }
}

/// The records of a service, and where their import continues.
private actor MemoryStore: PullStore {
    private struct Entity {
        var records: [JSONValue: RemoteRecord] = [:]
        var cursor: String?
        var nextPage: String?
        /// The IDs in a listing whose missing rows are not deleted yet; nil if there is none.
        var listing: Set<JSONValue>?
        var lastListing: Int64?
        /// The rows that the service reported as deleted.
        var reported: Set<JSONValue> = []
        /// The rows that a listing lacks.
        var missing: Set<JSONValue> = []

        /// Deletes rows, and returns their number.
        mutating func delete(_ ids: Set<JSONValue>) -> Int { ids.count { records.removeValue(forKey: $0) != nil } }
    }

    private var entities: [String: Entity] = [:]
    private var lease = EngineLease(token: 0)
    private var isHeld = false
    private var delay: (notBefore: Int64?, attempts: Int) = (nil, 0)

    func records(of entity: String) -> [JSONValue: JSONValue] {
        (entities[entity]?.records ?? [:]).compactMapValues(\.record)
    }

    func deleteCursors() {
        for entity in entities.keys { entities[entity]?.cursor = nil }
    }

    private func check(_ lease: EngineLease) throws {
        guard isHeld, lease.token == self.lease.token else { throw SyncError(.engineBusy, "another import runs") }
    }

    // MARK: PullStore

    func begin(holder: String) throws -> RunState {
        guard !isHeld else { throw SyncError(.engineBusy, "another import runs") }
        isHeld = true
        lease = EngineLease(token: lease.token + 1)
        return RunState(lease: lease, cursors: cursors(), notBefore: delay.notBefore, attempts: delay.attempts)
    }

    func renew(_ lease: EngineLease) throws { try check(lease) }

    func cursors() -> [String: PullState] {
        entities.mapValues { entity in
            PullState(
                cursor: entity.cursor, next: entity.nextPage, lastListing: entity.lastListing,
                hasUnprocessedListing: entity.cursor != nil && entity.nextPage == nil && entity.listing != nil)
        }
    }

    func apply(_ pages: [PulledPage], _ lease: EngineLease) throws -> SyncReport {
        try check(lease)
        var report = SyncReport()
        for page in pages {
            var entity = entities[page.entity] ?? Entity()
            for row in page.rows {
                guard row.record != nil else {
                    entity.reported.insert(row.id)
                    continue
                }
                entity.reported.remove(row.id)
                if page.pull?.isFullListing == true { entity.listing?.insert(row.id) }
                let known = entity.records.updateValue(row, forKey: row.id)
                if known == nil {
                    report[page.entity].pulledInserts += 1
                } else if known?.record != row.record {
                    report[page.entity].pulledUpdates += 1
                }
            }
            if let pull = page.pull {
                if pull.nextPage == nil { entity.cursor = pull.cursor }
                entity.nextPage = pull.nextPage
            }
            entities[page.entity] = entity
        }
        return report
    }

    func clearNextPage(of entity: String, _ lease: EngineLease) throws {
        try check(lease)
        entities[entity]?.nextPage = nil
    }

    func beginListing(of entity: String, _ lease: EngineLease) throws {
        try check(lease)
        entities[entity, default: Entity()].listing = []
        entities[entity]?.missing = []
    }

    func insertListed(_ listed: [ListedRecord], of entity: String, _ lease: EngineLease) throws -> ListingDifference {
        try check(lease)
        var difference = ListingDifference()
        for row in listed {
            entities[entity]?.listing?.insert(row.id)
            guard let known = entities[entity]?.records[row.id] else {
                difference.unknown.append(row.id)
                continue
            }
            if let version = row.version, version != known.version { difference.outdated.append(row.id) }
        }
        return difference
    }

    func missing(from entity: String, _ lease: EngineLease) throws -> [JSONValue] {
        try check(lease)
        guard let state = entities[entity], let listing = state.listing else { return [] }
        return state.records.keys.filter { !listing.contains($0) }
    }

    func finishListing(of entity: String, missing ids: [JSONValue], _ lease: EngineLease) throws {
        try check(lease)
        entities[entity]?.missing = Set(ids)
    }

    func applyDeletions(
        limit: DeletionLimit?, listed: [String], _ lease: EngineLease
    ) throws -> (outcome: SyncReport, refusal: SyncError?) {
        try check(lease)
        var report = SyncReport()
        for name in entities.keys {
            guard var entity = entities[name] else { continue }
            report[name].pulledDeletes += entity.delete(entity.reported)
            entity.reported = []
            entities[name] = entity
        }
        for (name, entity) in entities {
            guard let limit, entity.missing.count > limit.allowed(of: entity.records.count) else { continue }
            return (report, SyncError(.deletionLimitExceeded, "too many rows are missing", entity: name))
        }
        for name in listed {
            guard var entity = entities[name] else { continue }
            report[name].pulledDeletes += entity.delete(entity.missing)
            (entity.missing, entity.listing, entity.lastListing) = ([], nil, Date().clampedMilliseconds)
            entities[name] = entity
        }
        return (report, nil)
    }

    func finish(_ entities: [String], notBefore: Int64?, attempts: Int, _ lease: EngineLease) throws {
        try check(lease)
        isHeld = false
        delay = (notBefore, attempts)
    }

    nonisolated func areSame(_ id: JSONValue, _ other: JSONValue, of entity: String) -> Bool { id == other }
}
