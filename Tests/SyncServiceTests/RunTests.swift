import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Runs of one engine, and of several engines on one database.
@Suite("Engine runs")
struct RunTests {
    private let service = InMemoryService()

    /// Starts tasks once, during a request.
    private actor Once {
        private var tasks: [Task<SyncReport, any Error>] = []
        private var isDone = false

        func start(_ bodies: [@Sendable () async throws -> SyncReport]) async {
            guard !isDone else { return }
            isDone = true
            tasks = bodies.map { body in Task { try await body() } }
            // All tasks have made their calls by now, and wait.
            for _ in 0..<100 { await Task.yield() }
        }

        func reports() async throws -> [SyncReport] {
            var reports: [SyncReport] = []
            for task in tasks { reports.append(try await task.value) }
            return reports
        }
    }

    @Test("Calls made during a run are carried out after it")
    func queued() async throws {
        await service.set("Task", 1, ["title": "t"])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'edited'")
        let once = Once()
        await service.onRequest { [engine = device.engine] request in
            guard case .pull = request else { return }
            await once.start([
                { try await engine.push() },
                { try await engine.apply(["id": 9, "title": "fetched"], inEntity: "Task") },
                { try await engine.sync() },
            ])
        }
        #expect(try await device.engine.pull().total.pushedUpdates == 0)
        let reports = try await once.reports()
        #expect(reports.map(\.total.pushedUpdates).reduce(0, +) == 1)
        #expect(reports[1].total.pulledInserts == 1)
        #expect(await service.contents(of: "Task")[1]?["title"] == "edited")
        #expect(try await device.rows("SELECT title FROM Task ORDER BY 1") == ["edited", "fetched"])
        #expect(await !device.engine.isSyncing)
    }

    @Test("A sync that joins a run has its changes sent too")
    func joined() async throws {
        let device = try Device(service)
        let once = Once()
        await service.onRequest { [engine = device.engine, stack = device.stack] request in
            // The run had found nothing to send.
            guard case .pull("Tag") = request else { return }
            await once.start([
                {
                    try await stack.insert("Task", values: ["title": "late"])
                    return try await engine.sync()
                }
            ])
        }
        try await device.engine.sync()
        #expect(try await once.reports().map(\.total.pushedInserts) == [1])
        #expect(await service.contents(of: "Task").count == 1)
    }

    @Test("The initial sync of an entity is complete only after a complete pull")
    func complete() async throws {
        await service.set("Task", 1, ["title": "t"])
        let device = try Device(service)
        try await device.engine.push()
        try await device.engine.apply([["id": 1, "title": "t"]], inEntity: "Task")
        #expect(try await device.engine.status().allSatisfy { !$0.isInitialSyncComplete && $0.lastSyncDate == nil })
        try await device.engine.pull(only: ["Task"])
        #expect(try await device.engine.status().filter(\.isInitialSyncComplete).map(\.entity) == ["Task"])
    }

    // MARK: Remote first

    @Test("A row written remote first is stored as the service returns it")
    func remoteFirst() async throws {
        let device = try Device(service)
        func operation(_ kind: PushOperation.Kind, _ id: JSONValue?, _ body: JSONValue) -> PushOperation {
            PushOperation(
                entity: "Task", kind: kind, id: id, record: body, version: nil, idempotencyKey: UUID().uuidString)
        }
        try await device.engine.write(remoteFirst: operation(.create, nil, ["title": "new"]))
        #expect(try await device.rows("SELECT remoteID, title FROM Task") == ["1 new"])
        try await device.engine.write(remoteFirst: operation(.update, 1, ["title": "other"]))
        #expect(try await device.rows("SELECT remoteID, title FROM Task") == ["1 other"])
        await service.setFault { _, _ in .failsBeforeApply }
        await #expect {
            try await device.engine.write(remoteFirst: operation(.delete, 1, [:]))
        } throws: {
            ($0 as? SyncError)?.code == .serviceUnavailable
        }
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["1"])
        await service.setFault(nil)
        await #expect {
            try await device.engine.write(remoteFirst: operation(.update, 5, ["title": "x"]))
        } throws: {
            ($0 as? SyncError)?.code == .rowNotFound
        }
        try await device.engine.write(remoteFirst: operation(.delete, 1, [:]))
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
        #expect(await service.contents(of: "Task").isEmpty)
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test("changed() finds remote changes without a write")
    func changed() async throws {
        let device = try Device(service)
        try await device.engine.sync()
        #expect(try await !device.engine.hasRemoteChanges())
        await service.set("Tag", 1, ["name": "t"])
        await service.deleteRequests()
        #expect(try await device.engine.hasRemoteChanges())
        #expect(await service.requests.count == 3)
        #expect(try await device.rows("SELECT count(*) FROM Tag") == ["0"])
        try await device.engine.sync()
        #expect(try await !device.engine.hasRemoteChanges())
    }

    // MARK: Several engines

    @Test("Only one engine at a time syncs a database, and an engine that lost its lease changes nothing")
    func leases() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lease-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = folder.appendingPathComponent("store.sqlite")
        func device() throws -> Device {
            let model = try SyncModel(schemaData: Data(Device.schema.utf8))
            var configuration = Device.configuration
            // The run does not renew the lease that another engine took from it.
            configuration.clock.beat = { try await Task.sleep(for: .seconds(86_400)) }
            return try Device(DataStack(model: model, at: database), service, configuration)
        }
        let (one, two) = (try device(), try device())
        try await one.stack.insert("Task", values: ["title": "made here"])
        let found = Found()
        await service.onRequest { [engine = two.engine, stack = two.stack] request in
            guard case .push = request, await found.isFirst() else { return }
            guard let keeper = try? LeaseKeeper(database) else {
                Issue.record("the lease cannot be renewed")
                return
            }
            for action: @Sendable () async throws -> Void in [
                { try await engine.sync() }, { try await engine.reset(.localData) },
            ] {
                do {
                    try await action()
                } catch { await found.note((error as? SyncError)?.code) }
            }
            keeper.stop()
            // The lease seems to have expired.
            try? await stack.write { db in try db.execute(sql: "UPDATE sync_lease SET until = 0") }
            do {
                try await engine.sync()
            } catch { await found.note((error as? SyncError)?.code) }
        }
        await #expect {
            try await one.engine.sync()
        } throws: {
            ($0 as? SyncError)?.code == .engineBusy
        }
        #expect(await found.codes == [.engineBusy, .engineBusy])
        try await one.engine.sync()
        #expect(await service.contents(of: "Task").count == 1)
        #expect(try await one.rows("SELECT remoteID, title FROM Task") == ["1 made here"])
        #expect(try await one.leftovers() == [])
    }

    @Test("A run renews its lease while it waits for a slow answer")
    func renewed() async throws {
        let device = try Device(service)
        try await device.engine.sync()
        let beats = Beats()
        var configuration = Device.configuration
        configuration.clock.beat = { try await beats.next() }
        let slow = try Device(device.stack, service, configuration)
        let found = Found()
        await service.onRequest { [stack = device.stack] request in
            guard case .pull("Task") = request else { return }
            do {
                // Only a second of the lease is left.
                try await stack.write { db in
                    try db.execute(sql: "UPDATE sync_lease SET until = until - 119000 WHERE holder <> ''")
                }
                let before = try await stack.read { try Int64.fetchOne($0, sql: "SELECT until FROM sync_lease") ?? 0 }
                await beats.beat()
                let after = try await stack.read { try Int64.fetchOne($0, sql: "SELECT until FROM sync_lease") ?? 0 }
                if after >= before + 100_000 { await found.note(nil) }
            } catch { await found.note((error as? SyncError)?.code) }
        }
        try await slow.engine.sync()
        #expect(await found.codes == [nil])
        #expect(try await device.leftovers() == [])
        // A run that has ended does not renew its lease.
        await beats.beat()
        #expect(try await device.leftovers() == [])
    }

    /// Controls when a run renews its lease.
    private actor Beats {
        private var waiting: [CheckedContinuation<Void, Never>] = []
        private var beaten: CheckedContinuation<Void, Never>?
        private var isOver = false

        /// Has the run renew its lease, and returns afterwards.
        func beat() async {
            while waiting.isEmpty, !isOver { await Task.yield() }
            guard !isOver else { return }
            await withCheckedContinuation { continuation in
                beaten = continuation
                waiting.removeFirst().resume()
            }
        }

        func next() async throws {
            beaten?.resume()
            beaten = nil
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    if isOver { continuation.resume() } else { waiting.append(continuation) }
                }
            } onCancel: {
                Task { await end() }
            }
            try Task.checkCancellation()
        }

        private func end() {
            isOver = true
            for continuation in waiting { continuation.resume() }
            waiting = []
            beaten?.resume()
            beaten = nil
        }
    }

    private actor Found {
        private(set) var codes: [SyncError.Code?] = []
        private var wasAsked = false

        func note(_ code: SyncError.Code?) { codes.append(code) }

        func isFirst() -> Bool {
            defer { wasAsked = true }
            return !wasAsked
        }
    }

    @Test(
        "Continuous writes do not keep a run from ending, and are sent by the next run",
        arguments: [
            "UPDATE Task SET points = points + 1", "INSERT INTO Task (title) VALUES ('more')",
            "UPDATE Task SET points = points + 1; INSERT INTO Task (title) VALUES ('more')",
        ])
    func writer(_ statement: String) async throws {
        await service.set("Task", 1, ["title": "t", "points": 0])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write(statement)
        let writer = Writer(50)
        await service.onRequest { [stack = device.stack] request in
            guard case .push = request, await writer.goesOn() else { return }
            try? await stack.write { db in try db.execute(sql: statement) }
        }
        await service.deleteRequests()
        try await device.engine.sync()
        // One push for the changes at its start, and one for those made meanwhile.
        let isPush = { (request: InMemoryService.Request) in if case .push = request { true } else { false } }
        #expect(await service.requests.count(where: isPush) == 2)
        #expect(try await device.engine.pendingChangeCount() > 0)
        await service.onRequest(nil)
        try await device.engine.sync()
        #expect(try await device.engine.pendingChangeCount() == 0)
        let count = await service.contents(of: "Task").count
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["\(count)"])
        #expect(try await device.leftovers() == [])
    }

    /// A program that stops writing at last, so that an endless run fails instead.
    private actor Writer {
        private var rest: Int

        init(_ count: Int) { rest = count }

        func goesOn() -> Bool {
            rest -= 1
            return rest >= 0
        }
    }

    @Test("A change whose row changes on the service again and again is blocked for this run only")
    func contended() async throws {
        await service.set("Task", 1, ["title": "t", "points": 0])
        await service.set("Task", 2, ["title": "u"])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = title || ' edited'")
        await service.onRequest { [service] request in
            if case .push = request { await service.set("Task", 1, ["points": JSONValue(Int.random(in: 1...1000))]) }
        }
        let report = try await device.engine.sync()
        #expect(report.total.blockedChanges == 1)
        #expect(try await device.engine.blockedChanges().first?.reason.hasPrefix("contended") == true)
        #expect(await service.contents(of: "Task")[2]?["title"] == "u edited")
        await service.onRequest(nil)
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")[1]?["title"] == "t edited")
        #expect(try await device.leftovers() == [])
    }
}
