import Sync
import SyncTesting

@testable import SyncService

/// Where a random history takes place.
enum HistoryPlace {
    /// A service in memory, with whatever abilities.
    case memory
    /// A PocketBase server.
    case pocketBase
    /// A stub of Parse.
    case parse
    /// A stub of a changes endpoint.
    case changes
    /// A Kinto server.
    case kinto
    /// A REST server, that of `Tests/Servers/REST`.
    case server
    /// A REST service in memory, with whatever paging, times and ids.
    case rest
}

/// The service of a random history, whose requests go wrong, and what it has.
protocol HistoryWorld: Sendable {
    var service: any SyncService { get }
    /// Whether the service keeps the order of lists.
    var keepsOrder: Bool { get }
    /// Whether each record says when it was changed.
    var hasTimes: Bool { get }
    /// Has requests go wrong from now on, or none.
    func setFaults(_ faults: SeededFaults?) async
    /// Has something happen while each request is on its way.
    func setMeanwhile(_ meanwhile: (@Sendable () async -> Void)?) async
    /// Every second time goes back to what it had the time before; nil where it cannot.
    ///
    /// - Returns: Whether it went back.
    func goBack() async -> Bool?
    /// The rows there are, by id, without a word of what is null.
    func contents(of entity: String) async throws -> [JSONValue: JSONValue]
    /// Deletes a row, as another client of the service would.
    ///
    /// - Parameter key: Its id, as text.
    /// - Returns: Its record; nil if there is no such row, or if the world has no other client.
    func remove(_ entity: String, _ key: String) async -> JSONValue?
    /// The bodies of all creations and updates that were ever carried out.
    var accepted: [JSONValue] { get async }
    /// Time passes, for the service.
    func pass(_ step: SeededNumbers) async
}

extension HistoryWorld {
    var keepsOrder: Bool { true }
    var hasTimes: Bool { service.capabilities.givesTimes }

    func goBack() async -> Bool? { nil }
    func remove(_ entity: String, _ key: String) async -> JSONValue? { nil }
    func pass(_ step: SeededNumbers) async {}
}

/// A service in memory.
actor MemoryWorld: HistoryWorld {
    private let memory: InMemoryService
    private var copy: InMemoryService.Copy?
    nonisolated let service: any SyncService

    init(
        _ memory: InMemoryService, _ troubles: HistoryTroubles, _ ledger: HistoryLedger, _ members: Set<HistoryMember>
    ) async {
        self.memory = memory
        service = members.isEmpty ? memory : TroubledService(memory, troubles, ledger, members)
        guard members.contains(.nested) else { return }
        let isText = memory.capabilities.ids == .client
        func id(_ number: Int) -> JSONValue { isText ? .string("\(number)") : JSONValue(number) }
        for number in 900..<903 {
            await memory.put("Project", id(number), ["name": .string("inside\(number)")])
            await memory.put(
                "Task", id(number + 10),
                [
                    "title": .string("t\(number)"), "project_id": id(number), "points": .null, "done": .null,
                    "tag_ids": [],
                ])
        }
    }

    var accepted: [JSONValue] { get async { await memory.accepted } }

    func goBack() async -> Bool? {
        guard let old = copy else {
            copy = await memory.copy()
            return false
        }
        copy = nil
        await memory.restore(old)
        return true
    }

    func remove(_ entity: String, _ key: String) async -> JSONValue? {
        let row = await memory.contents(of: entity).first { $0.key.plain == key }
        guard let row else { return nil }
        await memory.remove(entity, row.key)
        return row.value
    }

    func setFaults(_ faults: SeededFaults?) async {
        await memory.deleteRequests()
        if let faults {
            await memory.setFault { _, number in faults.fault(number) }
        } else {
            await memory.setFault(nil)
        }
    }

    func setMeanwhile(_ meanwhile: (@Sendable () async -> Void)?) async {
        if let meanwhile {
            await memory.setMeanwhile { _ in await meanwhile() }
        } else {
            await memory.setMeanwhile(nil)
        }
    }

    func contents(of entity: String) async -> [JSONValue: JSONValue] { await memory.contents(of: entity) }
}
