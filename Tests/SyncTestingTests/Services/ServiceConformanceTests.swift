import Sync
import SyncTesting
import Testing

/// A service with one fault.
private struct BrokenService: SyncService {
    enum Fault: String, CaseIterable {
        case none
        case losesARowBetweenPages
        case repeatsARowBetweenPages
        case listsNotAllIDs
        case listsAnIDTwice
        case hasNoTimes
        case hasNoVersions
        case makesNothing
        case makesTwo
        case hasNoNews
        case takesOtherMembers
        case changesNothing
        case takesStaleChanges
        case deletesNothing
        case forgetsDeletions
        case losesAnOutcome
    }

    let memory: InMemoryService
    let fault: Fault

    var capabilities: ServiceCapabilities { memory.capabilities }
    var identity: String { memory.identity }

    func pull(_ request: PullRequest) async throws -> PullPage {
        var page = try await memory.pull(request)
        switch fault {
        case .losesARowBetweenPages where request.page != nil: page.records.removeFirst()
        case .repeatsARowBetweenPages where request.page != nil: page.records.insert(page.records[0], at: 0)
        case .hasNoNews where request.cursor != nil: page.records = []
        case .forgetsDeletions: page.records.removeAll { $0.record == nil }
        default: break
        }
        return page
    }

    func list(of entity: String, page: String?) async throws -> ListPage {
        var listing = try await memory.list(of: entity, page: page)
        if fault == .listsNotAllIDs { listing.ids.removeLast() }
        if fault == .listsAnIDTwice, let first = listing.ids.first { listing.ids.append(first) }
        return listing
    }

    func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
        try await memory.fetch(ids, of: entity).map { row in
            guard case .found(var found) = row else { return row }
            if fault == .hasNoTimes { found.modifiedAt = nil }
            if fault == .hasNoVersions { found.version = nil }
            return .found(found)
        }
    }

    func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        var operations = operations
        if fault == .losesAnOutcome, operations.count > 1 { operations.removeLast() }
        var outcomes: [PushOutcome] = []
        for operation in operations { outcomes += try await push(operation) }
        return outcomes
    }

    private func push(_ operation: PushOperation) async throws -> [PushOutcome] {
        var operation = operation
        switch (fault, operation.kind) {
        case (.makesNothing, .create): return [.applied(RemoteRecord(id: 99, record: nil))]
        case (.changesNothing, .update), (.deletesNothing, .delete): return [.applied(nil)]
        case (.makesTwo, .create):
            operation.idempotencyKey += " \(await memory.creations)"
        case (.takesStaleChanges, _): operation.version = nil
        case (.takesOtherMembers, .update):
            operation = PushOperation(
                entity: operation.entity, kind: .update, id: operation.id, record: ["title": "changed", "note": nil],
                version: operation.version, idempotencyKey: operation.idempotencyKey)
        default: break
        }
        return try await memory.push([operation])
    }
}

@Suite("Conformance suite of services")
struct ServiceConformanceTests {
    private func failures(
        _ fault: BrokenService.Fault, _ deletions: ServiceCapabilities.DeletionDetection = .tombstones
    ) async -> [ServiceConformance.Failure] {
        let memory = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: deletions, createIdempotency: .idempotencyKey,
                supportsPreconditions: true, providesModificationTimes: true,
                maxBatchSize: 10))
        return await ServiceConformance(
            BrokenService(memory: memory, fault: fault), entity: "Task", member: "title", other: "note"
        ).run()
    }

    @Test(
        "The conformance suite finds no failures of a correct service",
        arguments: ServiceCapabilities.DeletionDetection.allCases
    )
    func correctService(_ deletions: ServiceCapabilities.DeletionDetection) async {
        #expect(await failures(.none, deletions) == [])
    }

    private static let faults: [(BrokenService.Fault, String, String)] = [
        (.losesARowBetweenPages, "pages", "a full pull lacks"),
        (.repeatsARowBetweenPages, "pages", "2 times"),
        (.listsNotAllIDs, "pages", "the list of IDs"),
        (.listsAnIDTwice, "pages", "the list of IDs has"),
        (.hasNoTimes, "creation", "the row has no modification time"),
        (.hasNoVersions, "creation", "the row has no version"),
        (.makesNothing, "creation", "the row cannot be fetched by its ID"),
        (.makesTwo, "repeated creation", "the outcomes have different IDs"),
        (.hasNoNews, "change", "a pull since the change does not return the row"),
        (.takesOtherMembers, "change", "another member was changed"),
        (.changesNothing, "change", "the member was not changed"),
        (.takesStaleChanges, "stale change", "the outcome is applied"),
        (.deletesNothing, "deletion", "the row still exists"),
        (.forgetsDeletions, "deletion", "a pull since the deletion returns no tombstone"),
        (.losesAnOutcome, "batch", "2 outcomes for 3 operations"),
    ]

    @Test("The conformance suite finds each fault of a service", arguments: faults)
    private func faultyService(_ fault: BrokenService.Fault, _ check: String, _ message: String) async {
        let failures = await failures(fault)
        #expect(failures.contains { $0.check == check && $0.message.contains(message) }, "\(failures)")
    }

    @Test("The conformance suite is tested with all faults")
    func complete() {
        #expect(Set(Self.faults.map(\.0)) == Set(BrokenService.Fault.allCases).subtracting([.none]))
    }

    /// Without a list of IDs, the suite collects them from complete pulls, which lack the same row.
    @Test("The conformance suite finds a row lost between pages if IDs are listed by pulls")
    func listedByPulls() async {
        struct Plain: SyncService {
            let inner: BrokenService
            var capabilities: ServiceCapabilities { inner.capabilities }
            var identity: String { inner.identity }
            func pull(_ request: PullRequest) async throws -> PullPage { try await inner.pull(request) }
            func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
                try await inner.fetch(ids, of: entity)
            }
            func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
                try await inner.push(operations)
            }
        }
        let broken = Plain(inner: BrokenService(memory: InMemoryService(), fault: .losesARowBetweenPages))
        let failures = await ServiceConformance(broken, entity: "Task", member: "title", other: "note").run()
        #expect(failures.contains { $0.check == "pages" }, "\(failures)")
    }

    @Test("The conformance suite passes no ID of its own to a service that assigns IDs")
    func ownIDs() async {
        struct Numbered: SyncService {
            let memory = InMemoryService()
            var capabilities: ServiceCapabilities { memory.capabilities }
            var identity: String { memory.identity }
            func pull(_ request: PullRequest) async throws -> PullPage { try await memory.pull(request) }
            func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
                for case .string(let id) in ids {
                    throw ServiceError.rejected(status: 400, "'\(id)' is not a number")
                }
                return try await memory.fetch(ids, of: entity)
            }
            func push(_ operations: [PushOperation]) async throws -> [PushOutcome] { try await memory.push(operations) }
        }
        let failures = await ServiceConformance(Numbered(), entity: "Task", member: "title", other: "note").run()
        #expect(failures == [])
    }
}
