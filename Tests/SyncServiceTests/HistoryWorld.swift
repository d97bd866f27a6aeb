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
}

/// The service of a random history, whose requests go wrong, and what it has.
protocol HistoryWorld: Sendable {
    var service: any SyncService { get }
    /// Whether the service keeps the order of lists.
    var keepsOrder: Bool { get }
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
    /// The bodies of all creations and updates that were ever carried out.
    var accepted: [JSONValue] { get async }
}

extension HistoryWorld {
    var keepsOrder: Bool { true }

    func goBack() async -> Bool? { nil }
}

/// A service in memory.
actor MemoryWorld: HistoryWorld {
    private let memory: FakeService
    private var copy: FakeService.Copy?

    init(_ memory: FakeService) { self.memory = memory }

    nonisolated var service: any SyncService { memory }
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

    func setFaults(_ faults: SeededFaults?) async {
        await memory.forgetRequests()
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
