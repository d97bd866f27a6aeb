import Foundation
import Sync
import Testing

@Suite("Progress")
struct ProgressTests {
    private static let count = 20_000

    /// Collects the progress that a sync reports. `@unchecked Sendable`: `gathered` is only touched while `lock` is
    /// held.
    private final class Watch: @unchecked Sendable {
        private let lock = NSLock()
        private var gathered: [SyncProgress] = []
        var told: [SyncProgress] { lock.withLock { gathered } }

        var options: SyncOptions {
            var options = SyncOptions()
            options.progress = { point in self.lock.withLock { self.gathered.append(point) } }
            return options
        }
    }

    private static let payload = Data(
        ("[" + (1...count).map { #"{"id": \#($0), "first_name": "N"}"# }.joined(separator: ",") + "]").utf8)

    @Test("A first sync reports bytes, then written rows, and never goes back")
    func firstSyncReportsRows() async throws {
        let watch = Watch()
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        try await Sync.changes(Self.payload, inEntity: "User", stack: stack, options: watch.options)
        let mapping = watch.told.filter { $0.phase == .mapping }
        #expect(mapping.count > 10 && mapping.count < Self.count / 100)
        #expect(mapping.allSatisfy { $0.total == Self.payload.count && $0.completed <= Self.payload.count })
        let writing = watch.told.filter { $0.phase == .writing }
        #expect(!writing.isEmpty)
        #expect(writing.allSatisfy { $0.total == Self.count && $0.completed <= Self.count })
        for (earlier, later) in zip(watch.told, watch.told.dropFirst()) {
            let phases = SyncProgress.Phase.allCases
            let places = (phases.firstIndex(of: earlier.phase), phases.firstIndex(of: later.phase))
            let (before, after) = (try #require(places.0), try #require(places.1))
            #expect(before < after || before == after && earlier.completed < later.completed)
        }
    }

    @Test("A second sync reports compared rows")
    func secondSyncReportsComparedRows() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        try await Sync.changes(Self.payload, inEntity: "User", stack: stack)
        let watch = Watch()
        try await Sync.changes(Self.payload, inEntity: "User", stack: stack, options: watch.options)
        #expect(watch.told.contains { $0.phase == .comparing && $0.total == nil })
        #expect(!watch.told.contains { $0.phase == .writing })
    }

    @Test("A sync of values reports records")
    func valuesReportRecords() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        let watch = Watch()
        let json = JSONValue.array((1...Self.count).map { ["id": JSONValue($0)] })
        try await Sync.changes(json, inEntity: "User", stack: stack, options: watch.options)
        let mapping = watch.told.filter { $0.phase == .mapping }
        #expect(!mapping.isEmpty && mapping.allSatisfy { $0.total == Self.count })
    }

    @Test("A task that is cancelled while its payload is mapped stops there", arguments: [true, false])
    func cancelledWhileMapping(hasBytes: Bool) async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        let watch = Watch()
        var options = watch.options
        let tell = options.progress
        options.progress = { point in
            tell?(point)
            withUnsafeCurrentTask { $0?.cancel() }
        }
        let task = Task { [options] in
            guard !hasBytes else {
                return try await Sync.changes(Self.payload, inEntity: "User", stack: stack, options: options)
            }
            let json = JSONValue.array((1...Self.count).map { ["id": JSONValue($0)] })
            return try await Sync.changes(json, inEntity: "User", stack: stack, options: options)
        }
        let result = await task.result
        #expect(throws: CancellationError.self) { try result.get() }
        #expect(watch.told.count == 1)
        #expect(try await stack.count("User") == 0)
    }
}
