import Sync
import SyncTesting
import Synchronization

/// A service that can forget its cursors, so that a pull gets all rows again.
final class ListingService: SyncService {
    let memory: InMemoryService
    let listsAll = Mutex(false)

    init(_ memory: InMemoryService) { self.memory = memory }

    var capabilities: ServiceCapabilities { memory.capabilities }
    var identity: String { memory.identity }

    func pull(_ request: PullRequest) async throws -> PullPage {
        var request = request
        if listsAll.withLock({ $0 }) { request.cursor = nil }
        return try await memory.pull(request)
    }

    func push(_ operations: [PushOperation]) async throws -> [PushOutcome] { try await memory.push(operations) }
    func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
        try await memory.fetch(ids, of: entity)
    }
    func list(of entity: String, page: String?) async throws -> ListPage {
        try await memory.list(of: entity, page: page)
    }
}
