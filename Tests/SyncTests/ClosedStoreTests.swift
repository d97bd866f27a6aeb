import Foundation
import GRDB
import Sync
import SyncTesting
import SyncTools
import Testing

@Suite("A closed DataStack")
struct ClosedStoreTests {
    enum StoreKind: CaseIterable {
        /// A queue without a file.
        case memory
        /// A pool.
        case file
        /// A queue that cannot write.
        case reading
        /// A pool of an app.
        case app
    }

    private static let json = Data(#"[{"id": 1, "stage": "open"}]"#.utf8)

    /// Makes a store with one row.
    private func withStack(_ kind: StoreKind, _ body: (DataStack) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let model = try SyncModel(Job.self, Chore.self)
        if kind == .app { return try await withStack(in: DatabasePool(path: folder.database.path), model, body) }
        let stack = try kind == .memory ? DataStack.inMemory(model) : DataStack(model: model, at: folder.database)
        try await Sync.changes(Self.json, inEntity: "Job", stack: stack)
        guard kind == .reading else { return try await body(stack) }
        try stack.close()
        try await body(DataStack(reading: folder.database))
    }

    /// Makes a stack in a pool, which must stay open.
    private func withStack(
        in pool: DatabasePool, _ model: SyncModel, _ body: (DataStack) async throws -> Void
    ) async throws {
        let stack = try DataStack(model: model, in: pool)
        try await Sync.changes(Self.json, inEntity: "Job", stack: stack)
        try await body(stack)
        let count = try await pool.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM Job") }
        #expect(count == 1)
    }

    @Test("Synchronous calls on a closed store fail with storeClosed", arguments: StoreKind.allCases)
    func synchronousCalls(_ kind: StoreKind) async throws {
        try await withStack(kind) { stack in
            try stack.close()
            let calls: [() throws -> Void] = [
                { _ = try stack.fetch("Job") },
                { _ = try stack.fetch("Job", id: 1) },
                { _ = try stack.count("Job") },
                { _ = try stack.fetch(Job.self) },
                { _ = try stack.fetch(Job.self, id: 1) },
                { _ = try stack.insert("Job", values: ["id": 2]) },
                { _ = try stack.makeTemporaryKey(for: "Job") },
                { try stack.deleteAllRows() },
                { try stack.read { db in try db.execute(sql: "SELECT * FROM Job") } },
                { try stack.write { db in try db.execute(sql: "DELETE FROM Job") } },
                { _ = try SyncEngine(stack: stack, service: Self.service, entities: ["Job"]) },
            ]
            for (index, call) in calls.enumerated() {
                let error = #expect(throws: SyncError.self, "call \(index)") { try call() }
                #expect(error?.code == .storeClosed, "call \(index): \(String(describing: error))")
            }
            try stack.close()
        }
    }

    @Test("Asynchronous calls on a closed store fail with storeClosed", arguments: StoreKind.allCases)
    func asynchronousCalls(_ kind: StoreKind) async throws {
        try await withStack(kind) { stack in
            try stack.close()
            var several = SyncOptions()
            several.chunkSize = 1
            several.commitsEachChunk = true
            let calls: [() async throws -> Void] = [
                { _ = try await stack.fetch("Job") },
                { _ = try await stack.fetch("Job", id: 1) },
                { _ = try await stack.count("Job") },
                { _ = try await stack.fetch(Job.self) },
                { try await Sync.changes(Self.json, inEntity: "Job", stack: stack) },
                { try await Sync.changes([Job(id: 2)], stack: stack) },
                { _ = try await Sync.plan(Self.json, inEntity: "Job", stack: stack) },
                { try await Sync.changes(.buffers(Self.chunks), inEntity: "Job", stack: stack) },
                { try await Sync.changes(.buffers(Self.chunks), inEntity: "Job", stack: stack, options: several) },
                { try await Sync.changes(pages: Self.chunks, inEntity: "Job", stack: stack) },
                { _ = try await stack.insert("Job", values: ["id": 2]) },
                { _ = try await Sync.delete(id: 1, inEntity: "Job", stack: stack) },
                { try await stack.read { db in try db.execute(sql: "SELECT * FROM Job") } },
                { try await stack.write { db in try db.execute(sql: "DELETE FROM Job") } },
                { try await stack.removeSyncState(deletingRows: false) },
                { _ = try await stack.validate() },
            ]
            for (index, call) in calls.enumerated() {
                let error = await #expect(throws: SyncError.self, "call \(index)") { try await call() }
                #expect(error?.code == .storeClosed, "call \(index): \(String(describing: error))")
            }
        }
    }

    @Test("Reads and syncs of a pool that the app has closed fail with storeClosed")
    func closedPool() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let pool = try DatabasePool(path: folder.database.path)
        let stack = try DataStack(model: SyncModel(Job.self, Chore.self), in: pool)
        try await Sync.changes(Self.json, inEntity: "Job", stack: stack)
        try pool.close()
        let calls: [() async throws -> Void] = [
            { _ = try await stack.fetch("Job") },
            { _ = try await stack.fetch("Job", id: 1) },
            { _ = try await stack.fetch(Job.self) },
            { _ = try await stack.count("Job") },
            { _ = try await stack.export("Job") },
            { for try await _ in stack.observe("Job") {} },
            { for try await _ in stack.observeCount("Job") {} },
            { for try await _ in try stack.observe(Job.self) {} },
            { try await Sync.changes(Self.json, inEntity: "Job", stack: stack) },
            { _ = try await stack.insert("Job", values: ["id": 2]) },
        ]
        for (index, call) in calls.enumerated() {
            let error = await #expect(throws: SyncError.self, "call \(index)") { try await call() }
            #expect(error?.code == .storeClosed, "call \(index): \(String(describing: error))")
        }
    }

    @Test("Calls of an engine on a closed store fail with storeClosed", arguments: [StoreKind.memory, .file])
    func engineCalls(_ kind: StoreKind) async throws {
        try await withStack(kind) { stack in
            let engine = try SyncEngine(stack: stack, service: Self.service, entities: ["Job"])
            try await engine.sync()
            try stack.close()
            let calls: [() async throws -> Void] = [
                { try await engine.sync() },
                { try await engine.pull() },
                { try await engine.push() },
                { _ = try await engine.status() },
                { _ = try await engine.blockedChanges() },
                { _ = try await engine.conflicts() },
                { try await engine.restoreDeleted("Job", key: 1) },
                { try await engine.reset(.localData) },
            ]
            for (index, call) in calls.enumerated() {
                let error = await #expect(throws: SyncError.self, "call \(index)") { try await call() }
                #expect(error?.code == .storeClosed, "call \(index): \(String(describing: error))")
            }
        }
    }

    @Test(
        "Observations of a closed store fail with storeClosed, and syncResults ends at once",
        arguments: StoreKind.allCases)
    func lateObservations(_ kind: StoreKind) async throws {
        try await withStack(kind) { stack in
            try stack.close()
            let calls: [() async throws -> Void] = [
                { for try await _ in stack.observe("Job") {} },
                { for try await _ in stack.observe("Job", id: 1) {} },
                { for try await _ in stack.observeCount("Job") {} },
                { for try await _ in stack.observeChanges("Job") {} },
                { for try await _ in try stack.observe(Job.self) {} },
            ]
            for (index, call) in calls.enumerated() {
                let error = await #expect(throws: SyncError.self, "call \(index)") { try await call() }
                #expect(error?.code == .storeClosed, "call \(index): \(String(describing: error))")
            }
            for await _ in stack.syncResults { Issue.record("a result after the close") }
        }
    }

    @Test("Closing a store ends observations with storeClosed, and syncResults", arguments: StoreKind.allCases)
    func runningObservations(_ kind: StoreKind) async throws {
        try await withStack(kind) { stack in
            var rows = stack.observe("Job").makeAsyncIterator()
            var row = stack.observe("Job", id: 1).makeAsyncIterator()
            var count = stack.observeCount("Job").makeAsyncIterator()
            var changes = stack.observeChanges("Job").makeAsyncIterator()
            var jobs = try stack.observe(Job.self).makeAsyncIterator()
            let results = stack.syncResults
            #expect(try await rows.next()?.count == 1)
            #expect(try await row.next() != nil)
            #expect(try await count.next() == 1)
            #expect(try await changes.next()?.rows.count == 1)
            #expect(try await jobs.next()?.map(\.stage) == [.open])
            try stack.close()
            let errors = [
                await #expect(throws: SyncError.self) { _ = try await rows.next() },
                await #expect(throws: SyncError.self) { _ = try await row.next() },
                await #expect(throws: SyncError.self) { _ = try await count.next() },
                await #expect(throws: SyncError.self) { _ = try await changes.next() },
                await #expect(throws: SyncError.self) { _ = try await jobs.next() },
            ]
            #expect(errors.map { $0?.code } == Array(repeating: .storeClosed, count: 5))
            #expect(try await rows.next() == nil)
            for await _ in results { Issue.record("a result without a sync") }
        }
    }

    @Test("Closing a store ends an observation that waits for a value", arguments: StoreKind.allCases)
    func waitingObservation(_ kind: StoreKind) async throws {
        try await withStack(kind) { stack in
            let (began, begin) = AsyncStream<Void>.makeStream()
            let task = Task {
                for try await _ in stack.observe("Job") { begin.yield() }
            }
            for await _ in began { break }
            try stack.close()
            let error = await #expect(throws: SyncError.self) { try await task.value }
            #expect(error?.code == .storeClosed)
        }
    }

    /// An access to a closed connection crashes.
    @Test("Calls while a store closes succeed or fail with storeClosed", arguments: StoreKind.allCases)
    func concurrentCalls(_ kind: StoreKind) async throws {
        for _ in 0..<10 {
            try await withStack(kind) { stack in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<6 {
                        group.addTask { try await Self.callUntilClosed(index, stack) }
                    }
                    group.addTask {
                        try await Self.onThread {
                            while true { _ = try stack.count("Job") }
                        }
                    }
                    group.addTask {
                        try await Self.onThread {
                            for _ in 0..<5 { _ = try stack.count("Job") }
                            try stack.close()
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    private static func callUntilClosed(_ index: Int, _ stack: DataStack) async throws {
        do {
            while true {
                switch index % 3 {
                case 0: _ = try await stack.fetch("Job")
                case 1: for try await _ in stack.observeCount("Job") { break }
                default: _ = try await Sync.plan(json, inEntity: "Job", stack: stack)
                }
            }
        } catch let error as SyncError where error.code == .storeClosed {}
    }

    /// Runs blocking calls on a thread outside the pool that runs tasks.
    private static func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
        do {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
            }
        } catch let error as SyncError where error.code == .storeClosed {}
    }

    private static var service: InMemoryService {
        InMemoryService(
            ServiceCapabilities(
                idAssignment: .client, deletionDetection: .tombstones, createIdempotency: .idempotencyKey,
                supportsPreconditions: true, providesModificationTimes: true)
        )
    }

    private static var chunks: AsyncStream<Data> {
        AsyncStream { stream in
            stream.yield(json)
            stream.finish()
        }
    }
}
