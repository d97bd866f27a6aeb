import Sync
import SyncTesting

@testable import SyncService

/// The service of a random history.
enum HistoryPlace {
    /// A service in memory, with varying capabilities.
    case memory
    /// A PocketBase server.
    case pocketBase
    /// A stub of Parse.
    case parse
    /// A stub of a changes endpoint.
    case changes
    /// A Kinto server.
    case kinto
    /// The REST server of `Tests/Servers/REST`.
    case server
    /// A REST service in memory, with varying paging, times and IDs.
    case rest

    /// Whether all devices and the service are in memory, so that a ``HistoryClock`` decides all times.
    var hasHistoryClock: Bool { self == .memory || self == .rest }
}

/// The service of a random history, with request faults and access to its contents.
protocol HistoryWorld: Sendable {
    var service: any SyncService { get }
    /// Whether the service keeps the order of lists.
    var keepsOrder: Bool { get }
    /// Whether each record has the time of its last change.
    var hasTimes: Bool { get }
    /// Starts faults of requests, or ends them.
    func setFaults(_ faults: SeededFaults?) async
    /// Sets an action to run during each request.
    func setMeanwhile(_ meanwhile: (@Sendable () async -> Void)?) async
    /// Restores, on every second call, the contents at the previous call; nil if that is not supported.
    ///
    /// - Returns: Whether it restored the contents.
    func goBack() async -> Bool?
    /// Lists the rows at once that the service accepted and hides. After a reset of its cursors, a device sends a create
    /// again whose row no list has.
    func listHiddenRows() async
    /// Returns the rows by ID; null members may be absent.
    func contents(of entity: String) async throws -> [JSONValue: JSONValue]
    /// Deletes a row, as another client of the service would.
    ///
    /// - Parameter key: The ID, as text.
    /// - Returns: The record; nil if there is no such row, or if the place has no other client.
    func remove(_ entity: String, _ key: String) async -> JSONValue?
    /// Creates or updates a row, as another client of the service would.
    ///
    /// - Returns: Whether the place has another client.
    func write(_ entity: String, _ id: JSONValue, _ record: JSONValue) async -> Bool
    /// The bodies of all creates and updates that were carried out.
    var accepted: [JSONValue] { get async }
    /// Advances the time of the service.
    func pass(_ step: SeededNumbers) async
}

extension HistoryWorld {
    var keepsOrder: Bool { true }
    var hasTimes: Bool { service.capabilities.providesModificationTimes }

    func goBack() async -> Bool? { nil }
    func listHiddenRows() async {}
    func remove(_ entity: String, _ key: String) async -> JSONValue? { nil }
    func write(_ entity: String, _ id: JSONValue, _ record: JSONValue) async -> Bool { false }
    func pass(_ step: SeededNumbers) async {}
}

/// A service in memory.
actor MemoryWorld: HistoryWorld {
    private let memory: InMemoryService
    private let troubled: TroubledService?
    private var copy: InMemoryService.Copy?
    nonisolated let service: any SyncService

    init(
        _ memory: InMemoryService, _ troubles: HistoryTroubles, _ ledger: HistoryLedger, _ members: Set<HistoryMember>
    ) async {
        self.memory = memory
        troubled = members.isEmpty ? nil : TroubledService(memory, troubles, ledger, members)
        service = troubled ?? memory
        if members.contains(.absent) {
            // Later rows get higher IDs.
            await memory.set("Tag", JSONValue(AbsentRow.lastNumber), [:])
            await memory.removeWithoutTombstone("Tag", JSONValue(AbsentRow.lastNumber))
        }
        guard members.contains(.nested) else { return }
        let isText = memory.capabilities.idAssignment == .client
        func id(_ number: Int) -> JSONValue { isText ? .string("\(number)") : JSONValue(number) }
        for number in 900..<903 {
            await memory.set("Project", id(number), ["name": .string("inside\(number)")])
            await memory.set(
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

    func listHiddenRows() async { await troubled?.listHiddenRows() }

    func remove(_ entity: String, _ key: String) async -> JSONValue? {
        let row = await memory.contents(of: entity).first { $0.key.plain == key }
        guard let row else { return nil }
        await memory.remove(entity, row.key)
        return row.value
    }

    func write(_ entity: String, _ id: JSONValue, _ record: JSONValue) async -> Bool {
        await memory.set(entity, id, record)
        return true
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
            await memory.onRequest { _ in await meanwhile() }
        } else {
            await memory.onRequest(nil)
        }
    }

    func contents(of entity: String) async -> [JSONValue: JSONValue] { await memory.contents(of: entity) }
}
