import Foundation
import Sync

@testable import SyncService

/// A stub of a changes endpoint behind an unreliable network.
struct ChangesWorld: HistoryWorld {
    let service: any SyncService
    private let space: RESTSpace
    private let network = FailingNetwork { body, _ in
        guard case .object(let tables) = body else { return [] }
        return tables.flatMap { table in
            ["created", "updated"].flatMap { name -> [JSONValue] in
                if case .array(let rows)? = table.value[name] { rows } else { [] }
            }
        }
    }

    init() async throws {
        space = try await RESTServer.shared.space(["dialect": "changes"])
        service = WatermelonService(url: space.url.appendingPathComponent("sync"), transport: network)
    }

    var accepted: [JSONValue] { get async { await network.accepted } }
    func setFaults(_ faults: SeededFaults?) async { await network.setFaults(faults) }
    func setMeanwhile(_ meanwhile: (@Sendable () async -> Void)?) async { await network.setMeanwhile(meanwhile) }

    func contents(of entity: String) async throws -> [JSONValue: JSONValue] {
        let tables = ["Project": "projects", "Task": "tasks", "Tag": "tags"]
        var contents: [JSONValue: JSONValue] = [:]
        for row in try await space.rows(tables[entity] ?? "") {
            if let id = row["id"] { contents[id] = row }
        }
        return contents
    }
}
