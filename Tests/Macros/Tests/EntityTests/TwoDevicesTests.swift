import Foundation
import Sync
import SyncTesting
import Testing

@Entity
struct Errand {
    /// Nil for a new row. The row gets a temporary key, which the service replaces by its ID.
    var id: Int?
    var title: String
    var dueAt: Date?
    var isDone = false
}

/// The later due date wins. A conflict of another field stays open.
@Sendable func resolve(_ conflict: SyncConflict) -> SyncConflict.Resolution {
    guard conflict.field == "dueAt" else { return .manual }
    guard let local = conflict.local.date, let remote = conflict.remote.date else { return .usePolicy }
    return local > remote ? .local : .remote
}

@Suite("Two devices")
struct TwoDevicesTests {
    let service = InMemoryService()

    func device() throws -> (stack: DataStack, engine: SyncEngine) {
        let stack = try DataStack.inMemory(SyncModel(Errand.self))
        var configuration = SyncEngine.Configuration()
        configuration.conflictResolver = resolve
        let engine = try SyncEngine(
            stack: stack, service: service, entities: [Errand.self], configuration: configuration)
        return (stack, engine)
    }

    @Test("A new row gets the ID of the service")
    func create() async throws {
        let (stack, engine) = try device()
        try await stack.save(Errand(title: "Buy milk"))
        #expect(try await engine.pendingChangeCount() == 1)
        let report = try await engine.sync()
        #expect(report[Errand.self].pushedInserts == 1)
        #expect(try await stack.fetch(Errand.self).map(\.id) == [1])
    }

    @Test("The later due date wins, and the conflict of the title stays open until it is resolved")
    func conflict() async throws {
        let (first, second) = (try device(), try device())
        await service.set("Errand", 1, ["title": "Buy milk", "due_at": "2026-11-28T09:00:00Z"])
        try await first.engine.sync()
        try await second.engine.sync()

        // Both devices edit the row offline.
        for (device, title, hours) in [(first, "Buy oat milk", 3), (second, "Buy soy milk", 5)] {
            var errand = try #require(try await device.stack.fetch(Errand.self, id: 1))
            errand.title = title
            errand.dueAt = errand.dueAt?.addingTimeInterval(Double(hours) * 3600)
            try await device.stack.save(errand)
        }
        try await first.engine.sync()
        try await second.engine.sync()

        let open = try await second.engine.conflicts(only: [Errand.self]).filter(\.isOpen)
        #expect(open.map(\.field) == ["title"])
        try await second.engine.resolve(Errand.self, key: 1, field: \.title, keeping: .remote)
        try await second.engine.sync()
        try await first.engine.sync()
        let errands = try await [first.stack.fetch(Errand.self, id: 1), second.stack.fetch(Errand.self, id: 1)]
        #expect(errands.map { $0?.title } == ["Buy oat milk", "Buy oat milk"])
        #expect(errands.map { $0?.dueAt?.description } == Array(repeating: "2026-11-28 14:00:00 +0000", count: 2))
    }
}
