import Foundation
import GRDB
import Sync
import Testing

/// The code that `Docs/Servers.md` shows or links to.
@Suite("Guide to servers")
struct ServersGuideTests {
    private static let schema = #"{"entities": {"Product": {"attributes": {"id": "integer", "name": "string"}}}}"#
    private let model: SyncModel
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("sync-tests-\(UUID().uuidString)")

    init() throws { model = try SyncModel(schemaData: Data(Self.schema.utf8)) }

    /// Creates a cache of stores in the folder.
    private func cache(maximum: Int) -> StoreCache {
        StoreCache(maximum: maximum) { [model, folder] in
            try openStore(folder.appendingPathComponent("\($0).sqlite"), model)
        }
    }

    private func createFolder() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func page(_ ids: some Sequence<Int>) -> Data {
        Data(#"{"items": [\#(ids.map { #"{"id": \#($0)}"# }.joined(separator: ","))]}"#.utf8)
    }

    private func feed(_ pages: [Data]) -> FeedImport {
        FeedImport { $0 <= pages.count ? pages[$0 - 1] : nil }
    }

    @Test("The page shows code of the example")
    func shown() throws {
        let page = try GuidePage("Servers.md")
        #expect(Set(page.fences.map(\.file)) == ["FeedImport.swift", "StoreCache.swift", "StoreFiles.swift"])
        for fence in page.fences { #expect(try GuidePage.source(fence.file).contains(fence.text), "\(fence.text)") }
    }

    @Test("A feed is one snapshot, and its result has the totals of all pages")
    func pages() async throws {
        let stack = try DataStack.inMemory(model)
        #expect(try await feed([page(1...10), page(11...20)]).run(into: stack)["Product"].insertedCount == 20)
        let result = try await feed([page(1...8), page(9...18), page(21...22)]).run(into: stack)
        #expect("\(result["Product"])" == "2 inserted, 2 deleted, 18 unchanged")
        let error = try await #require(throws: SyncError.self) { try await feed([page(1...5)]).run(into: stack) }
        #expect(error.code == .deletionLimitExceeded)
    }

    @Test("A delta changes the listed rows, and deletes the rows that it names, within a limit")
    func delta() async throws {
        let stack = try DataStack.inMemory(model)
        _ = try await feed([page(1...120)]).run(into: stack)
        let changed = Data(#"[{"id": 1, "name": "new"}, {"id": 121}]"#.utf8)
        let results = try await applyDelta(changed, deleting: [2, 3, 500], to: stack)
        #expect(results.map { "\($0["Product"])" } == ["1 inserted, 1 updated", "2 deleted"])
        #expect(try await stack.count("Product") == 119)
        #expect(try await applyDelta(changed, deleting: [2, 3, 500], to: stack).allSatisfy(\.isEmpty))
        let error = await #expect(throws: SyncError.self) {
            try await applyDelta(changed, deleting: Array(4...110), to: stack)
        }
        #expect(error?.code == .deletionLimitExceeded)
    }

    @Test("A record without a key stops an import before it deletes rows")
    func recordWithoutKey() async throws {
        let stack = try DataStack.inMemory(model)
        _ = try await feed([page(1...10)]).run(into: stack)
        let pages = [page(1...8), Data(#"{"items": [{"id": 9}, {"name": "a"}]}"#.utf8)]
        await #expect(throws: FeedFailure.self) { try await feed(pages).run(into: stack) }
        #expect(try await stack.count("Product") == 10)
    }

    @Test("Each error has a next step")
    func errors() async throws {
        let stack = try DataStack.inMemory(model)
        func step(_ pages: [Data]) async throws -> NextStep {
            let error = try await #require(throws: (any Error).self) { try await feed(pages).run(into: stack) }
            return nextStep(after: error)
        }
        #expect(try await step([Data(#"{"items": [{"id": 1"#.utf8)]) == .retryAtOnce)
        #expect(try await step([Data(#"{"message": "maintenance"}"#.utf8)]) == .retryLater)
        #expect(try await step([Data(#"{"items": [{"name": "a"}, {"id": 1}]}"#.utf8)]) == .callPerson)
        #expect(nextStep(after: FeedFailure.status(503)) == .retryLater)
        #expect(nextStep(after: FeedFailure.status(404)) == .callPerson)
        #expect(nextStep(after: URLError(.timedOut)) == .retryLater)
        #expect(nextStep(after: CancellationError()) == .stop)
        #expect(nextStep(after: DatabaseError(resultCode: .SQLITE_BUSY)) == .retryLater)
        #expect(nextStep(after: DatabaseError(resultCode: .SQLITE_CORRUPT)) == .callPerson)
    }

    @Test("Results of syncs are of the pages and of the deletions, without empty ones")
    func results() async throws {
        let stack = try DataStack.inMemory(model)
        var results = stack.syncResults.makeAsyncIterator()
        _ = try await feed([page(1...10), page(11...20)]).run(into: stack)
        _ = try await feed([page(1...10), page(11...19)]).run(into: stack)
        for changes in ["10 inserted", "10 inserted", "1 deleted"] {
            #expect(await results.next().map { "\($0["Product"])" } == changes)
        }
    }

    @Test("A store is opened once, stays open while it is leased, and has one file after it is closed")
    func leases() async throws {
        try createFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let (opened, opens) = AsyncStream<String>.makeStream()
        let stores = StoreCache(maximum: 10) { [model, folder] tenant in
            opens.yield(tenant)
            return try openStore(folder.appendingPathComponent("\(tenant).sqlite"), model)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 1...8 {
                group.addTask {
                    try await stores.withStore(of: "a") { stack in
                        try await Sync.insertOrUpdate(["id": JSONValue(id)], inEntity: "Product", stack: stack)
                        try await stores.close(unusedFor: .zero)
                        #expect(try await stack.count("Product") >= 1)
                    }
                }
            }
            try await group.waitForAll()
        }
        try await stores.close(unusedFor: .zero)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.sqlite"])
        #expect(try await stores.withStore(of: "a") { try await $0.count("Product") } == 8)

        // The shutdown waits for a lease.
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let (started, start) = AsyncStream<Void>.makeStream()
        let request = Task {
            try await stores.withStore(of: "a") { stack in
                start.finish()
                for await _ in gate {}
                return try await stack.count("Product")
            }
        }
        for await _ in started {}
        let shutdown = Task { try await stores.shutDown() }
        while (try? await stores.withStore(of: "b") { _ in }) != nil { await Task.yield() }
        opener.finish()
        #expect(try await request.value == 8)
        try await shutdown.value
        opens.finish()
        let names = await opened.reduce(into: [String]()) { $0.append($1) }
        #expect(names.filter { $0 == "a" }.count == 2, "\(names)")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files.allSatisfy { $0.hasSuffix(".sqlite") }, "\(files)")
    }

    @Test("A cache has at most its maximum of open stores, and closes the one unused for the longest time")
    func maximum() async throws {
        try createFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let stores = cache(maximum: 2)
        @Sendable func sync(_ tenant: String) async throws -> Int {
            try await stores.withStore(of: tenant) { [folder] stack in
                try await Sync.insertOrUpdate(["id": 1], inEntity: "Product", stack: stack)
                return try FileManager.default.contentsOfDirectory(atPath: folder.path)
                    .count { $0.hasSuffix("-wal") }
            }
        }
        for tenant in ["a", "b", "a", "c"] { _ = try await sync(tenant) }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files.filter { $0.hasSuffix("-wal") }.sorted() == ["a.sqlite-wal", "c.sqlite-wal"])
        // More requests than stores wait for each other.
        let open = try await withThrowingTaskGroup(of: Int.self) { group in
            for tenant in ["a", "b", "c", "d", "a", "b", "c", "d"] { group.addTask { try await sync(tenant) } }
            return try await group.reduce(0, max)
        }
        #expect(open <= 2)
        try await stores.shutDown()
    }

    @Test("A request that waits for an open store ends when its task is cancelled")
    func cancelledWait() async throws {
        try createFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let stores = cache(maximum: 1)
        try await stores.withStore(of: "a") { _ in
            let waiting = Task { try await stores.withStore(of: "b") { _ in } }
            for _ in 0..<100 { await Task.yield() }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        try await stores.withStore(of: "b") { _ in }
        try await stores.shutDown()
    }

    @Test("A shutdown cancels syncs that take too long, and closes the stores")
    func deadline() async throws {
        try createFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let stores = cache(maximum: 10)
        let (started, start) = AsyncStream<Void>.makeStream()
        let syncs = Task { [page = page(1...3)] in
            while true {
                try Task.checkCancellation()
                try await stores.withStore(of: "a") { stack in
                    var options = SyncOptions()
                    options.keyPath = "items"
                    try await Sync.changes(page, inEntity: "Product", stack: stack, options: options)
                }
                start.finish()
            }
        }
        for await _ in started {}
        try await shutDown(stores, syncs, grace: .zero)
        let error = await #expect(throws: (any Error).self) { try await syncs.value }
        #expect(error is CancellationError)
        await #expect(throws: CancellationError.self) { try await stores.withStore(of: "a") { _ in } }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.sqlite"])
    }

    @Test("The close of a store ends its observations")
    func observations() async throws {
        try createFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let stack = try openStore(folder.appendingPathComponent("a.sqlite"), model)
        let results = stack.syncResults
        var counts = stack.observeCount("Product").makeAsyncIterator()
        #expect(try await counts.next() == 0)
        try closeStore(stack)
        let error = await #expect(throws: SyncError.self) { _ = try await counts.next() }
        #expect(error?.code == .storeClosed)
        for await _ in results { Issue.record("a result without a sync") }
    }

    @Test("A store that cannot be opened is opened again by the next request")
    func unopened() async throws {
        try createFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let stores = StoreCache(maximum: 10) { [model, folder] in
            try openStore(folder.appendingPathComponent("new/\($0).sqlite"), model)
        }
        await #expect(throws: (any Error).self) { try await stores.withStore(of: "a") { _ in } }
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("new"), withIntermediateDirectories: true)
        #expect(try await stores.withStore(of: "a") { try await $0.count("Product") } == 0)
        try await stores.shutDown()
    }

    @Test("A backup has the rows of an open store, and an export has its records")
    func files() async throws {
        try createFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let stack = try openStore(folder.appendingPathComponent("a.sqlite"), model)
        _ = try await feed([page(1...3)]).run(into: stack)
        let copy = folder.appendingPathComponent("backup.sqlite")
        try await backUp(stack, to: copy)
        let restored = try DataStack(at: copy)
        #expect(try await restored.count("Product") == 3)
        try restored.close()

        let text = folder.appendingPathComponent("products.ndjson")
        try await export(stack, to: text)
        let options = SyncOptions(format: .ndjson)
        #expect(try await Sync.changes(text, inEntity: "Product", stack: stack, options: options).isEmpty)
        #expect(try String(contentsOf: text, encoding: .utf8).split(separator: "\n").count == 3)
        try closeStore(stack)
    }
}
