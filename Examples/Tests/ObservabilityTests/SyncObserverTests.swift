import Foundation
import Logging
import MetricsTestKit
import Observability
import Sync
import SyncTesting
import Testing

/// A log handler that keeps the lines.
private struct RecordingHandler: LogHandler {
    final class Lines: @unchecked Sendable {
        private let lock = NSLock()
        private var lines: [String] = []
        func add(_ line: String) { lock.withLock { lines.append(line) } }
        var all: [String] { lock.withLock { lines } }
    }

    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let values = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        lines.add("\(event.level) \(event.message) \(values.joined(separator: " "))")
    }
}

@Suite("Observers of syncs")
struct SyncObserverTests {
    private let lines = RecordingHandler.Lines()
    private let metrics = TestMetrics()

    private var observer: SyncObserver {
        var logger = Logger(label: "sync") { [lines] _ in RecordingHandler(lines: lines) }
        logger.logLevel = .debug
        return SyncObserver(logger: logger, metrics: metrics)
    }

    private func stack() throws -> DataStack {
        let schema = #"{"entities": {"Todo": {"attributes": {"id": "integer", "title": "string"}}}}"#
        return try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
    }

    /// Waits until a line is logged.
    private func wait(for line: String) async {
        while !lines.all.contains(where: { $0.contains(line) }) { await Task.yield() }
    }

    @Test("A sync is logged, and its rows are counted by entity")
    func sync() async throws {
        let stack = try stack()
        let task = observer.observe(stack)
        try await Sync.changes([["id": 1, "title": "a"]], inEntity: "Todo", stack: stack)
        try stack.close()
        await task.value
        #expect(lines.all.first == "info synced changes=1 inserted entity=Todo")
        #expect(try metrics.expectCounter("sync_rows_inserted", [("entity", "Todo")]).values.first == 1)
    }

    @Test("Runs of an engine are logged with their changes and errors")
    func engine() async throws {
        let service = InMemoryService()
        let engine = try SyncEngine(stack: stack(), service: service, entities: ["Todo"])
        let events = observer.observe(engine)
        defer { events.cancel() }
        await service.set("Todo", 1, ["title": "a"])
        try await engine.sync()
        await wait(for: "info run finished changes=pulled 1 inserted entity=Todo")
        #expect(try metrics.expectCounter("sync_rows_pulled", [("entity", "Todo")]).totalValue >= 1)
    }
}
