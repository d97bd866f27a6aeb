import Sync
import SyncTesting

/// A service that wraps an ``InMemoryService``. It forwards each request that it does not handle itself.
protocol InMemoryWrapper: SyncService {
    var memory: InMemoryService { get }
}

extension InMemoryWrapper {
    var capabilities: ServiceCapabilities { memory.capabilities }
    var identity: String { memory.identity }

    func pull(_ request: PullRequest) async throws -> PullPage { try await memory.pull(request) }
    func list(of entity: String, page: String?) async throws -> ListPage {
        try await memory.list(of: entity, page: page)
    }
    func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
        try await memory.fetch(ids, of: entity)
    }
}
