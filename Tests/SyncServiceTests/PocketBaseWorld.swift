import Sync

@testable import SyncService

/// A PocketBase server behind an unreliable network.
struct PocketBaseWorld: HistoryWorld {
    let service: any SyncService
    private let space: PocketBaseSpace
    private let network: FailingNetwork

    init(pageSize: Int, batchSize: Int) async throws {
        space = try await PocketBaseServer.shared.space()
        network = FailingNetwork()
        service = space.service(pageSize: pageSize, batchSize: batchSize, transport: network)
    }

    var accepted: [JSONValue] { get async { await network.accepted } }
    func setFaults(_ faults: SeededFaults?) async { await network.setFaults(faults) }
    func setMeanwhile(_ meanwhile: (@Sendable () async -> Void)?) async { await network.setMeanwhile(meanwhile) }

    func contents(of entity: String) async throws -> [JSONValue: JSONValue] {
        var contents: [JSONValue: JSONValue] = [:]
        for row in try await space.rows(space.paths[entity] ?? "") {
            guard case .object(let members) = row, let id = row["id"] else { continue }
            contents[id] = .object(members.filter { $0.value != "" })
        }
        return contents
    }
}
